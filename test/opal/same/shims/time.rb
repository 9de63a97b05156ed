# frozen_string_literal: true

require "time"
t = Time.at(784111777).utc
p t.httpdate, Time.httpdate("Sun, 06 Nov 1994 08:49:37 GMT") == t, Time.httpdate("Sunday, 06-Nov-94 08:49:37 GMT") == t, Time.httpdate("Sun Nov  6 08:49:37 1994") == t
begin; Time.httpdate("nonsense"); rescue ArgumentError => e; p e.message; end
p t.iso8601, t.xmlschema(3), t.rfc2822, Time.rfc2822("Sun, 06 Nov 1994 09:49:37 +0100") == t, Time.iso8601("1994-11-06T08:49:37Z") == t, Time.parse("1994-11-06 08:49:37 UTC") == t
p t.strftime("%z %:z %::z %%z %a"), Time.at(0).utc.strftime("%d/%b/%Y:%H:%M:%S %z"), Time.at(0).getlocal.strftime("%Y") == Time.at(0).strftime("%Y")
texts = %w[2024-01-02T03:04:05+02:00 2024-01-02T03:04:05Z 2024-01-02T03:04:05-05:30 2024-01-02T03:04:05-00:00 2024-01-02T03:04:05.5+0900]
texts.each { |text| p [Time.iso8601(text), Time.parse(text)].map { |time| [time.utc_offset, time.hour, time.min, time.utc?, (time.to_f * 10).to_i, time.iso8601] } }
mails = ["Tue, 02 Jan 2024 03:04:05 +0200", "Tue, 02 Jan 2024 03:04:05 EST", "Tue, 02 Jan 2024 03:04:05 -0000"]
mails.each { |text| p [Time.rfc2822(text)].map { |time| [time.utc_offset, time.hour, time.utc?, time.to_i, time.rfc2822] } }
["2024-01-02 03:04:05 +0200", "2024-01-02 03:04 -05:00", "2024-01-02 03:04:05 UTC", "2024-01-02 03:04:05", "2024-01-02", "Tue, 02 Jan 2024 03:04:05 +0900"].each { |text| p [Time.parse(text)].map { |time| [time.utc_offset, time.hour, time.utc?, time.to_i] } }
