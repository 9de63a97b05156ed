# frozen_string_literal: true

# What the root fiber stored is each request's own copy.
Fiber[:stored] = "inherited"

run(lambda do |_env|
  found = "#{Fiber[:stored]}, #{Fiber[:left].inspect}, fiber #{Fiber.current.object_id}"
  Fiber[:stored] = Fiber[:left] = "changed"
  [200, {}, [found]]
end)
