# backtick_javascript: true
# frozen_string_literal: true

require "upwell/boot/regexp_translation"

# Regular expressions with Ruby's semantics. Compiled literals call this code, and so do expressions built at run time.
%x{
  var composed = new Map(), LIMIT = 1000, exec = RegExp.prototype.exec;

  // A loop advances by one code unit. Within a surrogate pair, JavaScript would match the same character again with the flag u, without end,
  // or half of it without the flag.
  function exec_beside_pairs(string) {
    var text = string.valueOf(), found;
    do {
      if (amid_pair(text, this.lastIndex)) this.lastIndex++;
      found = exec.call(this, text);
    } while (found !== null && amid_pair(text, found.index) && (this.lastIndex = found.index + 1));
    return found;
  }

  function amid_pair(text, at) {
    return at > 0 && (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
  }

  Opal.ruby_regexp = function(source, flags, ruby, options, names) {
    var regexp, global;
    try {
      regexp = new RegExp(source, flags);
      global = new RegExp(source, flags + 'g');
    } catch (error) {
      #{raise RegexpError, "#{`error.message`}: /#{`ruby`}/"}
    }
    global.exec = exec_beside_pairs;
    regexp.$$g = regexp.$$gm = global;
    regexp.$$ruby = ruby;
    regexp.$$letters = options;
    regexp.$$names = names;
    return regexp;
  };

  Opal.translated_regexp = function(ruby, options) {
    var key = options + '/' + ruby, regexp = composed.get(key);
    if (regexp) return regexp;
    var translation = #{Upwell::RegexpTranslation.new(`ruby`, `options`)};
    regexp = Opal.ruby_regexp(#{`translation`.source}, #{`translation`.flags}, ruby, options, #{`translation`.names});
    if (composed.size >= LIMIT) composed.clear();
    composed.set(key, regexp);
    return regexp;
  };

  Opal.compose_regexp = function(parts, options) {
    var ruby = '';
    for (var i = 0; i < parts.length; i++) ruby += parts[i] instanceof RegExp ? #{`parts[i]`.to_s} : #{`parts[i]`.to_s};
    return Opal.translated_regexp(ruby, options);
  };
}

class Regexp
  EXTENDED = 2
  FIXEDENCODING = 16
  NOENCODING = 32

  class << self
    undef new, union, compile

    def new(source, options = nil, timeout: nil)
      return source if Regexp === source

      letters = letters_of(options)
      `Opal.translated_regexp(#{source.to_str}.valueOf(), #{letters})`
    end

    alias compile new

    def union(*parts)
      parts = parts.first if Array === parts.first
      return new("(?!)") if parts.empty?
      return parts.first if parts.size == 1 && Regexp === parts.first

      new(parts.map { |part| Regexp === part ? part.to_s : escape(part) }.join("|"))
    end

    def linear_time?(*)
      false
    end

    private

    def letters_of(options)
      case options
      when Integer then "#{"i" if options & 1 != 0}#{"x" if options & 2 != 0}#{"m" if options & 4 != 0}"
      when String then options.tr("^imx", "")
      when nil, false then ""
      else "i"
      end
    end
  end

  def match?(string, position = 0)
    %x{
      if (string === nil) return false;
      var text = Opal.coerce_to(string, #{String}, 'to_str').valueOf();
      if (position === 0) return self.test(text);

      var from = Opal.units_of(text, Opal.coerce_to(position, #{Integer}, 'to_int')), global = Opal.global_regexp(self);
      if (from < 0) return false;
      global.lastIndex = from;
      return global.exec(text) !== null;
    }
  end

  def source
    `self.$$ruby == null ? self.source : self.$$ruby`
  end

  def options
    letters = `self.$$letters == null ? self.flags : self.$$letters`
    (letters.include?("i") ? 1 : 0) | (letters.include?("x") ? 2 : 0) | (letters.include?("m") ? 4 : 0)
  end

  def to_s
    on = "#{"m" if options & 4 != 0}#{"i" if options & 1 != 0}#{"x" if options & 2 != 0}"
    off = "mix".delete(on)
    "(?#{on}#{"-" unless off.empty?}#{off}:#{source})"
  end

  def inspect
    on = "#{"m" if options & 4 != 0}#{"i" if options & 1 != 0}#{"x" if options & 2 != 0}"
    "/#{source.gsub("/") { "\\/" }.gsub("\\\\/") { "\\/" }}/#{on}"
  end

  def ==(other)
    Regexp === other && source == other.source && options == other.options
  end

  alias eql? ==

  def hash
    [source, options].hash
  end

  def names
    `self.$$names ? self.$$names.filter((name, at, all) => name !== nil && name != null && all.indexOf(name) === at) : []`
  end

  def named_captures
    names.to_h { |name| [name, `self.$$names.flatMap((other, at) => other === name ? [at + 1] : [])`] }
  end
end
