# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../apps/support/application"
require_relative "../support/slow_resolver"
require_relative "support/database_servers"
require_relative "support/results_page"
require_relative "support/slow_server"

# Libraries in real use, COUNT (20) of each at once on every backend and without the extension: either all of them take about as long as one, or
# the table says that this blocks, and it does. LIBRARIES=pg,mysql2 chooses among them, ON=epoll,select among the backends; with
# LIBRARIES_TABLE=1 the table of docs/reference/libraries.md is written.
class LibrariesTest < Minitest::Test
  LIB = File.expand_path("../../lib", __dir__)
  TIME_MAX = "280" # seconds
  PURE = "select"
  CHOSEN = ENV["ON"]&.split(",")

  ([*BACKENDS, PURE] & (CHOSEN || [*BACKENDS, PURE])).each do |backend|
    define_method("test_#{backend}") do
      found = measure(backend)
      ResultsPage.note(backend, found)
      wrong = found.reject { |row| row[:found] == row[:expected] }
      assert_empty wrong, backend
      refute_empty found
    end
  end

  # Those that all tests ask, started once.
  def self.servers
    @servers ||= start(Dir.mktmpdir("upwell-libraries"))
  end

  def self.start(folder)
    slow = SlowServer.new(folder)
    databases = DatabaseServers.new(folder)
    Minitest.after_run { databases.stop && FileUtils.rm_rf(folder) }
    ports = { postgres: databases.postgres, mariadb: databases.mariadb, redis: databases.redis }
    late = ports.to_h { |name, port| [:"late_#{name}", slow.late(port)] }
    { delay: SlowServer::DELAY, http: slow.http, prompt: slow.http(delay: 0), tls: slow.tls, unix: slow.unix, dns: slow.dns, folder: folder,
      **ports, **late }
  end
  private_class_method :start

  private

  def measure(backend)
    SlowResolver.open do |resolver|
      Application.new("libraries", root: File.dirname(__dir__)).open do |app|
        lines = app.run("timeout", "-s", "KILL", TIME_MAX, "bundle", "exec", "ruby", "-I", LIB, File.join(__dir__, "measure_operations.rb"),
                        environment: { **backend_environment(backend), **resolver, "SERVERS" => JSON.generate(self.class.servers) })
        lines.lines.grep(/\A\{"title"/).map { |line| JSON.parse(line, symbolize_names: true) }
      end
    end
  end

  def backend_environment(backend)
    backend == PURE ? { "UPWELL_PURE" => "1", "UPWELL_BACKEND" => nil } : { "UPWELL_BACKEND" => backend }
  end
end

Minitest.after_run { ResultsPage.write if ENV["LIBRARIES_TABLE"] }
