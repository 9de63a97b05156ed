# frozen_string_literal: true

Rake::TestTask.new("test:redis_outages" => :compile) do |test|
  test.description = "Ten outages of Redis, of 1 to 15 s, while four workers publish and hear (Debian: redis-server)"
  test.libs = %w[lib test]
  test.pattern = "test/redis_outages/*_test.rb"
  test.warning = false
end
