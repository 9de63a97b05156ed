// Backtraces show files and lines of Ruby. The source map, at the end of the program or in a file beside it, is read for the first one.
(function(Opal) {
  var DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', FRAME = /^(.*?):(\d+):(\d+):in `(.*)'$/;
  var MARK = '//# sourceMappingURL=', sections, program = typeof __filename === 'undefined' ? null : __filename;

  // Only the end is read first, since the program is long. It names the map's file, or is the end of the map itself.
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

  // Returns [file, line] for a position in the program.
  function place(line, column) {
    sections = sections || load();
    var low = 0, high = sections.length - 1;
    while (low < high) {
      var middle = (low + high + 1) >> 1;
      if (sections[middle].offset.line <= line) low = middle; else high = middle - 1;
    }
    var section = sections[low];
    if (!section || section.offset.line > line) return null;
    var ruby = line_of(lines_of(section), line - section.offset.line, column);
    return ruby && [section.map.sources[0], ruby];
  }

  function line_of(lines, at, column) {
    if (at >= lines.length) return null;
    for (var index = at; index >= 0; index--) {
      var segments = lines[index].filter((segment) => index < at || segment[0] <= column);
      if (segments.length) return segments[segments.length - 1][1] + 1;
    }
    return null;
  }

  // Maps a frame of evaluated text. The last line calls the function into which the text was compiled.
  function in_text(text, line, label) {
    var lines = lines_of(text), ruby = line < lines.length - 1 ? line_of(lines, line, Infinity) : null;
    return ruby && text.file + ':' + (ruby + text.line - 1) + ":in `" + label + "'";
  }

  function method_of(label) {
    var name = label.replace(/^(?:.*\.)?\$*/, '').replace(/\$\d+$/, '').replace(/^(?:[A-Z][A-Za-z0-9]*_)+(?=.)/, '');
    name = name.replace(/\$ques$/, '?').replace(/\$excl$/, '!').replace(/\$eq$/, '=');
    return name === '' || name === 'undefined' || /^\d/.test(name) || /^(?:anonymous|<)/.test(name) ? 'block' : name;
  }

  // A gem's file is shown below the directory lib, wherever the gem is: Sinatra finds its own frames by such paths.
  function file_of(name) {
    return name.startsWith('~/') ? Opal.own_path(name) : name.startsWith('/') ? name : 'gems/lib/' + name;
  }

  var INNER = /^(?:corelib|opal|upwell\/boot)\//;

  function mapped(frame) {
    var found = FRAME.exec(frame);
    var text = found && Opal.evaluated_text && Opal.evaluated_text(found[1]);
    if (text) return in_text(text, Number(found[2]) - 1, method_of(found[4]));
    if (!found || found[1] !== program) return frame;
    var ruby = place(Number(found[2]) - 1, Number(found[3]) - 1);
    if (!ruby || INNER.test(ruby[0])) return null;
    return file_of(ruby[0]) + ':' + ruby[1] + ":in `" + method_of(found[4]) + "'";
  }

  function of_ruby(frame) {
    return frame !== null && !/^(?:node|native|unknown):/.test(frame);
  }

  Opal.mapped_backtrace = function(backtrace) {
    if (!program || backtrace === Opal.nil || !Array.isArray(backtrace)) return backtrace;
    if (backtrace.$$mapped) return backtrace;
    var frames = backtrace.map(mapped).filter(of_ruby);
    Object.defineProperty(frames, '$$mapped', { value: true });
    return frames;
  };

  Error.stackTraceLimit = Math.max(Error.stackTraceLimit || 0, 40); // many frames belong to Opal itself

  var whole = Opal.Exception.$$prototype.$backtrace;
  Opal.def(Opal.Exception, '$backtrace', function() { return Opal.mapped_backtrace(whole.call(this)); });

  // Returns the callers of the calling function's caller. Frames of Opal are counted only when one of them calls.
  function callers(start, length) {
    var frames = whole.call(new Error()).slice(2);
    if (program) frames = frames.map(mapped);
    if (frames[0] === null) start -= 1;
    frames = frames.filter(of_ruby);
    if (start.$$is_range) return frames['$[]'](start);
    start = Math.max(start, 0);
    return frames.slice(start, length == null || length === Opal.nil ? undefined : start + length);
  }

  Opal.def(Opal.Kernel, '$caller', function(start = 1, length) { return callers(start, length); });

  Opal.def(Opal.Kernel, '$caller_locations', function(start = 1, length) {
    return callers(start, length).map((frame) => Opal.Thread.Backtrace.Location.$new(frame));
  });
})(Opal);
