# frozen_string_literal: true

require "minitest/autorun"
require "socket"
require "upwell"
require_relative "../../../bench/io/reactor_connection_watcher"

class ReactorConnectionWatcherTest < Minitest::Test
  # Wants what it is told to, one after another, as a connection that reads and writes would.
  class Connection
    attr_reader :io, :seen
    attr_accessor :awaited

    def initialize(io, *wanted)
      @io = io
      @wanted = wanted
      @seen = []
    end

    def progress
      @seen << @awaited
      @wanted.shift
    end
  end

  def setup
    @reactor = Upwell::Loop.new
    @connections = ReactorConnectionWatcher.new(@reactor)
    @near, @far = UNIXSocket.pair
  end

  def teardown
    [@near, @far].each(&:close)
  end

  def test_a_connection_that_comes_as_an_event_is_watched_as_it_wants_until_it_closes
    connection = Connection.new(@near, :read, :read, :write, :read, :close)
    @far.write("x") # which nobody reads: readable to the end
    @reactor.emit(connection)
    5.times { @connections.progress(@reactor.next_event) }
    assert_equal [nil, :read, :read, :write, :read], connection.seen
    assert_predicate @near, :closed?
  end

  def test_one_that_is_watched_from_the_beginning
    connection = Connection.new(@near, :close)
    @connections.watch(connection, :read)
    @far.write("x")
    @connections.progress(@reactor.next_event)
    assert_equal [:read], connection.seen
    assert_predicate @near, :closed?
  end

  def test_one_that_closes_before_it_is_watched
    connection = Connection.new(@near, :close)
    @connections.progress(connection)
    assert_equal [[nil], true], [connection.seen, @near.closed?]
  end
end
