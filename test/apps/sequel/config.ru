# frozen_string_literal: true

require "sequel"

if ENV["OLD"]
  Sequel.send(:remove_const, :VERSION)
  Sequel.const_set(:VERSION, ENV["OLD"])
end
DB = Sequel.mock(max_connections: 2, pool_timeout: 0.1, single_threaded: ENV.key?("SINGLE_THREADED"))

# Each has its connection for longer than others wait for one.
run ->(_env) { DB.synchronize { sleep 0.2 } && [200, {}, []] }
