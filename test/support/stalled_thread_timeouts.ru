# frozen_string_literal: true

# Opens the named pipe of the query, which waits for a writer. No scheduler takes over this call: the loop serves no other client meanwhile. A
# folder of this name with ".begun" tells that the application was called.

run lambda { |env|
  path = env["QUERY_STRING"]
  unless path.empty?
    Dir.mkdir("#{path}.begun")
    File.open(path) { nil }
  end
  [200, {}, ["in time"]]
}
