# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/held_request_app"

# `rackup -s upwell`, as an operator meets it.
class RackupHandlerTest < Minitest::Test
  HELLO = File.expand_path("../../examples/hello/config.ru", __dir__)
  PATIENCE = 120 # seconds

  # The command of rackup, whose option -b is no address.
  class Rackup < ServerProcess
    def self.command(*arguments)
      options = arguments.map { |argument| argument == "-b" ? "-o" : argument }
      [RbConfig.ruby, "-I#{File.join(ROOT, "lib")}", Gem.bin_path(RACK_2 ? "rack" : "rackup", "rackup"), "-s", "upwell", *options]
    end
  end

  def held(*options)
    HeldRequestApp.open do |app|
      Rackup.open(*options, app: app.path) do |server|
        client = RawClient.new(server.port)
        client.write("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        app.await_begun
        Timeout.timeout(PATIENCE) { yield server, app, client }
      ensure
        client&.close
      end
    end
  end

  # With a request that does not end.
  def sleeping(*options)
    Dir.mktmpdir do |directory|
      path = File.join(directory, "config.ru")
      File.write(path, "run ->(_) { warn('begun') || sleep }\n")
      Rackup.open(*options, app: path) do |server|
        RawClient.open(server.port) do |client|
          client.write("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
          server.await(/begun/)
          yield server
        end
      end
    end
  end

  # On a thread of its own, where no signal interrupts the application's opening of a pipe.
  def test_an_interrupt_tells_what_it_waits_for_and_finishes_it
    held("-O", "mode=threads:1") do |server, app, client|
      server.signal("INT")
      server.await(/SIGINT: finishing the request in flight, for at most 30 s; a second signal after 1 s stops the server at once/)
      app.release
      assert_match(/\Afirst/, client.response.body)
      assert_equal 0, server.await_end.exitstatus
    end
  end

  def test_a_second_interrupt_ends_at_once
    MODES.each do |mode|
      sleeping("-O", "mode=#{mode}", "-O", "drain_timeout=25") do |server|
        server.signal("INT")
        server.await(/SIGINT: finishing the request in flight, for at most 25 s.*: GET \/held from 127\.0\.0\.1 for \d+\.\d s/)
        server.force("INT")
        server.await(/SIGINT again: exiting with requests in flight/)
        assert_equal 1, server.await_end.exitstatus, mode
      end
    end
  end

  MISTAKES = {
    %w[-O mdoe=inline] => "option mdoe: unknown setting; see rackup -s upwell --help",
    %w[-O mode=quick] => "option mode: must be fibers, inline,", %w[-O workers=2] => "option workers: only the command upwell has it, ",
    %w[-O access_log=log] => "option access_log: only the command upwell has it, ",
    %w[-O connections_max=none] => "option connections_max: must be a whole number", %w[-p port] => "option port: must be a port from 0",
    %w[-O backend=devpoll] => "option backend: must be a backend"
  }.freeze

  def test_each_mistake_gets_one_sentence_and_status_1
    MISTAKES.each do |arguments, sentence|
      output, status = Open3.capture2e(*Rackup.command(*arguments, HELLO))
      assert_match(/\Aupwell: #{sentence}.*\n\z/, output)
      assert_equal 1, status.exitstatus, sentence
    end
  end

  def test_an_address_that_is_named_as_a_setting_counts
    Rackup.open("-O", "bind=127.0.0.2", app: HELLO) { |server| assert_match(/127\.0\.0\.2:/, server.lines.last) }
  end

  # Rails says "Booting" and the last part of the name.
  def test_the_name_of_the_handler
    require RACK_2 ? "rack/handler/upwell" : "rackup/handler/upwell"
    assert_match(/::Handler::Upwell\z/, (RACK_2 ? Rack : Object.const_get(:Rackup))::Handler.get("upwell").to_s)
  end
end
