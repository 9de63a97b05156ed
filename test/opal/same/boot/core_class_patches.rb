# frozen_string_literal: true

# What Ruby's own classes have besides Opal's, or do otherwise.
ENV["UPWELL_A"] = ""
ENV["UPWELL_B"] = "b"
p ENV["UPWELL_A"], ENV.fetch("UPWELL_A"), ENV.values_at("UPWELL_A", "UPWELL_B", "UPWELL_C"), ENV.slice("UPWELL_B"), ENV.select { |name, _| name == "UPWELL_B" }, ENV.key?("UPWELL_A")
ENV["UPWELL_B"] = nil
p ENV["UPWELL_B"], ENV.key?("UPWELL_B"), ENV.fetch("UPWELL_B", 1), ENV.fetch("UPWELL_B") { |name| name.downcase }, ENV.delete("UPWELL_B"), ENV.delete("UPWELL_A"), ENV.to_h.is_a?(Hash)
[-> { ENV["A"] = 1 }, -> { ENV[nil] }, -> { ENV.fetch("UPWELL_B") }].each do |call|
  call.call
rescue TypeError, KeyError => e
  p e.class
end

p((nil in nil), ([nil] in [nil]), ({ n: nil } in { n: nil }), ({ n: true } in { n: true }), ({ n: false } in { n: true }), (5 in nil), ({ n: 1 } in { n: nil }), ([1, nil] in [Integer, nil]))
case { name: "x", tags: [1, 2, 3], n: nil }
in { name: String => name, tags: [first, *rest], n: nil }
  p name, first, rest
end

p (1..Float::INFINITY).lazy.select(&:even?).map { |x| x * x }.first(3), (1..Float::INFINITY).each { |x| break x if x > 3 }, (1..Float::INFINITY).first(2)
p [[1, 2], [3]].sum([]), %w[a b].sum(""), [1, 2.5].sum, [0.1] * 3 == [0.1, 0.1, 0.1], [[1], [2]].sum([]) { |one| one * 2 }, (1..3).sum { |x| x * 2 }
require "set"
p Set[1, "a"].inspect, Set[1] <=> Set[1, 2], Set[1, 2] <=> Set[1], Set[1] <=> Set[2], Set[1] === 1, Set[1, 2].disjoint?(Set[3]), Set[1, 2].intersect?(Set[2])
class Missing
  def respond_to_missing?(name, all = false) = name == :boo || super
  def method_missing(name, *all) = name == :boo ? [name, all] : super
end
p Missing.new.method(:boo).call(1, 2), $0.class, Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond) > 2**32
begin
  Missing.new.method(:bah)
rescue NameError => e
  p e.class
end
["a" + "b", -> { "a" + 1 }, -> { "a" + nil }].each do |sum|
  p sum.is_a?(Proc) ? sum.call : sum
rescue TypeError => e
  p e.class
end
p "hello".gsub(/(?<first>h)/, '<\k<first>>'), "a-b".sub(/(?<l>\w)-(?<r>\w)/, '\k<r>-\k<l>'), "x".sub("x", '\\\\k<r>'), "日本 x"[/\p{Han}+/], "été"[/\p{Latin}+/], "aé" =~ /\P{ASCII}/
at = Time.at(0).utc
p at.getlocal("+02:00").to_s, at.getlocal("+02:00").utc_offset, at.getlocal(-3600).hour, at.utc_offset, Time.new(2024, 1, 2, 3, 4, 5, "+05:30").utc_offset, Time.new(2024, 1, 2, 3, 4, 5, "-03:00").utc.hour

class Default < StandardError
  def initialize(message = "default") = super
end

class Coded < StandardError
  attr_reader :code

  def initialize(message = "coded", code: 1)
    super(message)
    @code = code
  end
end
raises = [-> { raise Default }, -> { raise Default, "given" }, -> { raise Default.new("made") }, -> { raise Coded.new("x", code: 7) }, -> { raise Coded }, -> { raise "text" },
          -> { raise ArgumentError }, -> { raise ArgumentError, "m", ["a:1"] }, -> { raise Coded.new, cause: nil }, -> { raise TypeError.new("x"), "y" }, -> { raise Class.new(Default), "anonymous" },
          -> { fail Default }, -> { raise Object.new }, -> { raise KeyError, "k", cause: IOError.new("why") }]
raises.each do |call|
  call.call
rescue StandardError => e
  p e.message, e.cause&.message, (e.code if e.is_a?(Coded))
end
begin
  begin
    raise Default
  rescue Default
    raise Coded
  end
rescue Coded => e
  p e.cause.message, $!.message
end
begin
  begin
    raise Default
  rescue Default
    raise
  end
rescue Default => e
  p e.message
end
p "a\r\nb\n\nc".lines, "a\r\nb\n".lines(chomp: true), "a\r\n".each_line.to_a, "a;b".lines(";"), "".lines, "a\n\n\nb\n".lines("")
p 65.chr, 233.chr, 233.chr("UTF-8"), 128_512.chr(Encoding::UTF_8)
begin
  300.chr
rescue RangeError => e
  p e.class
end
[[2024, 1, 1], [2023, 1, 1], [2023, 11, 14], [2024, 12, 31], [2022, 1, 2]].each { |day| puts Time.utc(*day).strftime("%u %U %W %V %w %%u") }
p [defined?(RubyVM::YJIT), RubyVM::YJIT.enabled?]

# Zones are kept.
at = Time.new(2024, 1, 2, 3, 4, 5, "+05:30") + 0.75
p [at.round, at.floor, at.ceil, at.round(1), at.utc.round].map { |time| [time.utc_offset, time.hour, time.min, time.sec] }, Time.at(1).round(6).to_i
