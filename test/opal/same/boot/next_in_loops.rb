# frozen_string_literal: true

b = 3
n = 0
while b.positive?
  n += 1
  next b -= 1 unless b == 2

  b -= 1
end
p b, n
p([1, 2].map { |x| next 5 if x == 1; x })
