# frozen_string_literal: true

require "active_support"

ENDED = Queue.new

# Begins two executions, and ends none.
def lose
  %w[first last].each do |name|
    execution = Class.new(ActiveSupport::Executor)
    execution.to_complete do
      ENDED << name
      raise "#{name} on purpose"
    end
    execution.run!
  end
end

PAGES = {
  "/callables" => ->(env) { env["rack.response_finished"].size.to_s },
  "/lose" => ->(_) { lose && "lost" },
  "/ended" => ->(_) { Array.new(ENDED.size) { ENDED.pop }.join(" ") }
}.freeze

require "active_support/executor" if ENV["EXECUTOR"]
run ->(env) { [200, {}, [PAGES.fetch(env["PATH_INFO"]).call(env)]] }
