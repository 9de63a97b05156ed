# frozen_string_literal: true

require_relative "../../test_helper"
require "upwell/opal/configuration"

class OpalConfigurationTest < Minitest::Test
  def configuration(values = {}, environment: {}, **rest)
    Upwell::Opal::Configuration.new(values, environment: environment, **rest)
  end

  def with_file(text)
    Dir.mktmpdir do |dir|
      path = File.join(dir, "upwell.rb")
      File.write(path, text)
      yield path
    end
  end

  def test_a_unix_socket_has_no_parameters
    error = assert_raises(Upwell::ConfigurationError) { Upwell::Opal::Configuration.new({ bind: ["unix:/s?mode=0660"] }, environment: {}) }
    assert_match(/\Aoption bind: must have no question mark after unix:PATH: a JavaScript runtime/, error.message)
  end

  def test_arguments_say_all_that_is_not_the_default
    values = { port: 1, bind: ["127.0.0.1:1", "unix:/a"], secure: true, workers: "2", environment: "test", drain_timeout: "0.5" }
    assert_equal %w[--port=1 --bind=127.0.0.1:1 --bind=unix:/a --secure --workers=2 --environment=test --drain-timeout=0.5],
                 configuration(values).arguments
  end

  def test_arguments_win_over_the_environment_of_the_program
    assert_equal %w[--port=3000 --environment=development], configuration({ port: 3000 }, environment: { "PORT" => "4000" }).arguments
  end

  def test_the_number_of_processors_is_the_runtimes_to_know
    assert_equal "auto", configuration({ workers: "auto" }).workers
    assert_includes configuration({ workers: "auto" }).arguments, "--workers=auto"
  end

  def test_a_file_may_be_shared_with_the_core
    with_file("port 4000\nmode 'threads:5'\nafter_fork { 1 }\n") do |path|
      result = configuration(file: path)
      assert_equal [4000, %i[mode after_fork]], [result.port, result.unheeded]
    end
  end

  def test_what_is_shared_is_checked_alike
    [Upwell::Configuration, Upwell::Opal::Configuration].each do |kind|
      error = assert_raises(Upwell::ConfigurationError) { kind.new({ port: "x" }, environment: {}) }
      assert_equal 'option port: must be a port from 0 to 65535, got "x"', error.message
    end
  end

  def test_a_file_with_a_setting_that_nobody_has_is_refused
    with_file("prot 4000\n") do |path|
      error = assert_raises(Upwell::ConfigurationError) { configuration(file: path) }
      assert_match(/upwell\.rb:1: unknown setting prot \(did you mean port\?\)/, error.message)
    end
  end
end
