# frozen_string_literal: true

require "roda"

# A routing tree as small as they come.
class Hello < Roda
  route do |r|
    r.root { "Hello, world!" }
  end
end

run Hello.freeze.app
