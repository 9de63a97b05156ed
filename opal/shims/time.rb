# backtick_javascript: true
# frozen_string_literal: true

# Formats and parses times.
class Time
  MONTHS = %w[Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec].freeze
  CLOCK = /(?<time>\d{2}:\d{2}:\d{2})/
  HTTP_DATES = [
    /\A\s*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) #{CLOCK} GMT\s*\z/i,
    /\A\s*(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) #{CLOCK} GMT\s*\z/i,
    /\A\s*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?<month>[A-Z][a-z]{2}) (?<day>\d\d| \d) #{CLOCK} (?<year>\d{4})\s*\z/i
  ].freeze
  DATE = /(?:[A-Z][a-z]{2}\s*,\s*)?(?<day>\d{1,2})\s+(?<month>[A-Z][a-z]{2})\s+(?<year>\d{2,4})/i
  RFC_2822 = /\A\s*#{DATE}\s+(?<time>\d{2}:\d{2}(?::\d{2})?)\s+(?<zone>[+-]\d{4}|[A-Z]+)/i
  ZONES = { "EST" => -5, "EDT" => -4, "CST" => -6, "CDT" => -5, "MST" => -7, "MDT" => -6, "PST" => -8, "PDT" => -7 }.freeze
  UNIVERSAL = /\A(?:-00:?00|-00|UTC|Z|UT)\z/i
  ZONED = /:\d\d(?:\.\d+)?\s*(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)\s*\z/i
  DAY = /\A\s*\d{4}-\d\d-\d\d\s*\z/
  ISO_8601 = /\A\s*(-?\d+)-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d(?::?\d\d)?)?\s*\z/i

  class << self
    def httpdate(text)
      found = nil
      HTTP_DATES.find { |form| found = form.match(text) } || raise(ArgumentError, "not RFC 2616 compliant date: #{text.inspect}")
      year = found[:year].to_i
      year += year < 69 ? 2000 : 1900 if found[:year].length == 2
      utc(year, month_of(found[:month], text), found[:day].to_i, *found[:time].split(":").map(&:to_i))
    end

    def rfc2822(text)
      found = RFC_2822.match(text) || raise(ArgumentError, "not RFC 2822 compliant date: #{text.inspect}")
      year = found[:year].to_i
      year += year < 50 ? 2000 : 1900 if year < 100
      of_zone(utc(year, month_of(found[:month], text), found[:day].to_i, *found[:time].split(":").map(&:to_i)), found[:zone])
    end

    alias rfc822 rfc2822

    def iso8601(text)
      found = ISO_8601.match(text) || raise(ArgumentError, "invalid xmlschema date: #{text.inspect}")
      fields = (1..6).map { |group| found[group].to_i }
      found[8] ? of_zone(utc(*fields) + found[7].to_f, found[8]) : local(*fields) + found[7].to_f
    end

    alias xmlschema iso8601

    def parse(text, _now = nil)
      return with_offset(httpdate(text), 0) if HTTP_DATES.any? { |form| form.match?(text) }
      return iso8601(text) if ISO_8601.match?(text)

      text = "#{text.strip}T00:00" if DAY.match?(text)
      milliseconds = `Date.parse(text.replace(/(\d) (UTC|GMT)$/, '$1Z'))`
      raise ArgumentError, "no time information in #{text.inspect}" if `Number.isNaN(milliseconds)`

      zone = text[ZONED, 1]
      zone ? in_zone(`new Date(milliseconds)`, zone) : `new Date(milliseconds)`
    end

    # Opal's own Date defines its formatting methods with this method.
    def def_formatter(name, format, on_utc: false, utc_tz: nil, tz_format: nil, fractions: false, on: self)
      on.define_method(name) do |digits = 0|
        time = on_utc && is_a?(Time) ? getutc : self
        fraction = fractions && digits.positive? ? time.strftime(".%#{digits}N") : ""
        zone = utc_tz && is_a?(Time) && utc? ? utc_tz : tz_format && time.strftime(tz_format)
        "#{time.strftime(format)}#{fraction}#{zone}"
      end
    end

    private

    def month_of(name, text)
      (MONTHS.index(name.capitalize) || raise(ArgumentError, "not a month: #{text.inspect}")) + 1
    end

    # The time that a clock in a zone shows.
    def of_zone(shown, zone)
      in_zone(shown - offset_of(zone), zone)
    end

    def in_zone(time, zone)
      UNIVERSAL.match?(zone) ? time.utc : with_offset(time, offset_of(zone))
    end

    # The machine's own zone is used if it has the offset.
    def with_offset(time, offset)
      time.localtime
      time.utc_offset == offset ? time : time.localtime(offset)
    end

    def offset_of(zone)
      return ZONES[zone.upcase] * 3600 if ZONES.key?(zone.upcase)

      digits = zone.delete(":")
      return 0 unless digits.match?(/\A[+-]\d{2}/)

      seconds = (digits[1, 2].to_i * 3600) + (digits[3, 2].to_i * 60)
      digits.start_with?("-") ? -seconds : seconds
    end
  end

  def httpdate
    `new Date(self.getTime()).toUTCString()`
  end

  def rfc2822
    strftime("%a, %d %b %Y %T ") + (utc? ? "-0000" : strftime("%z"))
  end

  alias rfc822 rfc2822

  def xmlschema(digits = 0)
    fraction = digits.positive? ? strftime(".%#{digits}N") : ""
    strftime("%FT%T") + fraction + (utc? ? "Z" : strftime("%:z"))
  end

  alias iso8601 xmlschema
end
