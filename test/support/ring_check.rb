# frozen_string_literal: true

require "tsort"

# Finds files of the core that call one another in a ring, by the symbols of their objects; there must be none:
#   make -C core all && ruby test/support/ring_check.rb
class RingCheck
  include TSort

  ROOT = File.expand_path("../..", __dir__)
  OBJECTS = File.join(ROOT, "build/core/plain")

  def initialize
    sources = Dir[File.join(ROOT, "core/*/*.c")].map { |path| path[%r{core/(.*)\.c\z}, 1] }
    @files = sources.select { |file| File.exist?(object(file)) }
    symbols = @files.to_h { |file| [file, symbols_of(file)] }
    owners = symbols.flat_map { |file, (defined, _used)| defined.map { |name| [name, file] } }.to_h
    @uses = symbols.to_h { |file, (_defined, used)| [file, owners.values_at(*used).compact.uniq - [file]] }
  end

  # @return [Array<Array<String>>]
  def rings
    abort "ring_check: nothing is compiled" if @files.empty?
    strongly_connected_components.select { |files| files.size > 1 }
  end

  private

  def tsort_each_node(&block) = @files.each(&block)
  def tsort_each_child(file, &block) = @uses[file].each(&block)
  def object(file) = File.join(OBJECTS, "#{file}.o")

  # @return [Array(Array<String>, Array<String>)] names that are defined, and that are used
  def symbols_of(file)
    lines = IO.popen(["nm", object(file)], &:readlines).map { |line| line.split.last(2) }
    used, defined = lines.partition { |kind, _name| kind == "U" }
    [defined.select { |kind, _name| kind.match?(/[TDRBC]/) }, used].map { |list| list.map(&:last) }
  end
end

rings = RingCheck.new.rings
rings.each { |files| warn "ring_check: #{files.sort.join(" <-> ")}" }
exit rings.empty?
