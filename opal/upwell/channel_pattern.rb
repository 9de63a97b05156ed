# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # A channel pattern with the syntax of Redis: `*` for any bytes, `?` for one, `[a-c]` and `[^x]` for a byte in or not in a set, and a backslash
  # before a literal byte. A set without an end ends with the pattern.
  #
  # If the rest of the pattern does not match, the last star takes one more byte: the steps are at most the product of both lengths.
  class ChannelPattern
    # @param pattern [JavaScript String] a code unit for each byte
    def initialize(pattern)
      @elements = `[]`
      read(pattern)
    end

    # @param name [JavaScript String] a code unit for each byte
    # @return [Boolean]
    def match?(name)
      %x{
        const elements = self.elements;
        let at = 0, element = 0, star = -1, taken = 0;

        for (; at < name.length;) {
          const set = elements[element];

          if (set === STAR) [star, taken] = [element++, at];
          else if (set !== undefined && set[name.charCodeAt(at)] === 1) [element, at] = [element + 1, at + 1];
          else if (star >= 0) [element, at] = [star + 1, ++taken];
          else return false;
        }
        return elements.slice(element).every(set => set === STAR);
      }
    end

    private

    `const STAR = null, BYTES = 256`

    # Each element is a star or the set of matching bytes.
    def read(pattern)
      %x{
        for (let at = 0; at < pattern.length;) {
          const letter = pattern[at++], set = new Uint8Array(BYTES);

          if (letter === "?") set.fill(1);
          else if (letter === "[") at = #{read_set(pattern, `at`, `set`)};
          else set[(letter === "\\" && at < pattern.length ? pattern[at++] : letter).charCodeAt(0)] = 1;
          self.elements.push(letter === "*" ? STAR : set);
        }
      }
    end

    # Returns the position after the set. A bracket after a hyphen is the end of a range, and not of the set.
    def read_set(pattern, at, set)
      %x{
        const inverted = pattern[at] === "^";

        if (inverted) at++;
        while (at < pattern.length && pattern[at] !== "]") at += #{read_member(`pattern.slice(at, at + 3)`, set)};
        if (inverted) set.forEach((there, byte) => set[byte] = 1 - there);
        return at + 1;
      }
    end

    # Returns the number of characters read.
    def read_member(letters, set)
      %x{
        const [first, second, last] = [0, 1, 2].map(at => letters.charCodeAt(at));
        const escaped = letters[0] === "\\" && letters.length > 1, is_range = !escaped && letters[1] === "-" && letters.length > 2;

        if (is_range) set.fill(1, Math.min(first, last), Math.max(first, last) + 1);
        else set[escaped ? second : first] = 1;
        return is_range ? 3 : escaped ? 2 : 1;
      }
    end
  end
end
