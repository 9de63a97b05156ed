# backtick_javascript: true
# frozen_string_literal: true

class Time
  UTC_OFFSETS = { "%z" => "+0000", "%:z" => "+00:00", "%::z" => "+00:00:00" }.freeze

  %i[round floor ceil].each do |name|
    define_method(name) do |digits = 0|
      unit = `Math.pow(10, Math.max(0, 3 - digits))`
      rounded = `new Date(Math[name](self.getTime() / unit) * unit)`
      `rounded.timezone = self.timezone`
      rounded
    end
  end

  def nsec
    usec * 1000
  end

  alias tv_nsec nsec

  def subsec
    nsec / 1_000_000_000.0
  end

  def getlocal(offset = nil)
    `var copy = new Date(self.getTime())`
    `copy.timezone = #{Time._parse_offset(offset)}` if offset
    `copy`
  end

  def localtime(offset = nil)
    `self.timezone = #{offset ? Time._parse_offset(offset) : `undefined`}`
    self
  end

  def utc_offset
    `self.timezone == null ? -self.getTimezoneOffset() * 60 : self.timezone * 3600`
  end

  alias gmt_offset utc_offset
  alias gmtoff utc_offset

  alias strftime_with_sign strftime

  # Opal formats the offset of UTC as -0000, and has no week numbers.
  def strftime(format)
    format = format.gsub(/%%|%:{0,2}z/) { |part| UTC_OFFSETS.fetch(part, part) } if utc_offset == 0
    strftime_with_sign(format.gsub(/%[%uUW]/) { |part| of_week(part) })
  end

  private

  def of_week(part)
    case part
    when "%u" then (wday == 0 ? 7 : wday).to_s
    when "%U" then week(wday)
    when "%W" then week((wday + 6) % 7)
    else part
    end
  end

  # Counts the weeks of the year, from the number of days since the last week began.
  def week(days)
    (yday + 6 - days).div(7).to_s.rjust(2, "0")
  end
end
