# frozen_string_literal: true

module Upwell
  # Translates Ruby's regular expressions to JavaScript's: literals at compile time, others at run time. Features without an equivalent are
  # approximated: atomic groups and possessive quantifiers may backtrack.
  class RegexpTranslation
    SPACE = " \\t\\r\\n\\f\\v"
    OUTSIDE = { "h" => "[0-9a-fA-F]", "H" => "[^0-9a-fA-F]", "s" => "[#{SPACE}]", "S" => "[^#{SPACE}]",
                "A" => "^", "z" => "$", "Z" => "(?=\\n?$)",
                "R" => "(?:\\r\\n|[\\n\\v\\f\\r\\u0085\\u2028\\u2029])", "e" => "\\x1b", "a" => "\\x07", "G" => "", "K" => "" }.freeze
    INSIDE = { "h" => "0-9a-fA-F", "s" => SPACE, "e" => "\\x1b", "a" => "\\x07" }.freeze
    BRACKETS = { "alpha" => "\\p{L}\\p{M}", "digit" => "\\p{Nd}", "alnum" => "\\p{L}\\p{M}\\p{Nd}", "upper" => "\\p{Lu}", "lower" => "\\p{Ll}",
                 "space" => "\\s\\u0085", "blank" => " \\t", "cntrl" => "\\p{Cc}", "punct" => "\\p{P}$+<=>^`|~", "xdigit" => "0-9a-fA-F",
                 "word" => "\\p{L}\\p{M}\\p{Nd}\\p{Pc}", "ascii" => "\\x00-\\x7f", "graph" => "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}",
                 "print" => "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Zs}" }.freeze
    SCRIPTS = %w[arabic armenian bengali cyrillic devanagari georgian greek gujarati hangul han hebrew hiragana katakana khmer lao latin
                 mongolian tamil telugu thai tibetan].freeze
    SYNTAX = "^$\\.*+?()[]{}|/"
    KEPT = "dDwWbBnrtfv0123456789"

    # @return [Array<String, nil>] the names of the groups, by index (group number minus one)
    attr_reader :names

    # @param ruby [String] the expression's source
    # @param options [String] of the letters i, m and x
    def initialize(ruby, options = "")
      @ruby = ruby
      @position = 0
      @names = []
      @groups = {}
      @named = named?
      @unicode = @sets = false
      @global_i = options.include?("i") && !toggles_i?
      @state = { i: options.include?("i"), m: options.include?("m"), x: options.include?("x") }
      @translated = alternatives
      raise RegexpError, "unmatched close parenthesis: /#{ruby}/" if more?
    end

    # @return [String]
    def source
      @translated.empty? ? "(?:)" : @translated
    end

    # @return [String]
    def flags
      (@global_i ? "i" : "") + unicode_flag
    end

    private

    def unicode_flag
      return "v" if @sets

      @unicode ? "u" : ""
    end

    def named?
      position = 0
      while (position = @ruby.index("(?<", position))
        position += 3
        return true unless ["=", "!"].include?(@ruby[position])
      end
      false
    end

    # Checks whether a part has another case sensitivity than the whole. JavaScript cannot express this, so letters are written in both cases.
    def toggles_i?
      position = -1
      while (position = @ruby.index("(?", position + 1))
        letters = ""
        after = position + 2
        while after < @ruby.length && "mix-".include?(@ruby[after])
          letters += @ruby[after]
          after += 1
        end
        return true if letters.split("-", 2)[1].to_s.include?("i") && [":", ")"].include?(@ruby[after])
      end
      false
    end

    def more?
      @position < @ruby.length
    end

    def peek(length = 1)
      @ruby[@position, length]
    end

    def take(length = 1)
      @position += length
      @ruby[@position - length, length]
    end

    def take_until(ending)
      close = @ruby.index(ending, @position) || @ruby.length
      text = @ruby[@position...close]
      @position = close + ending.length
      text
    end

    def alternatives
      out = ""
      out += piece while more? && peek != ")"
      out
    end

    def piece
      case character = take
      when "\\" then escape
      when "[" then set
      when "(" then group
      when "." then any
      when "^" then "(?<![^\\n])"
      when "$" then "(?![^\\n])"
      when "*", "+", "?" then character + (peek == "+" ? take.slice(1, 0) : "")
      when "{" then braces
      when "}" then "\\}"
      when "]" then "\\]"
      when "|" then character
      else plain(character)
      end
    end

    # A character may be two code units, which JavaScript matches only in unicode mode.
    def any
      @unicode = true
      @state[:m] ? "[\\s\\S]" : "[^\\n]"
    end

    def plain(character)
      if @state[:x]
        return "" if " \t\r\n\f\v".include?(character)

        if character == "#"
          take_until("\n")
          return ""
        end
      end
      literal(character)
    end

    def literal(character)
      return "\\#{character}" if SYNTAX.include?(character)
      return cased(character) if character != "\n" && character != "\r"

      character == "\n" ? "\\n" : "\\r"
    end

    def cased(character)
      @unicode = true if character.length > 1 || character.ord > 0xffff
      other = other_case(character)
      expand? && other != character ? "[#{character}#{other}]" : character
    end

    def expand?
      @state[:i] && !@global_i
    end

    def other_case(character)
      character == character.upcase ? character.downcase : character.upcase
    end

    def braces
      close = @ruby.index("}", @position)
      inner = close ? @ruby[@position...close] : ""
      from, to = inner.split(",", 2)
      return "\\{" unless digits?(from) && digits?(to) && inner != "" && inner != ","

      take_until("}")
      "{#{from.to_s.empty? ? "0" : from}#{"," if inner.include?(",")}#{to}}"
    end

    def digits?(text)
      text.to_s.chars.all? { |character| "0123456789".include?(character) }
    end

    def escape
      character = take
      @unicode = true if "SWDH".include?(character)
      return OUTSIDE[character] if OUTSIDE.key?(character)

      case character
      when "k" then reference
      when "g" then call
      when "1".."9" then back(character)
      else common(character)
      end
    end

    def back(digit)
      digit += take while more? && digits?(peek)
      "\\#{digit}(?:)"
    end

    def reference
      take
      name = take_until(">")
      number = digits?(name) ? name.to_i : @names.rindex(name).to_i + 1
      "\\#{number}(?:)"
    end

    # A called group is inserted again, because JavaScript has no recursion.
    def call
      take
      name = take_until(">")
      body = @groups[name] || @groups[@names[name.to_i - 1]] || ""
      "(?:#{body})"
    end

    # Translates escapes with the same meaning inside and outside of a set.
    def common(character)
      case character
      when "p", "P" then property(character)
      when "u" then code_points
      when "x" then byte
      when "0" then octal("0")
      when "\n" then ""
      else KEPT.include?(character) ? "\\#{character}" : quoted(character)
      end
    end

    def quoted(character)
      return "\\#{character}" if (SYNTAX + "-").include?(character) && (character != "-" || @in_set)

      literal(character)
    end

    def byte
      digits = "0123456789abcdefABCDEF".include?(peek(2)[1].to_s) && peek(2).length == 2 ? take(2) : take
      "\\x#{digits.rjust(2, "0")}"
    end

    def octal(digits)
      digits += take while more? && digits.length < 3 && "01234567".include?(peek)
      "\\x#{digits.to_i(8).to_s(16).rjust(2, "0")}"
    end

    def code_points
      return code_point(take(4)) unless peek == "{"

      take
      take_until("}").split.map { |digits| code_point(digits) }.join
    end

    def code_point(digits)
      @unicode = true if beyond_pairs?(digits.to_i(16))
      digits.length <= 4 ? "\\u#{digits.rjust(4, "0")}" : "\\u{#{digits}}"
    end

    # A range that ends within the surrogates would match halves of characters.
    def beyond_pairs?(code)
      code > 0xd7ff
    end

    def property(letter)
      take
      negated = peek == "^"
      take if negated
      name = take_until("}")
      @unicode = true
      bracket = BRACKETS[name.downcase]
      return "\\#{negated ? "P" : letter}{#{"Script=" if SCRIPTS.include?(name.downcase)}#{name}}" unless bracket
      return bracket if @in_set && letter == "p" && !negated

      letter == "P" || negated ? "[^#{bracket}]" : "[#{bracket}]"
    end

    def group
      return named_or_plain(nil) unless peek == "?"

      take
      case character = take
      when "<" then angle
      when "'" then named_or_plain(take_until("'"))
      when "#" then take_until(")") && ""
      when ">" then closed("(?:")
      when ":", "=", "!" then closed("(?#{character}")
      else switch(character)
      end
    end

    def angle
      return closed("(?<#{take}") if ["=", "!"].include?(peek)

      named_or_plain(take_until(">"))
    end

    # Names are stored separately: JavaScript requires unique identifiers.
    def named_or_plain(name)
      return closed("(?:") if @named && !name

      @names += [name]
      whole = closed("(")
      @groups[name] = uncaptured(whole[1..-2]) if name
      whole
    end

    def uncaptured(body)
      out = ""
      in_set = false
      body.chars.each_with_index do |character, index|
        escaped = escaped?(body, index)
        in_set = true if character == "[" && !escaped
        in_set = false if character == "]" && !escaped
        out += character == "(" && !escaped && !in_set && body[index + 1] != "?" ? "(?:" : character
      end
      out
    end

    def escaped?(body, index)
      count = 0
      count += 1 while index - count >= 1 && body[index - count - 1] == "\\"
      count.odd?
    end

    def closed(opening)
      outer = @state
      body = alternatives
      @state = outer
      raise RegexpError, "end pattern with unmatched parenthesis: /#{@ruby}/" unless more?

      take
      "#{opening}#{body})"
    end

    def switch(letters)
      letters += take while more? && ![":", ")"].include?(peek)
      on, off = letters.split("-", 2)
      changed = @state.dup
      on.to_s.chars.each { |letter| changed[letter.to_sym] = true }
      off.to_s.chars.each { |letter| changed[letter.to_sym] = false }
      rest = take == ")"
      outer = @state
      @state = changed
      body = alternatives
      unless rest
        @state = outer
        take
      end
      "(?:#{body})"
    end

    def set
      @in_set = true
      negated = peek == "^" ? take : ""
      @unicode = true unless negated.empty?
      operands = [""]
      until !more? || (peek == "]" && operands != [""])
        peek(2) == "&&" ? take(2) && operands += [""] : operands = [*operands[0..-2], operands.last + member]
      end
      take
      @in_set = false
      return "[#{negated}#{operands.first}]" if operands.size == 1

      @sets = true
      "[#{negated}#{operands.map { |operand| "[#{operand}]" }.join("&&")}]"
    end

    def member
      case character = take
      when "\\" then member_escape
      when "[" then peek == ":" ? bracket : nested
      when "]", "(", ")", "{", "}", "/", "|", "^", "$" then character == "$" ? "$" : "\\#{character}"
      when "-" then ["]", nil, ""].include?(peek) ? "\\-" : "-"
      else member_literal(character)
      end
    end

    def member_literal(character)
      return "\\n" if character == "\n"

      @unicode = true if character.length > 1 || beyond_pairs?(character.ord)
      return character unless expand?

      if peek == "-" && letter?(character) && letter?(@ruby[@position + 1].to_s)
        take
        last = take
        return "#{character}-#{last}#{other_case(character)}-#{other_case(last)}"
      end
      other = other_case(character)
      other == character ? character : character + other
    end

    def letter?(character)
      ("a".."z").cover?(character.downcase) && character.length == 1
    end

    def member_escape
      character = take
      return INSIDE[character] if INSIDE.key?(character)

      case character
      when "S", "H" then negated_escape(character)
      when "b" then "\\x08"
      when "0".."7" then octal(character)
      when "&" then "&"
      else common(character)
      end
    end

    def negated_escape(character)
      @sets = true
      OUTSIDE[character]
    end

    def bracket
      take
      negated = peek == "^"
      take if negated
      name = take_until(":]")
      @unicode = true
      return BRACKETS.fetch(name) unless negated

      @sets = true
      "[^#{BRACKETS.fetch(name)}]"
    end

    def nested
      @sets = true
      inner = set
      @in_set = true
      inner
    end
  end
end
