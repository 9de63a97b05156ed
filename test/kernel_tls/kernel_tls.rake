# frozen_string_literal: true

desc "Tests of TLS in a virtual machine whose kernel has TLS itself: TESTS (patterns of files), SECONDS (1500)"
task "test:kernel_tls" => :compile do
  sh "make", "--no-print-directory", "-s", "-C", "core", "VARIANT=plain", "../build/core/plain/test/core/transport/tls_test", verbose: false
  ruby "test/kernel_tls/run.rb", verbose: false
end
