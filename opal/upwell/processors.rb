# backtick_javascript: true
# frozen_string_literal: true

# The part of the module that is otherwise in C.
module Upwell
  # @return [Integer] processors this process may use
  def self.processors
    `var os = require("os")`
    `os.availableParallelism ? os.availableParallelism() : os.cpus().length`
  end
end
