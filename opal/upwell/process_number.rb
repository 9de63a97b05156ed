# backtick_javascript: true
# frozen_string_literal: true

# Opal's own is always 0.
def Process.pid
  `process.pid`
end
