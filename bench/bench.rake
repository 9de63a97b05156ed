# frozen_string_literal: true

MODERN_RUBY = File.expand_path("../bin/modern-ruby", __dir__)

desc "Measure Upwell beside its peers, see bench/README.md"
task(:bench) { sh MODERN_RUBY, "ruby", "bench/run.rb" }

namespace :bench do
  desc "Measure the scheduler and the loop beside their peers, see bench/README.md"
  task(:io) { sh MODERN_RUBY, "ruby", "bench/io/run.rb" }

  desc "Measure servers of static files, see bench/README.md"
  task(:static) { sh MODERN_RUBY, "ruby", "bench/static/run.rb" }

  desc "Measure servers over TLS, see bench/README.md"
  task(:tls) { sh MODERN_RUBY, "ruby", "bench/tls/run.rb" }

  desc "Measure servers of WebSockets and server-sent events, see bench/README.md"
  task(:ws) { sh MODERN_RUBY, "ruby", "bench/ws/run.rb" }

  desc "Measure Rack on JavaScript runtimes beside their bare hello, see bench/README.md"
  task(:opal) { sh MODERN_RUBY, "ruby", "bench/opal/run.rb" }

  desc "15,000 connections to files that change, see bench/README.md: BACKENDS, CONNECTIONS, SECONDS"
  task(:crowd) { sh MODERN_RUBY, "ruby", "bench/static/many_connections.rb" }

  desc "Fibers that are ended early wherever they wait, for SECONDS a backend: BACKENDS, LOAD, SEED"
  task(:io_soak) { sh MODERN_RUBY, "ruby", "bench/io/soak.rb" }

  desc "What a request costs beside the commit BEFORE: WORKLOADS, CONNECTIONS, ROUNDS, SECONDS, OPTIONS of the server"
  task(:commits) { sh MODERN_RUBY, "ruby", "bench/against_commit.rb" }

  desc "The scheduler and the loop beside the commit BEFORE: WORKLOADS, SERVERS, ROUNDS, SECONDS"
  task(:io_commits) { sh MODERN_RUBY, "ruby", "bench/io/against_commit.rb" }

  desc "The static file server beside the commit BEFORE: WORKLOADS, SIZES, SERVERS, CONNECTIONS, ROUNDS, SECONDS"
  task(:static_commits) { sh MODERN_RUBY, "ruby", "bench/static/against_commit.rb" }

  desc "GET /up of Rails on Upwell, Puma and Falcon: SERVERS, CONNECTIONS, ROUNDS, SECONDS"
  task(:rails) { sh MODERN_RUBY, "ruby", "bench/rails.rb" }

  desc "Memory and latency of idle connections: BACKEND, MODE, CONNECTIONS"
  task(:idle_connections) { sh MODERN_RUBY, "ruby", "bench/idle_connections.rb" }

  desc "Hello world on each backend, kqueue over the stand-in of test/kqueue: CONNECTIONS, ROUNDS, SECONDS"
  task(:backends) { sh MODERN_RUBY, "ruby", "bench/backends.rb" }

  desc "Clients that misbehave, for MINUTES a backend: BACKENDS, MODE"
  task(:soak) { sh MODERN_RUBY, "ruby", "bench/soak.rb" }
end
