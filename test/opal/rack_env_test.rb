# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"

# The env is filled when it is first asked for anything: by whatever method of a Hash, it has what MRI's has.
class OpalRackEnvTest < Minitest::Test
  include OpalRuntimes

  APP = File.expand_path("support/env_first_access.ru", __dir__)
  REQUESTS = 33

  OpalProcess::RUNTIMES.each_key do |command|
    define_method("test_each_method_fills_it_on_#{command}") do
      need(command)
      expected = ServerProcess.open(app: APP) { |server| answers(server.port) }
      assert_equal(expected, OpalProcess.open(command, app: APP) { |server| answers(server.port) })
    end
  end

  private

  def answers(port)
    Array.new(REQUESTS) { RawClient.get(port, "/").body }
  end
end
