// Backtraces name files and lines of Ruby. The source map, a data: URL at the end of the program or a file beside it, is read when the
// first backtrace is asked for: until then it costs nothing.
(function(Opal) {
  var DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', FRAME = /^(.*?):(\d+):(\d+):in `(.*)'$/;
  var MARK = '//# sourceMappingURL=', sections, program = typeof __filename === 'undefined' ? null : __filename;

  // The program is long, and its end says where the map is, unless the map itself is there.
  function end_of(fs, path) {
    var file = fs.openSync(path, 'r'), buffer = Buffer.alloc(256);
    try {
      return buffer.latin1Slice(0, fs.readSync(file, buffer, 0, buffer.length, Math.max(0, fs.fstatSync(file).size - buffer.length)));
    } finally { fs.closeSync(file); }
  }

  function read_map() {
    var fs = require('fs'), path = require('path'), text = end_of(fs, program);
    if (!text.includes(MARK)) text = fs.readFileSync(program, 'latin1');
    var url = text.slice(text.lastIndexOf(MARK) + MARK.length).trim();
    var map = url.startsWith('data:') ? Buffer.from(url.slice(url.indexOf(',') + 1), 'base64').toString() : fs.readFileSync(path.join(path.dirname(program), url), 'utf8');
    return JSON.parse(map).sections;
  }

  function load() {
    try { return read_map(); } catch (error) { return []; }
  }

  // The segments of each line of a section: [column, line of Ruby].
  function lines_of(section) {
    if (section.lines) return section.lines;
    var ruby = 0;
    return section.lines = section.map.mappings.split(';').map(function(line) {
      var column = 0;
      return line === '' ? [] : line.split(',').map(function(segment) {
        var numbers = decode(segment);
        return [column += numbers[0], ruby += numbers[2]];
      });
    });
  }

  function decode(segment) {
    var numbers = [], value = 0, shift = 0;
    for (var character of segment) {
      var digit = DIGITS.indexOf(character);
      value |= (digit & 31) << shift;
      shift += 5;
      if (digit & 32) continue;
      numbers.push(value & 1 ? -(value >> 1) : value >> 1);
      value = shift = 0;
    }
    return numbers;
  }

  // [file, line] of what lies at a place in the program.
  function place(line, column) {
    sections = sections || load();
    var low = 0, high = sections.length - 1;
    while (low < high) {
      var middle = (low + high + 1) >> 1;
      if (sections[middle].offset.line <= line) low = middle; else high = middle - 1;
    }
    var section = sections[low];
    if (!section || section.offset.line > line) return null;
    var lines = lines_of(section), at = line - section.offset.line;
    if (at >= lines.length) return null;
    for (var index = at; index >= 0; index--) {
      var segments = lines[index].filter((segment) => index < at || segment[0] <= column);
      if (segments.length) return [section.map.sources[0], segments[segments.length - 1][1] + 1];
    }
    return null;
  }

  function method_of(label) {
    var name = label.replace(/^(?:.*\.)?\$*/, '').replace(/\$\d+$/, '').replace(/^(?:\w+?)_(?=\w+\$)/, '');
    name = name.replace(/\$ques$/, '?').replace(/\$excl$/, '!').replace(/\$eq$/, '=');
    return name === '' || name === 'undefined' || /^\d/.test(name) || /^(?:anonymous|<)/.test(name) ? 'block' : name;
  }

  var INNER = /^(?:corelib|opal|upwell\/boot)\//;

  function mapped(frame) {
    var found = FRAME.exec(frame);
    if (!found || found[1] !== program) return frame;
    var ruby = place(Number(found[2]) - 1, Number(found[3]) - 1);
    if (!ruby || INNER.test(ruby[0])) return null;
    var file = ruby[0].startsWith('~/') ? Opal.own_path(ruby[0]) : ruby[0];
    return file + ':' + ruby[1] + ":in `" + method_of(found[4]) + "'";
  }

  Opal.mapped_backtrace = function(backtrace) {
    if (!program || backtrace === Opal.nil || !Array.isArray(backtrace)) return backtrace;
    if (backtrace.$$mapped) return backtrace;
    var frames = backtrace.map(mapped).filter((frame) => frame !== null && !/^node:|^native:/.test(frame));
    Object.defineProperty(frames, '$$mapped', { value: true });
    return frames;
  };

  Error.stackTraceLimit = Math.max(Error.stackTraceLimit || 0, 40); // many are of Opal itself

  var whole = Opal.Exception.$$prototype.$backtrace;
  Opal.def(Opal.Exception, '$backtrace', function() { return Opal.mapped_backtrace(whole.call(this)); });
})(Opal);
