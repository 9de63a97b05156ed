# frozen_string_literal: true

# Writes known_fields_perfect_hash.h: the slots of a perfect hash over the names in known_fields.h. Run this script after a change of the names:
#
#     ruby core/http/known_fields_perfect_hash.rb
#
# The script searches multipliers that give each name a slot of its own.

FOLDER = __dir__
SLOTS = 1024
TRIES_MAX = 100_000
FIELD = /FIELD\((\w+), "([^"]+)"\)/

def hash(name, multipliers)
  letters = [name[0], name[name.size / 2], name[-2], name[-1]].map { |letter| letter.ord | 0x20 }
  [name.size, *letters].zip(multipliers).sum { |part, multiplier| part * multiplier } % SLOTS
end

def find_multipliers(names)
  random = Random.new(1)
  TRIES_MAX.times do
    multipliers = Array.new(5) { random.rand(1...SLOTS) }
    return multipliers if names.map { |name| hash(name, multipliers) }.uniq.size == names.size
  end
  abort "known_fields_perfect_hash.rb: two names have the same letters at the positions that hash() uses; add another position"
end

fields = File.read(File.join(FOLDER, "known_fields.h")).scan(FIELD)
multipliers = find_multipliers(fields.map(&:last))
slots = fields.map { |constant, name| [hash(name, multipliers), constant] }.sort

File.write(File.join(FOLDER, "known_fields_perfect_hash.h"), <<~HEADER)
  /* Written by known_fields_perfect_hash.rb: do not edit. */
  /* clang-format off */
  #define FIELD_SLOTS #{SLOTS}
  #define FIELD_HASH(length, first, middle, before_last, last) \\
      (((length) * #{multipliers[0]}u + (first) * #{multipliers[1]}u + (middle) * #{multipliers[2]}u + \\
        (before_last) * #{multipliers[3]}u + (last) * #{multipliers[4]}u) % FIELD_SLOTS)

  static const unsigned char field_slots[FIELD_SLOTS] = {
  #{slots.map { |slot, constant| "    [#{slot}] = UW_FIELD_#{constant}," }.join("\n")}
  };
HEADER
