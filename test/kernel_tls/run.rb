# frozen_string_literal: true

# Tests of TLS in a VirtualMachine, whose kernel seals what is sent: the endpoint's own in C, and those over the server. TESTS, SECONDS.

require "shellwords"
require_relative "virtual_machine"

$stdout.sync = true
CORE_TEST = "build/core/plain/test/core/transport/tls_test"
tests = Dir.glob(ENV.fetch("TESTS", "test/integration/tls*_test.rb").split(","), base: VirtualMachine::ROOT).sort
abort "kernel_tls: TESTS names no file" if tests.empty?
commands = ["grep -q TlsTxSw /proc/net/tls_stat", CORE_TEST,
            *tests.map { |test| "bundle exec ruby -Ilib -Itest #{test.shellescape}" }]
puts "kernel_tls: #{tests.size + 1} files"
passed = VirtualMachine.new(["sh", "-c", commands.join(" && ")], seconds: Integer(ENV.fetch("SECONDS", "1500"))).run
abort "kernel_tls: failed" unless passed
puts "kernel_tls: passed"
