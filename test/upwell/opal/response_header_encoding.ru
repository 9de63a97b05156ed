# backtick_javascript: true
# frozen_string_literal: true

# Heads of responses whose values hold text beyond ASCII.
VALUES = {
  "/sound" => "/a?b=\u010D\u010A",
  "/characters" => `Opal.new_bytes("/a\u010D\u010Aset-cookie: b=c")`,
  "/joined" => ["/a?b=", "\xE9".b, "\xC4\x8D\xC4\x8A".b].join
}.freeze
MIXED = -> { ["/a?b=", "\xE9".b, "\u010D\u010Aset-cookie: b=c"].join }
run ->(env) { [200, { "x-to" => VALUES.fetch(env["PATH_INFO"]) { MIXED.call } }, []] }
