# backtick_javascript: true
# frozen_string_literal: true

# What the system knows of itself and its users.
module Etc
  module_function

  def nprocessors
    `require('os').availableParallelism()`
  end

  def getlogin
    `require('os').userInfo().username`
  end

  def systmpdir
    `require('os').tmpdir()`
  end
end
