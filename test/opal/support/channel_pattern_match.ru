# frozen_string_literal: true

require "upwell/channel_pattern"

# Patterns and names, in hexadecimal digits: a line each, "pattern,name"; answers with 1 for each that matches, and 0.
run(lambda do |env|
  lines = env["rack.input"].read.split("\n")
  matches = lines.map do |line|
    pattern, name = line.split(",", -1).map { |digits| Upwell::Channels.topic([digits].pack("H*"), nil) }
    Upwell::ChannelPattern.new(pattern).match?(name) ? "1" : "0"
  end
  [200, {}, [matches.join]]
end)
