# frozen_string_literal: true

require "test_helper"

# Whether this process serves, as far as messages are concerned.
class DeliveryTest < Minitest::Test
  PubSub = Upwell::PubSub

  def teardown
    PubSub.delivery = nil
  end

  def test_a_forked_process_does_not_serve
    skip "this Ruby does not fork" unless Process.respond_to?(:fork)

    PubSub.delivery = ->(*) { true }
    assert PubSub.deliver("a", "1")
    pid = fork { exit!(PubSub.delivery.nil? && !PubSub.deliver("a", "1")) }
    assert_predicate Process.wait2(pid).last, :success?
  end
end
