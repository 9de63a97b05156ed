# frozen_string_literal: true

# What is wrong in an application, and is rescued as on Ruby.
def quotient(one, other)
  one / other
end

def shout(text)
  text.upcase
end

def rescued
  yield
rescue ArgumentError, NoMethodError, ZeroDivisionError => e
  e.is_a?(ZeroDivisionError) ? e.message : "a missing argument"
rescue StandardError
  "another error"
end

def deep(number)
  deep(number + 1) + 1
end

puts(rescued { quotient(1, 0) })
puts(rescued { quotient(6, 0) })
p quotient(1.5, 0).infinite?
p (1.0 / 0).infinite?, (quotient(6, 3).to_f / 0).infinite?, (2 * 1.5 / 0).infinite?, (0.0 / 0).nan?
puts(rescued { shout })

begin
  shout
rescue StandardError
  puts "rescued"
end

begin
  deep(0)
rescue StandardError
  puts "a StandardError"
rescue Exception # rubocop:disable Lint/RescueException -- SystemStackError is no StandardError
  puts "the stack is too deep"
end

begin
  `there-is-no-such-command`
rescue SystemCallError, NotImplementedError
  puts "no such command"
end
