# frozen_string_literal: true

require "net/http"
require_relative "../../test_helper"
require_relative "../../support/certificates"
require_relative "../../support/opal_runtimes"
require "upwell/opal/program"

# A server's process, with and without workers: where it listens, its files, and how it ends.
class OpalSingleProcessTest < Minitest::Test
  include OpalRuntimes

  APP = File.expand_path("../support/process_state.ru", __dir__)
  HALF = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab"
  LONG = %w[--drain-timeout 31536000 --body-timeout 31536000].freeze # a year, longer than the runtimes' timers

  STARTED_AT_ONCE = 3
  SHORT_TRIES_MAX = 10 # a machine that is busy may need all of so little time
  # What a program of Node's is made to do first.
  AFTER_READING = <<~JAVASCRIPT
    const fs = require("fs"), read = fs.readFileSync, folder = process.env.FOLDER;

    fs.readFileSync = (path, ...rest) => {
      const content = read(path, ...rest);

      if (path === folder + "/pid") {
        fs.writeFileSync(folder + "/has_read." + process.pid, "");
        while (!fs.existsSync(folder + "/go")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      }
      return content;
    };
  JAVASCRIPT
  NO_LINKS = 'require("fs").linkSync = () => { throw Object.assign(new Error("no links"), { code: "EPERM" }); };'
  NO_NEW_FILES = <<~JAVASCRIPT
    const fs = require("fs"), write = fs.writeFileSync, refuse = () => { throw Object.assign(new Error("not here"), { code: "EACCES" }); };

    fs.unlinkSync = refuse;
    fs.writeFileSync = (path, ...rest) => fs.existsSync(path) ? write(path, ...rest) : refuse();
  JAVASCRIPT
  OPENS_AFTER_CLOSING = <<~JAVASCRIPT
    const fs = require("fs"), close = fs.closeSync;

    fs.closeSync = number => {
      close(number);
      fs.openSync(process.env.FOLDER + "/other", "a");
    };
  JAVASCRIPT

  def start(command, *arguments, **options, &block)
    need(command)
    OpalProcess.open(command, *arguments, app: APP, **options, &block)
  end

  def call(command, *arguments)
    text, status = Open3.capture2e(OpalProcess.environment, *OpalProcess.command(command, *arguments, APP))
    [text, status.exitstatus]
  end

  # @return [Integer] with which it ends
  def status_of_idle(command)
    start(command, "--drain-timeout", "0.45") do |server|
      RawClient.open(server.port) do |client|
        client.write("GET /pid HTTP/1.1\r\nHost: a\r\n\r\n")
        assert_equal 200, client.response.status
        server.stop.exitstatus
      end
    end
  end

  def await_refusal(port)
    await { TCPSocket.new("127.0.0.1", port).close }
  rescue Errno::ECONNREFUSED
    nil
  end

  # A request of which a part was received.
  def half_a_request(port)
    client = RawClient.new(port)
    client.write(HALF)
    RawClient.get(port, "/pid") # what was sent before is received by then
    client
  end

  OpalProcess::RUNTIMES.each_key do |name|
    define_method("test_#{name}_closes_what_is_idle_in_little_time") do
      ended = Array.new(SHORT_TRIES_MAX).lazy.map { status_of_idle(name) }
      assert_includes ended, 0
    end

    [name, "#{name}_cluster"].each do |command|
      define_method("test_#{command}_serves_and_ends") do
        start(command, "-E", "production") do |server|
          assert_equal "production", RawClient.get(server.port, "/environment").body
          workers = command == name ? "no" : 2
          assert_match(%r{\AUpwell #{Upwell::VERSION} serves on http://127\.0\.0\.1:\d+ \(.*, Opal .*\), #{workers} workers$}, server.lines.last)
          assert_equal 0, server.stop("INT").exitstatus
        end
      end

      define_method("test_#{command}_serves_by_tls") do
        authority = Certificates::Authority.new(command)
        own = authority.issue("127.0.0.1")
        start(command, "-s", "-c", own.path, "-k", own.key_path) do |server|
          client = Net::HTTP.start("127.0.0.1", server.port, use_ssl: true, ca_file: authority.path)
          assert_equal "development", client.get("/environment").body
          client.finish
        end
      end

      define_method("test_#{command}_finishes_what_is_in_flight") do
        start(command, *LONG) do |server|
          client = half_a_request(server.port)
          server.signal("TERM")
          server.await(/SIGTERM: /)
          sleep 1 # connections without a request are closed by then
          client.write("cd")
          assert_equal [200, "abcd"], client.response.to_a.values_at(0, 2)
          assert_equal 0, server.await_end.exitstatus
        end
      end

      define_method("test_#{command}_takes_a_repeated_signal_for_the_same_stop") do
        start(command, *LONG) do |server|
          client = half_a_request(server.port)
          Process.kill("INT", -server.pid)
          server.signal("TERM")
          server.await(/SIG(INT|TERM): /)
          Process.kill("TERM", -server.pid)
          client.write("cd")
          assert_equal [200, "abcd"], client.response.to_a.values_at(0, 2)
          assert_equal 0, server.await_end.exitstatus, server.lines.join
        end
      end

      define_method("test_#{command}_gives_up_after_a_while") do
        start(command, "--drain-timeout", "0.2") do |server|
          half_a_request(server.port)
          assert_equal 1, server.stop.exitstatus, server.lines.join
        end
      end

      define_method("test_#{command}_ends_at_once_by_a_second_signal") do
        start(command) do |server|
          half_a_request(server.port)
          Process.kill("TERM", -server.pid) # as a terminal does
          server.await(/SIGTERM/)
          server.force("TERM", -server.pid)
          assert_equal 1, server.await_end.exitstatus
          await_refusal(server.port)
        end
      end

      define_method("test_#{command}_keeps_a_pid_file") do
        Dir.mktmpdir do |folder|
          path = File.join(folder, "pid")
          start(command, "-P", path) do |server|
            assert_equal "#{server.pid}\n", File.read(path)
            assert_equal ["#{command}: pid file #{path} belongs to the running process #{server.pid}; stop it, or name another file\n", 1],
                         call(command, "-P", path, "-p", "0")
            server.stop
            refute_path_exists path
          end
          File.write(path, "#{Process.wait2(spawn("true")).first}\n") # left behind by a dead one
          start(command, "-P", path) { |server| assert_equal "#{server.pid}\n", File.read(path) }
        end
      end

      define_method("test_#{command}_opens_its_log_again") do
        Dir.mktmpdir { |folder| check_log(command, File.join(folder, "log")) }
      end

      define_method("test_#{command}_refuses_a_port_that_is_taken") do
        need(command)
        TCPServer.open("127.0.0.1", 0) do |taken|
          sentence = "cannot listen on 127.0.0.1: the port #{taken.addr[1]} is taken; stop the other server, or " \
                     "choose another port with -p or -b"
          assert_equal ["#{command}: #{sentence}\n", 1], call(command, "-b", "127.0.0.1", "-p", taken.addr[1].to_s)
        end
      end
    end
  end

  # They all have read what a dead process has left before one of them goes on.
  def test_of_those_who_replace_a_pid_file_one_does
    need("up_node")
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "pid"), "#{Process.wait2(spawn("true")).first}\n")
      File.write(File.join(folder, "late.js"), AFTER_READING)
      outputs = Array.new(STARTED_AT_ONCE) { start_late(folder) }
      await { Dir.glob("has_read.*", base: folder).size == STARTED_AT_ONCE }
      File.write(File.join(folder, "go"), "")
      lines = outputs.map(&:gets)
      pid = File.read(File.join(folder, "pid")).to_i
      assert_equal [1, STARTED_AT_ONCE - 1], [/ serves on /, /pid belongs to the running process #{pid}; /].map { |said| lines.grep(said).size }
      Process.kill("TERM", pid)
      outputs.each(&:close)
      assert_equal %w[go late.js], Dir.children(folder).grep_v(/has_read/).sort
    end
  end

  # FAT has none; a folder of root's may have a file for it.
  { "a_folder_without_links" => NO_LINKS, "a_folder_of_another" => NO_NEW_FILES }.each do |name, program|
    define_method("test_a_pid_file_in_#{name}") do
      Dir.mktmpdir do |folder|
        path = File.join(folder, "pid")
        File.write(path, "") if program == NO_NEW_FILES
        File.write(File.join(folder, "first.js"), program)
        start("up_node", "-P", path, environment: { "NODE_OPTIONS" => "--require #{folder}/first.js" }) do |server|
          assert_equal ["#{server.pid}\n", %w[first.js pid]], [File.read(path), Dir.children(folder).sort]
          assert_includes call("up_node", "-P", path, "-p", "0").first, "#{path} belongs to the running process #{server.pid}; "
          assert_equal 0, server.stop.exitstatus
          assert_equal "", File.exist?(path) ? File.read(path) : ""
        end
      end
    end
  end

  # Another thread of the runtime's opens a file whenever one is closed.
  def test_a_log_that_does_not_get_its_number
    need("up_node")
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "hasty.js"), OPENS_AFTER_CLOSING)
      check_log("up_node", File.join(folder, "log"), "NODE_OPTIONS" => "--require #{folder}/hasty.js", "FOLDER" => folder)
      assert_equal "", File.read(File.join(folder, "other"))
    end
  end

  def test_a_unix_socket
    Dir.mktmpdir do |folder|
      path = File.join(folder, "socket")
      UNIXServer.new(path).close # left behind by a killed one
      start("up_node", "-b", "unix:#{path}") do |server|
        UNIXSocket.open(path) do |client|
          client.write("GET /environment HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
          assert_match(/development\z/, client.read)
        end
        assert_equal ["up_node: cannot listen on unix:#{path}: another server listens there; stop it, or choose another path with -b\n", 1],
                     call("up_node", "-b", "unix:#{path}")
        assert_equal 0, server.stop.exitstatus
        refute_path_exists path
      end
    end
  end

  private

  # @return [IO] of a program with that pid file
  def start_late(folder)
    environment = { "NODE_OPTIONS" => "--require #{folder}/late.js", "FOLDER" => folder }
    IO.popen(environment, ["node", Upwell::Opal::Program.new(APP, :node).path, "-p", "0", "-P", File.join(folder, "pid")], err: %i[child out])
  end

  # What is announced goes to the file. Each worker opens it when it hears of it.
  def check_log(command, path, environment = {})
    need(command)
    workers = command.end_with?("_cluster") ? %w[-w 2] : []
    all = OpalProcess.command(command, "-b", "127.0.0.1", "-p", "0", "-l", path, *workers, APP)
    pid = ProcessGroup.spawn(OpalProcess.environment(environment), *all)
    await { File.exist?(path) && File.read(path).match?(/serves on .*\n/) }
    port = File.read(path)[/serves on \S+:(\d+)/, 1]
    File.rename(path, "#{path}.1")
    Process.kill("HUP", pid)
    await { File.exist?(path) }
    await { RawClient.get(port, "/say") && File.read(path).include?("said\n") }
    Process.kill("TERM", pid)
    assert_equal 0, ProcessGroup.wait(pid).exitstatus
    assert_match(/SIGTERM: /, File.read(path))
  end

  def await
    Timeout.timeout(60) { sleep 0.02 until yield }
  end
end
