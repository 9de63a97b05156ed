# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # A pattern as Redis has them for channels: `*` any bytes, `?` one, `[a-c]` and `[^x]` one of a set or not, a backslash before what stands for
  # itself. A set without an end ends with the pattern.
  #
  # The last star takes more when what is behind it does not match: so matching takes at most as many steps as the pattern's length times the
  # name's.
  class Glob
    # @param pattern [JavaScript String] a code unit for each byte
    def initialize(pattern)
      @elements = `[]`
      read(pattern)
    end

    # @param name [JavaScript String] likewise
    # @return [Boolean]
    def match?(name)
      %x{
        const elements = self.elements, count = elements.length;
        let at = 0, element = 0, star = -1, taken = 0;

        while (at < name.length) {
          if (element < count && elements[element] === STAR) {
            star = element++;
            taken = at;
          } else if (element < count && elements[element][name.charCodeAt(at)] === 1) {
            element++;
            at++;
          } else if (star >= 0) {
            element = star + 1;
            at = ++taken;
          } else {
            return false;
          }
        }
        while (element < count && elements[element] === STAR) element++;
        return element === count;
      }
    end

    private

    `const STAR = null, BYTES = 256`

    # Each element that is no star is the set of bytes that it stands for.
    def read(pattern)
      %x{
        let at = 0;

        while (at < pattern.length) {
          const letter = pattern[at++], set = new Uint8Array(BYTES);

          if (letter === "*") { self.elements.push(STAR); continue; }
          if (letter === "?") set.fill(1);
          else if (letter === "[") at = #{read_set(pattern, `at`, `set`)};
          else set[(letter === "\\" && at < pattern.length ? pattern[at++] : letter).charCodeAt(0)] = 1;
          self.elements.push(set);
        }
      }
    end

    # Returns where the pattern goes on. What looks like the end of the set may be the end of a range.
    def read_set(pattern, at, set)
      %x{
        const inverted = pattern[at] === "^";

        if (inverted) at++;
        while (at < pattern.length && pattern[at] !== "]") {
          const left = pattern.length - at, first = pattern.charCodeAt(at), last = pattern.charCodeAt(at + 2);

          if (left >= 2 && pattern[at] === "\\") {
            set[pattern.charCodeAt(at + 1)] = 1;
            at += 2;
          } else if (left >= 3 && pattern[at + 1] === "-") {
            set.fill(1, Math.min(first, last), Math.max(first, last) + 1);
            at += 3;
          } else {
            set[first] = 1;
            at++;
          }
        }
        if (inverted) for (let byte = 0; byte < BYTES; byte++) set[byte] ^= 1;
        return at + 1;
      }
    end
  end
end
