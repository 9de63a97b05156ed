# frozen_string_literal: true

require "rbconfig"

# How a process is started that loads the extension of `rake compile:sanitized`, and what it says when something is wrong.
module Sanitizers
  BUILT = File.expand_path("../../build/sanitized", __dir__)
  COMPLAINTS = /AddressSanitizer|runtime error:|Assertion .* failed|\[BUG\]|SEGV|munmap_chunk|double free/
  ENVIRONMENT = {
    "LD_PRELOAD" => `#{RbConfig::CONFIG["CC"]} -print-file-name=libasan.so`.strip, # first of all libraries
    "ASAN_OPTIONS" => "detect_leaks=0:detect_stack_use_after_return=0:use_sigaltstack=0:handle_segv=0", # the heap that Ruby keeps is no leak
    "UBSAN_OPTIONS" => "print_stacktrace=1"
  }.freeze
end
