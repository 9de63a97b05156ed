# frozen_string_literal: true

require_relative "../test_helper"

# A scheduler on a JRuby that would not ask it.
class UnsupportedVersionTest < Minitest::Test
  def test_the_scheduler_says_what_to_take
    error = assert_raises(Upwell::Error) { Upwell::Scheduler.new }
    assert_match(/\AJRuby 9\.4\.\S+ does not call the scheduler .*: use JRuby 10\.1 or later, Upwell::Loop or threads\z/, error.message)
  end
end
