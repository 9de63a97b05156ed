# backtick_javascript: true
# frozen_string_literal: true

# The offsets of all groups. Opal knows only the offset of the whole match.
class MatchData
  def begin(group)
    group == 0 ? @begin : offset(group).first
  end

  def end(group)
    group == 0 ? `self.begin + self.matches[0].length` : offset(group).last
  end

  def offset(group)
    return [@begin, `self.begin + self.matches[0].length`] if group == 0

    group = number_of(group)
    %x{
      var source = self.regexp, again = new RegExp(source.source, source.flags.replace(/[gyd]/g, '') + 'gd');
      again.lastIndex = self.begin;
      var found = again.exec(self.string).indices[group];
      return found ? [found[0], found[1]] : [nil, nil];
    }
  end

  def named_captures(symbolize_names: false)
    regexp.named_captures.to_h do |name, groups|
      [symbolize_names ? name.to_sym : name, groups.map { |group| @matches[group] }.compact.last]
    end
  end

  def values_at(*groups)
    groups.map { |group| self[group] }
  end

  def deconstruct_keys(names)
    captures = named_captures(symbolize_names: true)
    names ? captures.slice(*names) : captures
  end

  alias deconstruct captures

  private

  def number_of(group)
    return group if Integer === group

    regexp.named_captures.fetch(group.to_s) { raise IndexError, "undefined group name reference: #{group}" }.last
  end
end
