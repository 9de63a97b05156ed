# frozen_string_literal: true

# What runs cannot be interrupted: it is run to its end.
module Timeout
  ExitException = Class.new(StandardError)
  Error = Class.new(RuntimeError)

  module_function

  def timeout(seconds, _error = nil, _message = nil)
    yield seconds
  end
end
