# frozen_string_literal: true

r = catch(:a) do
  throw :a, 5
rescue Exception => e # rubocop:disable Lint/RescueException
  p [:wrong, e.class]
ensure
  p :ensured
end
p r, catch(:b) { 3 }, catch { |t| throw t, 9 }, catch(:n) { throw :n }
p(catch(:o) do
  catch(:i) { throw :o, 1 }
  2
end)
begin
  throw :nope
rescue UncaughtThrowError => e
  p e.message, e.tag
end
