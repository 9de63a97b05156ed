# frozen_string_literal: true

require "corelib/pattern_matching"

# The patterns nil, true and false, which Opal takes for none.
class PatternMatching
  alias match_other match

  def match(from = @from, pattern = @pattern)
    pattern.nil? || pattern == true || pattern == false ? pattern == from : match_other(from, pattern)
  end
end
