# backtick_javascript: true
# frozen_string_literal: true

require "corelib/pattern_matching"

# Supports the patterns nil, true and false, which Opal treats as no pattern, and sets $~ for patterns that are regular expressions.
class PatternMatching
  def self.call(from, pattern)
    matching = new(from, pattern)
    matched = matching.match
    `Opal.pattern_match = #{matching}.last_match`
    matched ? matching.returns : nil
  end

  alias match_other match

  def match(from = @from, pattern = @pattern)
    return pattern == from if pattern.nil? || pattern == true || pattern == false

    matched = match_other(from, pattern)
    `if (pattern[0] == 'lit' && pattern[1] instanceof RegExp) self.last_match = Opal.last_match()`
    matched
  end
end
