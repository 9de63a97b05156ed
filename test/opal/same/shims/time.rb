# frozen_string_literal: true

require "time"
t = Time.at(784111777).utc
p t.httpdate, Time.httpdate("Sun, 06 Nov 1994 08:49:37 GMT") == t, Time.httpdate("Sunday, 06-Nov-94 08:49:37 GMT") == t, Time.httpdate("Sun Nov  6 08:49:37 1994") == t
begin; Time.httpdate("nonsense"); rescue ArgumentError => e; p e.message; end
p t.iso8601, t.xmlschema(3), t.rfc2822, Time.rfc2822("Sun, 06 Nov 1994 09:49:37 +0100") == t, Time.iso8601("1994-11-06T08:49:37Z") == t, Time.parse("1994-11-06 08:49:37 UTC") == t
p t.strftime("%z %:z %::z %%z %a"), Time.at(0).utc.strftime("%d/%b/%Y:%H:%M:%S %z"), Time.at(0).getlocal.strftime("%Y") == Time.at(0).strftime("%Y")
