# frozen_string_literal: true

# What the root fiber stored is each request's own copy.
Fiber[:stored] = "inherited"

run(lambda do |_env|
  found = Fiber[:stored]
  Fiber[:stored] = "changed"
  [200, {}, [found]]
end)
