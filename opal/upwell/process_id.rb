# backtick_javascript: true
# frozen_string_literal: true

# Returns the process id. In Opal it would always be 0.
def Process.pid
  `process.pid`
end
