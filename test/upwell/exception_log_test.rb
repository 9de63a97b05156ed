# frozen_string_literal: true

require_relative "../test_helper"
require "delegate"
require "stringio"

# The log of exceptions: whatever the exception and the stream do, the operator gets a line.
class ExceptionLogTest < Minitest::Test
  # Of this process, which may be another than the one that loaded the tests.
  def stamp
    /\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ upwell\[#{Process.pid}\]: /
  end

  # An exception that raises when it is asked what happened.
  class Mute < StandardError
    def initialize(failure)
      super()
      @failure = failure
    end

    def message
      raise @failure
    end
  end

  def raised(error)
    raise error
  rescue StandardError => e
    e
  end

  # @return [Array<String>] what came to rack.errors, and to standard error
  def report(error, errors: StringIO.new, **env)
    _, standard = capture_io { Upwell::ExceptionLog.report(error, { "rack.errors" => errors, "REQUEST_METHOD" => "GET", **env }) }
    [errors.respond_to?(:string) ? errors.string : nil, standard]
  end

  def test_a_record_has_time_process_request_and_backtrace
    told, standard = report(raised(RuntimeError.new("on purpose")), "PATH_INFO" => "/a")
    assert_match(/#{stamp}Error during GET \/a: .*on purpose \(RuntimeError\)/, told)
    assert_includes told, __FILE__
    assert_empty standard
  end

  def test_an_exception_that_cannot_tell_its_message
    [RuntimeError, NotImplementedError, SystemStackError].each do |failure|
      told, = report(raised(Mute.new(failure)), "PATH_INFO" => "/a")
      assert_match(/#{stamp}Error during GET \/a: .*ExceptionLogTest::Mute.*#{__FILE__}/m, told)
    end
  end

  def test_a_request_of_which_an_application_has_made_something_else
    told, = report(raised(RuntimeError.new("on purpose")), "PATH_INFO" => BasicObject.new)
    assert_match(/#{stamp}Error during GET: .*on purpose/, told)
  end

  def test_the_id_of_the_request
    told, = report(raised(RuntimeError.new("on purpose")), "PATH_INFO" => "/a", "upwell.request_id" => "abc")
    assert_match(/#{stamp}\[abc\] Error during GET \/a: .*on purpose/, told)
    told, = report(raised(RuntimeError.new("on purpose")), "upwell.request_id" => "a\n\e\xFF")
    assert_match(/#{stamp}\[a\\x0A\\x1B\\xFF\] Error during GET: .*on purpose/, told)
    told, = report(raised(RuntimeError.new("on purpose")), "upwell.request_id" => BasicObject.new)
    assert_match(/#{stamp}Error during GET: .*on purpose/, told)
  end

  def test_an_object_of_json
    Upwell::Log.json = true
    told, = report(raised(RuntimeError.new("on \"purpose\"")), "PATH_INFO" => "/a", "upwell.request_id" => "abc")
    record = JSON.parse(told)
    assert_equal [Process.pid, "abc"], record.values_at("pid", "request_id")
    assert_match(/\AError during GET \/a: .*on "purpose" \(RuntimeError\)\n.*#{__FILE__}/m, record["message"])
  ensure
    Upwell::Log.json = false
  end

  # A wrapper of standard error: `==` of a delegator compares what is behind it.
  class Tagging < SimpleDelegator
    def write(text)
      super("tagged: #{text}")
    end
  end

  def test_a_stream_of_the_application_s_that_wraps_standard_error
    _, standard = capture_io do
      Upwell::ExceptionLog.report(raised(RuntimeError.new("on purpose")), { "rack.errors" => Tagging.new($stderr) })
    end
    assert_match(/\Atagged: .*on purpose/, standard)
  end

  def test_a_client_that_stays
    _, standard = capture_io do
      Upwell::ExceptionLog.report(raised(RuntimeError.new("on purpose")), { "rack.errors" => Upwell::RackErrorsWrapper.new($stderr) })
    end
    assert_match(/#{stamp}Error during : ?.*on purpose/, standard)
  end

  def test_a_closed_log_of_the_request
    closed = StringIO.new.tap(&:close)
    _, standard = report(raised(RuntimeError.new("on purpose")), errors: closed, "PATH_INFO" => "/a")
    assert_match(/#{stamp}Error during GET \/a: .*on purpose/, standard)
  end

  def test_no_log_at_all
    standard = $stderr
    $stderr = StringIO.new.tap(&:close)
    refute Upwell::ExceptionLog.report(raised(RuntimeError.new("on purpose")), nil)
  ensure
    $stderr = standard
  end

  def test_texts_of_different_encodings
    told, = report(raised(RuntimeError.new("größer")), "PATH_INFO" => "/\xFF".b)
    assert_match(/Error during GET \/\\xFF: .*größer/, told)
  end
end
