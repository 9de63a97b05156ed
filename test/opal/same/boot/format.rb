# frozen_string_literal: true

def show
  p yield
rescue StandardError => e
  p e.class
end

p format("%d%%", 5), format("a|%%|b"), format("%.2f|%%|", 1), format("%d%% of %d", 5, 6), "100%%|" % [], "width: 50%%; height: %dpx" % 3
p format("%05d|%-5s|%x|%+d|% d|%s|%5s|%-5d|%s", 42, "a", 255, 3, 7, nil, "é", 9, [1, 2]), "%s=%p" % %w[a b], "%s" % [[1, 2]], "%s" % nil
p format("%<a>05.1f|%{b}|%<b>-4s|", a: 1, b: 2), format("%2$s %1$s", "a", "b"), format("%*d|%-*d|%.*f", 5, 1, 5, 2, 2, 3.14159)
p format("%x|%X|%#x|%o|%b|%08b|%#b", 255, 255, 255, 8, 5, 5, 5), format("%x %b %o", -255, -5, -8), format("%+x|%.10x|%08b", -255, -255, -11)
p format("%e|%E|%.3e|%g|%g|%g|%g", 12_345.678, 0.00012, 0.0, 12_345.678, 1e10, 0.0001, 1e-5), format("%10.3f|%-10.2f|%010.2f|%+.1f", 3.14159, 2.5, -2.5, 1.25)
p format("%.0f %.0f %.0f %.1f %.2f %.2f %.3f", 0.5, 1.5, 2.5, 0.25, 0.125, 1.005, 2.0006), format("%f", 1e22), format("%d", 3.99), format("%d", 1e15)
p format("%c%c", "x", 10), format("%5.2s|", "abc"), format("%s %s", :a, 1.5), format("%3d|%03d", -5, -5), format("%f %5f", Float::INFINITY, Float::NAN)
p format("%s", "é".b).encoding, format("%s 😀|%5s|", "x", "😀"), format("%p %p", nil, "a\n"), format("%-10p|", :a), format("%%s"), format("%d", "0x1f")
show { format("%d", "x") }
show { format("%d") }
show { format("%s %s", 1) }
show { format("%<a>d", b: 1) }
show { format("%y", 1) }
show { format("100%") }
show { format("%d", nil) }
show { format("%s", 1, 2) }
p "%02d:%02d:%02d" % [1, 2, 3], "%.3s" % "abcdef", "%08.3f" % 3.14159, "%+05d" % 3, "% 5d" % 3, "%#o" % 8
