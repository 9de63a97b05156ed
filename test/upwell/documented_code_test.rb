# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/certificates"
require_relative "../support/documented_blocks"
require_relative "../support/websocket_client"
require "English"
require "open3"
require "shellwords"

# Each block of code and each command of the pages for users runs here, or NOT_RUN has the reason.
class DocumentedCodeTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  BLOCKS = DocumentedBlocks::ALL
  COMMAND = /\A(?:bundle exec )?(?<program>upwell(?! opal)|up_ruby_cluster)(?= |\z)(?<arguments>.*)/

  # The beginning of a command or of a block, and the reason.
  NOT_RUN = {
    "bin/setup" => ".ci/steps/setup and .ci/steps/full_test_suite run it; the examples' own tests run the examples",
    "bin/rails" => "test/apps runs it",
    "UPWELL_MODE=threads:5 bin/rails" => "test/apps runs it",
    "bundle add" => "it changes a Gemfile",
    "bundle remove" => "it changes a Gemfile",
    "gem \"upwell\"" => "a line of a Gemfile",
    "bundle exec rackup" => "test/integration starts the handler",
    "bundle exec up" => "test/opal runs the commands on JavaScript runtimes",
    "upwell opal build" => "test/opal builds programs",
    "node app.js" => "test/opal runs built programs",
    "curl" => "the tests below send its request",
    "kill" => "test/signals and test/integration send the signals",
    "systemctl" => "it needs systemd",
    "journalctl" => "it needs systemd",
    "systemd-socket-activate" => "test/integration/socket_activation_test.rb runs it",
    "openssl ocsp" => "it needs a certificate authority on the Internet",
    "# config/application.rb" => "test/cable sets it",
    "# config/jobs_beside.rb" => "test/apps/solid_queue_test.rb runs this file, and a test below compares it",
    "worker = Thread.new" => "a part of a program; examples/loop_http_server has the whole",
    "client.subscribe" => "a part of a handler; test/integration tests each method",
    "pub_sub = " => "it needs a Redis; the tests of Upwell::PubSub.connect run its calls",
    "offered = " => "a part of the application of its page",
    "next [403" => "a part of the application of its page"
  }.freeze

  CONFIGURATIONS = BLOCKS.select do |block|
    block.language == "ruby" && block.text.match?(/\A(?:# config\/upwell\.rb$|port 8080$|bind ")/)
  end.freeze
  APPLICATIONS = BLOCKS.select { |block| block.language == "ruby" && block.text.match?(/\A# config\.ru$|^run ->/) }.freeze
  PROGRAMS = BLOCKS.select do |block|
    block.language == "ruby" && block.text.match?(/\A(?:require "upwell"|# events\.rb|selector = |Socket\.tcp_fast_fallback)/)
  end.freeze
  CAPYBARA = BLOCKS.find { |block| block.text.include?("Capybara.register_server") }
  COMMENT = / +# .*/
  LINES = DocumentedBlocks.of("sh").flat_map { |block| block.text.gsub(COMMENT, "").lines(chomp: true) }.uniq.freeze
  ABROAD = %r{https://www\.(?:ruby-lang|kernel)\.org}
  ASYNC = /^require "async/ # test/libraries has the gems and runs such programs
  BANNER = /serves on .*/

  def test_each_block_and_command_runs_or_has_a_reason
    ruby = BLOCKS.select { |block| block.language == "ruby" } - CONFIGURATIONS - APPLICATIONS - PROGRAMS - [CAPYBARA]
    commands = LINES.grep_v(COMMAND).grep_v(/\brake /)
    left = (ruby.map(&:text) + commands).group_by { |text| NOT_RUN.keys.find { |beginning| text.start_with?(beginning) } }
    assert_empty left.fetch(nil, [])
    assert_empty NOT_RUN.keys - left.keys, "nothing begins like this any more"
  end

  def test_blocks_of_ruby_have_the_syntax_of_ruby
    BLOCKS.select { |block| block.language == "ruby" }.each do |block|
      assert RubyVM::InstructionSequence.compile("proc do\n#{block.text}\nend"), block.page
    end
  end

  def test_configuration_files
    refute_empty CONFIGURATIONS
    CONFIGURATIONS.each do |block|
      in_directory do
        File.write("upwell.rb", block.text)
        refute_nil Upwell::Configuration.new({}, file: "upwell.rb", environment: {}), block.page
      end
    end
  end

  def test_applications
    APPLICATIONS.each do |block|
      next if block.text.match?(ASYNC)

      serve(block) { |server| check_application(server, block.text) }
    end
  end

  def test_the_response_that_the_pages_print
    %w[README.md docs/start.md].each do |page|
      serve(APPLICATIONS.find { |block| block.page == page }) do |server|
        expected = BLOCKS.find { |block| block.page == page && block.text.start_with?("HTTP/1.1 200") }.text
        assert_equal expected.sub(/^Date: .*/, "Date:"), raw_response(server.port, expected.lines.size).delete("\r").sub(/^Date: .*/, "Date:")
      end
    end
  end

  def test_commands_start_a_server_or_pass_the_check
    in_directory do
      prepare_directory
      LINES.filter_map { |line| line.match(COMMAND) }.each do |command|
        arguments = command[:arguments].gsub("/srv/www", "public").gsub("/etc/letsencrypt/live/example.org/", "").shellsplit
        next assert_serves(arguments) if arguments.first == "static"

        assert_checked(command[:program], arguments) unless arguments.first == "init" # test/integration/systemd_units_test.rb runs it
      end
    end
  end

  def test_the_first_lines_that_the_pages_print
    BLOCKS.each_cons(2) do |block, printed|
      next unless printed.language.empty? && (command = block.text.sub(COMMENT, "").match(COMMAND)) && printed.text.match?(BANNER)

      in_directory do
        prepare_directory
        line = first_line([*command[:arguments].shellsplit, "-p", "0"])
        assert_equal general(printed.text), general(line), block.page
      end
    end
  end

  def test_tasks_exist
    skip "without Bundler" unless defined?(Bundler)

    tasks, status = Open3.capture2(RbConfig.ruby, "-S", "bundle", "exec", "rake", "--all", "--tasks", chdir: ROOT)
    assert_predicate status, :success?
    names = LINES.filter_map { |line| line[/\brake (\S+)/, 1] }
    refute_empty names
    assert_empty names - tasks.scan(/^rake (\S+)/).flatten
  end

  def test_programs
    page = TCPServer.new("127.0.0.1", 0)
    pages = Thread.new { loop { answer(page.accept) } }
    PROGRAMS.select { |block| runs_to_its_end?(block.text) }.each do |block|
      text = block.text.gsub(ABROAD, "http://127.0.0.1:#{page.addr[1]}")
      text = "require 'upwell'\nsocket, other = UNIXSocket.pair\nother.write('a')\n#{text}" if text.start_with?("selector")
      output, status = Open3.capture2e(BundleGemPaths.environment, RbConfig.ruby, "-rsocket", "-I#{ROOT}/lib", "-e", text)
      assert_predicate status, :success?, "#{block.page}: #{output}"
      refute_match(/error/i, output, block.page)
      printed = BLOCKS[BLOCKS.index(block) + 1]
      assert_equal printed.text, output if printed.page == block.page && printed.language.empty?
    end
  ensure
    pages&.kill
    page&.close
  end

  def test_the_program_with_a_loop
    text = PROGRAMS.find { |block| block.text.start_with?("# events.rb") }.text.sub('"127.0.0.1", 8080', '"127.0.0.1", 0')
    IO.popen([BundleGemPaths.environment, RbConfig.ruby, "-I#{ROOT}/lib", "-e", "$stdout.sync = true\n#{text}"]) do |output|
      assert_equal "another second\n", output.gets
      Process.kill("INT", output.pid)
    end
    assert_predicate $CHILD_STATUS, :success?
  end

  # Capybara calls the block on a thread, with a free port, and asks until the server answers.
  def test_the_server_of_capybara
    program = <<~RUBY
      require "upwell"
      require "net/http"
      module Capybara
        def self.register_server(name, &server) = @servers = { name => server }
        def self.server=(name)
          port = TCPServer.open("127.0.0.1", 0) { |socket| socket.addr[1] }
          Thread.new { @servers.fetch(name).call(->(_env) { [200, {}, ["page"]] }, port, "127.0.0.1") }.report_on_exception = true
          print page(port)
        end
        def self.page(port)
          Net::HTTP.get(URI("http://127.0.0.1:\#{port}"))
        rescue Errno::ECONNREFUSED
          Thread.pass
          retry
        end
      end
    RUBY
    output, status = Open3.capture2e(BundleGemPaths.environment, RbConfig.ruby, "-I#{ROOT}/lib", "-e", program + CAPYBARA.text)
    assert_predicate status, :success?, output
    assert_equal "page", output
  end

  def test_the_file_of_jobs_is_the_tested_one
    block = BLOCKS.find { |other| other.text.start_with?("# config/jobs_beside.rb") }
    tested = File.read(File.join(ROOT, "test/apps/rails/config/jobs_beside.rb"), encoding: "UTF-8")
    assert_equal block.text.lines.drop(1).join.strip, tested.lines.grep_v(/\A#/).join.strip
  end

  private

  def runs_to_its_end?(text)
    return RUBY_VERSION >= "3.4" if text.start_with?("Socket.tcp_fast_fallback")

    !text.match?(ASYNC) && !text.start_with?("# events.rb")
  end

  def in_directory(&block)
    Dir.mktmpdir { |directory| Dir.chdir(directory, &block) }
  end

  def prepare_directory
    FileUtils.mkdir_p(%w[public dist config])
    File.write("dist/index.html", "page")
    File.write("config.ru", APPLICATIONS.find { |block| block.page == "README.md" }.text)
    FileUtils.cp(Certificates.localhost.path, "fullchain.pem")
    FileUtils.cp(Certificates.localhost.key_path, "privkey.pem")
  end

  def serve(block, &use)
    in_directory do
      File.write("config.ru", block.text)
      ServerProcess.open(app: File.expand_path("config.ru"), &use)
    end
  end

  def check_application(server, text)
    if text.include?("client.publish")
      check_all_but_the_sender(server)
    elsif text.include?(":websocket")
      WebSocketClient.open(server.port) { |client| assert_equal "hello", client.receive }
    elsif text.include?(":sse")
      RawClient.listen(server.port, "/") { |client| assert_equal 200, client.response(head: true).status }
    else
      assert_equal 200, RawClient.get(server.port, "/").status, text
    end
  end

  def check_all_but_the_sender(server)
    WebSocketClient.open(server.port) do |one|
      WebSocketClient.open(server.port) do |other|
        one.send_text("question")
        assert_equal "question", other.receive
        other.send_text("answer")
        assert_equal "answer", one.receive # not its own question
      end
    end
  end

  def raw_response(port, lines)
    RawClient.open(port) do |client|
      client.write("GET / HTTP/1.1\r\nHost: localhost:3000\r\n\r\n")
      Array.new(lines) { client.socket.gets }.join
    end
  end

  def assert_checked(program, arguments)
    command = [RbConfig.ruby, "-I#{ROOT}/lib", "#{ROOT}/exe/#{program}", *arguments, "--check"]
    output, status = Open3.capture2e({ **BundleGemPaths.environment, "XDG_DATA_HOME" => Dir.pwd }, *command)
    assert_predicate status, :success?, "#{arguments.join(" ")}: #{output}"
  end

  def assert_serves(arguments)
    assert_match BANNER, first_line([*arguments, "-p", "0"])
  end

  # @return [String] the line that a server prints when it is ready
  def first_line(arguments)
    environment = { **BundleGemPaths.environment, "XDG_DATA_HOME" => Dir.pwd }
    IO.popen([environment, RbConfig.ruby, "-I#{ROOT}/lib", "#{ROOT}/exe/upwell", *arguments, { err: %i[child out] }]) do |output|
      output.each_line.find { |line| line.match?(BANNER) }.to_s
    ensure
      Process.kill("TERM", output.pid)
    end
  end

  # Ports, the backend and the number of processors are those of the machine.
  def general(line)
    line.strip.gsub(/:\d+(?=,| \()/, ":PORT").sub(/\((?:io_uring|epoll|kqueue|poll),/, "(BACKEND,").sub(/\d+ workers?/, "N workers")
  end

  def answer(socket)
    socket.gets("\r\n\r\n")
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\npage")
  ensure
    socket.close
  end
end
