# frozen_string_literal: true

# The command `upwell`, which begins once the named pipe GATE was written to: faults may have been imposed by then.
require "upwell/cli"

Upwell.const_get(:StaticServer) # loaded when it is named
File.read(ENV.fetch("GATE"))
exit Upwell::CLI.start(ARGV)
