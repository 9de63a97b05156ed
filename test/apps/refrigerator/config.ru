# frozen_string_literal: true

require "refrigerator"

READER, WRITER = IO.pipe
BEGUN = Queue.new

# Waits for what never comes.
def read
  BEGUN << nil
  READER.read(1)
rescue IOError
  "closed"
end

# Under who reads from it.
def close
  BEGUN.pop
  READER.close
  "closes"
end

PAGES = { "/read" => -> { read }, "/close" => -> { close }, "/" => -> { "frozen" if IO.frozen? && Fiber.frozen? } }.freeze
run ->(env) { [200, {}, [PAGES.fetch(env["PATH_INFO"]).call]] }

Refrigerator.freeze_core
