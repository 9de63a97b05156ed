# frozen_string_literal: true

# Bits beyond the 32 of JavaScript's own operations, division, zero and rounding.
def show
  p yield
rescue StandardError => e
  p e.class
end

a = 0xffffffff
b = 2**40
p a & 0xff000000, b | 1, b ^ 1, 1_764_130_000_000 & 0xffff, 3_000_000_000 >> 1, ~3_000_000_000, 1 << 40, 1 << 31, -1 << 35, b >> 8, -b >> 3
p a & a, a | 0, a ^ 1, -5 & 0xffffffff, -5 | 2**35, 5 & 3, 5 | 3, 5 ^ 3, ~5, 5 << 2, 5 >> 1, -5 >> 1, 1 << 53, (1 << 53) >> 20, 5 << -1, 5 >> -1, 0 << 99
p (2**53) - 1 & 0xffffffff, b[40], b[0], 0b1010[1, 2], b.bit_length, 255.bit_length, -256.bit_length, 0.bit_length, b.allbits?(b), b.anybits?(1), b.nobits?(1)
hash = 0x811c9dc5
"upwell".each_byte { |byte| hash = ((hash ^ byte) * 435) & 0xffffffff }
p hash
p 3.pow(1_000_003, 1_000_000_007), 7.pow(2), 2.pow(-1), 10.pow(15, 97)
p 7.div(2), -7.div(2), 7.div(-2), 7.divmod(2), -7.divmod(2), 7.divmod(-2), 7.fdiv(2), 7 % 3, -7 % 3, 7 % -3, 6 % 3, -6 % 3, 7.modulo(-3), 7.remainder(-3), 7.5.divmod(2)
show { 7.div(0) }
show { 7 % 0 }
show { 7.divmod(0) }
zero = 0
p(-zero, zero * -1, 0 % -3, (-0.4).round, -0.2.ceil, [-zero].to_s, "#{-zero}")
p 2.5.round, -2.5.round, 3.5.round, 1.005.round(2), 2.675.round(2), -1.235.round(2), 0.5.round, 1.5.round(half: :even), 2.5.round(half: :even), 2.5.round(half: :down), 1234.567.round(-2), 15.round(-1)
p 1234.5678.round(2), 0.1 + 0.2, (0.1 + 0.2).round(2), 10.0.floor, 2.7.truncate, -2.7.truncate, -2.7.floor, -2.1.ceil, 2.345.floor(2), 2.345.ceil(1), 1e15.to_i, 12.34.divmod(5).first

# What is seen to be an Integer.
list = [1, 2, 3, 4, 5]
p 7 / 2, -7 / 2, list.size / 2, list[list.size / 2], "abcde".length / 2, "17".to_i / 5, Integer("9") / 2, (list.size + 2) / 2, list.count / -2, 7.0.to_i / 2
per = 2
pages = (list.size + per - 1) / per
p pages, pages / 2
seconds = 4000
hours = seconds / 3600
minutes = (seconds % 3600) / 60
p "#{hours}:#{minutes}"
low = 0
high = list.size - 1
while low <= high
  middle = (low + high) / 2
  break if list[middle] == 4

  list[middle] < 4 ? low = middle + 1 : high = middle - 1
end
p middle
5.times { |index| print index / 2, " " }
list.each_with_index { |_, index| print index / 2, " " }
puts
PER_PAGE = 20
def page_of(index) = index.to_i / PER_PAGE
p page_of(45), page_of("39")
def mean(list) = list.sum.to_f / list.size
p mean([1, 2, 4, 8]), 7 / 2.0, 7.0 / 2, 7.to_f / 2, 1 / 4r
half = 5
half /= 2
p half
other = 5.0
other /= 2
p other
text = +""
text << (7 / 2).to_s << (list.size / 2).to_s
p text
show { list.size / [].size }

# A block's parameter is not what another block counted.
class Halves
  def each = yield(5.0)
  def half(*) = 5.times { |index| print index / 2, " " }
end

class LastHalves < Halves
  def each = 2.times { |index| print index } && super { |index| p index / 2 }
  def safe(list) = 2.times { |one| print one } && list&.each { |one| p one / 2 }
  def chained(list) = list.map { |one| 4.times { |other| print other / 2, " " } && one }.each_with_index { |_, index| print index / 2, " " }
end
LastHalves.new.half
LastHalves.new.each
LastHalves.new.safe([5.0])
LastHalves.new.chained([1, 2, 3])
[0xdcc3, 0x1f600].each { |code| show { code.chr(Encoding::UTF_8) } }
