# frozen_string_literal: true

# The command `upwell`, which begins once the named pipe GATE was written to: faults may have been imposed by then.
require "upwell/cli"

Upwell.const_get(:StaticServer) # loaded when it is named
# SIGUSR2 only shows that signals are handled.
Upwell::Server::HotRestart::Handover.define_method(:start) { |cause, *| !Upwell::Log.tell("#{cause} is ignored") }
File.read(ENV.fetch("GATE"))
exit Upwell::CLI.start(ARGV)
