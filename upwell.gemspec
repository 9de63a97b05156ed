# frozen_string_literal: true

require_relative "lib/upwell/version"

Gem::Specification.new do |spec|
  spec.name = "upwell"
  spec.version = Upwell::VERSION
  spec.authors = ["The Upwell developers"]
  spec.summary = "Rack server on an event loop in C: io_uring, epoll, poll"
  spec.description = "Serves Rack applications from a core in C: event loop, HTTP/1.1 parser, connections, limits and time-outs. " \
                     "The interpreter's lock is held to run the application, and for nothing else."
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"
  spec.files = Dir["core/**/*.{c,h,rb}", "ext/upwell/**/*.{c,h}", "ext/upwell/extconf.rb", "lib/**/*.rb", "opal/**/*.{rb,js}", "exe/*",
                   "docs/**/*.{md,svg}", "examples/**/*.{rb,ru,html}", "examples/**/Gemfile", "bench/README.md", "bench/results/*.{md,svg}",
                   "*.md", "LICENSE", ".yardopts", base: __dir__]
  spec.bindir = "exe"
  spec.executables = %w[upwell up_ruby up_ruby_cluster up up_cluster up_node up_node_cluster up_bun up_bun_cluster]
  spec.extensions = ["ext/upwell/extconf.rb"]
  spec.metadata = { "rubygems_mfa_required" => "true" }
  spec.add_dependency "mini_mime", "~> 1.1"
  spec.add_dependency "rack", ">= 2.2", "< 4"
end
