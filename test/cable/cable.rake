# frozen_string_literal: true

desc "Test Action Cable, by the server's own WebSockets and by hijacked sockets"
Rake::TestTask.new("test:cable" => :compile) do |test|
  test.libs = %w[lib test]
  test.pattern = "test/cable/*_test.rb"
  test.warning = false
end
