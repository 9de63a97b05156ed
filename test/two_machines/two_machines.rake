# frozen_string_literal: true

Rake::TestTask.new("test:two_machines" => :compile) do |test|
  test.description = "Test two servers and a Redis in networks of their own, and a link that is cut (as root; Debian: iproute2, redis-server)"
  test.libs = %w[lib test]
  test.pattern = "test/two_machines/*_test.rb"
  test.warning = false
end
