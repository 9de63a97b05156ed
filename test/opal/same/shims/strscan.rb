# frozen_string_literal: true

require "strscan"
s = StringScanner.new("key: value\nrest"); p s.scan(/\w+/), s.scan(/x/), s.skip(/:\s*/), s.check(/\w/), s.scan_until(/\n/), s.pre_match, s.eos?, s.rest, s.pos, s.scan(/(?<a>r)(e)?/), s[:a], s[1], s.getch, s.peek(9), s.unscan.pos, s.matched
s = StringScanner.new("ab"); p s.scan(/\Aa/), s.scan(/^b/), s.scan(/\Ab/), s.eos?
