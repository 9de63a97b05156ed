# backtick_javascript: true
# frozen_string_literal: true

# Information about the system and its users.
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
