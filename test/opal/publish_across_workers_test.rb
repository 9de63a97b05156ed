# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/publish_across_workers_clients"
require_relative "../support/opal_runtimes"

# What is published in one worker of a cluster is heard in all of them, on each JavaScript runtime.
class OpalPublishAcrossWorkersTest < Minitest::Test
  include PublishAcrossWorkersClients
  include OpalRuntimes

  ORDERED = 500 # messages
  WAYS = %w[client server binary].freeze

  def self.on_each_cluster(name, &block)
    OpalProcess::RUNTIMES.each_key do |command|
      define_method(:"test_#{name}_on_#{command}_cluster") do
        need(command)
        OpalProcess.open("#{command}_cluster", "--drain-timeout", "16", app: "publish_across_workers.ru") do |server|
          instance_exec(server, &block)
        end
      end
    end
  end

  on_each_cluster "it_is_heard_everywhere_once_and_in_order" do |server|
    with_each_worker(server) do |one, other|
      hearers = [one, other, hear(server, other.worker, "&pattern=n?ws"), EventStream.new(server, other.worker)]
      check_ways(server, one, hearers)
      check_order(one, other, hearers)
    ensure
      hearers&.drop(2)&.each(&:close_socket)
    end
    assert_predicate server.stop, :success?, server.lines.join
  end

  # A client of a new worker hears at once what is published elsewhere, and clients of the others go on.
  on_each_cluster "a_worker_that_is_killed" do |server|
    with_each_worker(server) do |staying, other|
      Process.kill("KILL", other.worker)
      with_client(server, ->(pid) { ![staying, other].map(&:worker).include?(pid) }) do |new|
        staying.publish("client", "in")
        new.publish("client", "out")
        [staying, new].each { |client| assert_equal %w[in out], client.hear(2).sort }
      end
    end
  end

  on_each_cluster "the_end_of_the_server" do |server|
    with_each_worker(server) do |one, other|
      one.publish("count", ORDERED.to_s)
      server.signal("TERM")
      [one, other].each do |client|
        assert_equal Array.new(ORDERED, &:to_s), client.hear(ORDERED)
        assert_gone(client)
      end
    end
    assert_predicate server.await_end, :success?
  end

  private

  def check_ways(server, one, hearers)
    workers = hearers.first(2).map(&:worker).sort
    WAYS.each do |way|
      one.publish(way, way)
      hearers.each { |hearer| assert_equal [way], hearer.hear(1) }
      encoding = way == "binary" ? "ASCII-8BIT" : "UTF-8"
      assert_equal workers, Array.new(2) { server.await(/(\d+) heard #{way} #{encoding}\./)[1].to_i }.sort
    end
    one.publish("here", "here")
    assert_equal [["here"], one.worker], [one.hear(1), server.await(/(\d+) heard here/)[1].to_i]
    assert_equal "true", RawClient.get(server.port, "/publish?news=by-a-request").body
    hearers.each { |hearer| assert_equal ["by-a-request"], hearer.hear(1) }
  end

  # Of each publisher, while the other publishes, too.
  def check_order(one, other, hearers)
    numbers = Array.new(ORDERED, &:to_s)
    [one, other].each { |publisher| publisher.send_text("count news #{ORDERED}") }
    hearers.drop(2).each do |hearer|
      heard = hearer.hear(2 * ORDERED)
      assert_equal numbers.flat_map { |number| [number] * 2 }.sort, heard.sort
      assert_equal numbers, heard.uniq
    end
    [one, other].each { |client| assert_equal (numbers * 2).push("done").sort, client.hear((2 * ORDERED) + 1).sort }
  end
end
