# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_process"
require_relative "../support/opal_runtimes"

# Patterns of channels mean what they mean in the core: test/core/pub_sub/channel_pattern_test.c.
class OpalChannelPatternTest < Minitest::Test
  include OpalRuntimes

  APP = File.join(__dir__, "support", "channel_pattern_match.ru")
  LONGEST = 255
  SECONDS_MAX = 10

  # Pattern, a name that matches, and one that does not.
  CASES = [
    ["", "", "a"], %w[abc abc abcd], %w[abc abc ab], ["*", "", nil], ["*", "any\xff thing", nil], ["**", "", nil], ["?", "a", ""],
    ["?", "\n", "ab"],
    %w[h?llo hello hllo], %w[h*llo hllo hell], %w[h*llo heeeello heeeelloo], %w[h[ae]llo hallo hillo], %w[h[^e]llo hallo hello],
    %w[h[a-b]llo hbllo hcllo], %w[h[b-a]llo hallo hcllo], %w[[a-c-e] - d], ["[]", nil, "a"], ["[]", nil, "]"], ["[^]", "a", ""],
    %w[a[^]b axb ab], %w([a a b), %w([^a b a), ["[", nil, "["], ["[a\\]b]", "]", "\\"], ["[\\^a]", "^", "b"], %w([a^] ^ b), ["[a\\", "\\", "b"],
    ["[+-]]", "E", "b"], ["[a-]", "_", "-"], ["\\*", "*", "a"], ["\\?a", "?a", "ba"], ["\\[a]", "[a]", "a"], ["a\\", "a\\", "a"],
    ["\\\\", "\\", "\\\\"], %w[*a*b* xaxbx xbxax], %w[*ab aab aba], %w[news.*.sport news.x.y.sport news.sport], %w[*.com a.com.com a.com.org],
    ["[\x80-\xff]", "\xc3", "a"], ["a\0*", "a\0b", "b\0b"]
  ].freeze
  # Those that could keep others busy for long.
  HOSTILE = ["*a", "*[^b]", "*?", "[a-z]*", "a*[a-zA-Z0-9_]"].map { |part| "#{part * ((LONGEST - 1) / part.size)}b" }.freeze

  def test_what_patterns_mean
    need("up_node")
    OpalProcess.open("up_node", app: APP) do |server|
      wanted = CASES.flat_map { |pattern, yes, no| [[pattern, yes, "1"], [pattern, no, "0"]].select { |case_of| case_of[1] } }
      assert_equal wanted.map(&:last), matches(server, wanted)
      assert_equal random.map(&:last), matches(server, random)
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      assert_equal %w[0] * HOSTILE.size, matches(server, HOSTILE.map { |pattern| [pattern, "a" * 1024] })
      assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, :<, SECONDS_MAX
    end
  end

  private

  def matches(server, cases)
    body = cases.map { |pattern, name| "#{pattern.b.unpack1("H*")},#{name.b.unpack1("H*")}" }.join("\n")
    RawClient.request(server.port, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: #{body.size}\r\n\r\n#{body}").body.chars
  end

  # Without sets: what they mean, in the simplest way.
  def random
    @random ||= begin
      chance = Random.new(1)
      Array.new(5000) do
        pattern = Array.new(chance.rand(9)) { "ab*?"[chance.rand(4)] }.join
        name = Array.new(chance.rand(11)) { "ab"[chance.rand(2)] }.join
        [pattern, name, means?(pattern, name) ? "1" : "0"]
      end
    end
  end

  def means?(pattern, name)
    return name.empty? if pattern.empty?
    return means?(pattern[1..], name) || (!name.empty? && means?(pattern, name[1..])) if pattern.start_with?("*")

    !name.empty? && ["?", name[0]].include?(pattern[0]) && means?(pattern[1..], name[1..])
  end
end
