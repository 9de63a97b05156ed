# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/channel_checks"
require_relative "../support/opal_runtimes"

# Publish and subscribe, by clients and by the process, on each JavaScript runtime: the application is the one of the tests on MRI.
class OpalChannelsTest < Minitest::Test
  include ChannelChecks
  include OpalRuntimes

  CHECKS = %i[too_many_patterns channels forms patterns blocks unsubscribing errors listeners].freeze

  OpalProcess::RUNTIMES.each_key do |command|
    define_method(:"test_all_of_it_on_#{command}") do
      need(command)
      OpalProcess.open(command, "--drain-timeout", "2", app: "channels.ru") do |server|
        CHECKS.each { |name| send(:"check_#{name}", server) }
        assert_predicate server.stop, :success?, server.lines.join
      end
    end
  end

  private

  # Who subscribes has done so when it is told.
  def await_patterns(_server, _number); end
end
