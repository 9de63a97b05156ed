# backtick_javascript: true
# frozen_string_literal: true

# Scans a string from its start to its end. Positions count code units, which are bytes in a binary string (multipart forms, for example).
class StringScanner
  Error = Class.new(StandardError)

  %x{
    function sticky(pattern) {
      if (pattern.$$sticky == null) pattern.$$sticky = new RegExp(pattern.source, pattern.flags.replace('g', '') + 'y');
      pattern.$$sticky.lastIndex = 0;
      return pattern.$$sticky;
    }
  }

  attr_reader :string, :pos

  alias pointer pos
  alias charpos pos

  def initialize(string, *)
    @string = string
    @pos = 0
    @found = nil
  end

  def string=(string)
    @string = string
    reset
  end

  def concat(text)
    @string += text
    self
  end

  alias << concat

  def pos=(position)
    @pos = position.negative? ? position + size : position
  end

  alias pointer= pos=

  def reset
    @pos = 0
    @found = nil
    self
  end

  def terminate
    @pos = size
    @found = nil
    self
  end

  def scan(pattern)
    search(pattern, moves: true, anchored: true)
  end

  def scan_until(pattern)
    search(pattern, moves: true)
  end

  def check(pattern)
    search(pattern, anchored: true)
  end

  def check_until(pattern)
    search(pattern)
  end

  def skip(pattern)
    scan(pattern)&.length
  end

  def skip_until(pattern)
    scan_until(pattern)&.length
  end

  def match?(pattern)
    check(pattern)&.length
  end

  def exist?(pattern)
    check_until(pattern)&.length
  end

  def search_full(pattern, moves, text)
    found = search(pattern, moves: moves)
    text || !found ? found : found.length
  end

  def scan_full(pattern, moves, text)
    found = search(pattern, moves: moves, anchored: true)
    text || !found ? found : found.length
  end

  def getch
    scan(/./m)
  end

  alias get_byte getch

  def scan_byte
    getch&.ord
  end

  def peek_byte
    peek(1).then { |byte| byte.empty? ? nil : byte.ord }
  end

  def peek(length)
    piece(@pos, @pos + length)
  end

  def unscan
    raise Error, "unscan error: previous match record not exist" unless @found

    @pos = @before
    @found = nil
    self
  end

  def [](group)
    return nil unless @found
    return piece_of_group(group) if Integer === group

    groups = @names[group.to_s] || raise(IndexError, "undefined group name reference: #{group}")
    groups.map { |one| piece_of_group(one) }.compact.last
  end

  def captures
    @found && (1...`#{@found}.length`).map { |group| self[group] }
  end

  def values_at(*groups)
    @found && groups.map { |group| self[group] }
  end

  def named_captures
    @found ? @names.keys.to_h { |name| [name, self[name]] } : {}
  end

  def matched
    self[0]
  end

  def matched?
    !@found.nil?
  end

  def matched_size
    @found && `#{@found}[0].length`
  end

  def pre_match
    @found && piece(0, @before + `#{@found}.index`)
  end

  def post_match
    @found && piece(@before + `#{@found}.index + #{@found}[0].length`, size)
  end

  def rest
    piece(@pos, size)
  end

  def rest?
    @pos < size
  end

  def rest_size
    size - @pos
  end

  def eos?
    @pos >= size
  end

  def beginning_of_line?
    @pos.zero? || @string[@pos - 1] == "\n"
  end

  alias bol? beginning_of_line?

  def inspect
    eos? ? "#<StringScanner fin>" : "#<StringScanner #{@pos}/#{size} @ #{peek(5).inspect}>"
  end

  private

  def size
    `#{@string}.length`
  end

  def piece(from, to)
    `var text = #{@string}.slice(from, to)`
    `Opal.is_bytes(#{@string}) ? Opal.new_bytes(text) : text`
  end

  def piece_of_group(group)
    `var text = #{@found}[group < 0 ? #{@found}.length + group : group]`
    `text === undefined ? nil : Opal.is_bytes(#{@string}) ? Opal.new_bytes(text) : text`
  end

  # Finds the pattern at the position or after it, and returns the text from there on. Anchors at the start match at the position.
  def search(pattern, moves: false, anchored: false)
    pattern = Regexp.new(Regexp.escape(pattern)) if String === pattern
    found = `(anchored ? sticky(pattern) : pattern).exec(#{@string}.valueOf().slice(#{@pos}))`
    return @found = nil if `found === null`

    @found = found
    @names = pattern.named_captures
    @before = @pos
    ending = @pos + `found.index + found[0].length`
    @pos = ending if moves
    piece(@before, ending)
  end
end
