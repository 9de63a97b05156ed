# backtick_javascript: true
# frozen_string_literal: true

# This part of the module is in C on MRI.
module Upwell
  # @return [Integer] the number of processors that this process may use
  def self.processors
    `var os = require("os")`
    `os.availableParallelism ? os.availableParallelism() : os.cpus().length`
  end
end
