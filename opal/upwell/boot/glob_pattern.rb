# frozen_string_literal: true

module Upwell
  # The patterns of Dir.glob and File.fnmatch.
  class GlobPattern
    # @param pattern [String]
    # @param flags [Integer] of File::FNM_…
    def initialize(pattern, flags = File::FNM_PATHNAME | File::FNM_EXTGLOB)
      @pattern = pattern
      @flags = flags
      @regexp = Regexp.new("\\A#{translated}\\z", flags.anybits?(File::FNM_CASEFOLD))
    end

    def match?(path)
      @regexp.match?(path)
    end

    # @return [String] the directory that contains all matches
    def folder
      fixed = @pattern.split("/", -1).take_while { |part| !part.match?(/[*?\[{]/) }
      fixed = fixed[0..-2] if fixed.size == @pattern.split("/", -1).size
      fixed == [""] ? "/" : fixed.join("/")
    end

    private

    def translated
      out = ""
      rest = @pattern
      until rest.empty?
        piece, rest = next_piece(rest)
        out += piece
      end
      out
    end

    def next_piece(rest)
      case rest
      when %r{\A\*\*/} then [pathname? ? "(?:(?!\\.)[^/]+/)*" : ".*", rest[3..]]
      when /\A\*+/ then [star, rest[$~[0].length..]]
      when /\A\?/ then [pathname? ? "[^/]" : ".", rest[1..]]
      when /\A\[[!^]?[^\]]+\]/ then [$~[0].sub("[!", "[^"), rest[$~[0].length..]]
      when /\A\{([^}]*)\}/ then braces($~[1], rest[$~[0].length..])
      else [Regexp.escape(rest[0]), rest[1..]]
      end
    end

    def braces(inner, rest)
      return ["\\{", "#{inner}}#{rest}"] unless @flags.anybits?(File::FNM_EXTGLOB)

      ["(?:#{inner.split(",", -1).map { |part| GlobPattern.new(part, @flags).translated_part }.join("|")})", rest]
    end

    def star
      pathname? ? "#{"(?!\\.)" unless @flags.anybits?(File::FNM_DOTMATCH)}[^/]*" : ".*"
    end

    def pathname?
      @flags.anybits?(File::FNM_PATHNAME)
    end

    protected

    def translated_part
      translated
    end
  end
end
