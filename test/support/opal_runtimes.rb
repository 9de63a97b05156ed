# frozen_string_literal: true

require_relative "opal_process"

# For tests that need a runtime: where it is missing they are skipped, but not in a run that decides whether a change lands.
module OpalRuntimes
  # @param name [String] a command
  def need(name)
    reason = OpalProcess.lacks(name) or return
    ENV["CI"] ? flunk(reason) : skip(reason)
  end
end
