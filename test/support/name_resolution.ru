# frozen_string_literal: true

require "net/http"

# Asks this very server, on the port of the query, by a name that takes its time to be found.
asks = lambda do |env|
  [200, {}, [Net::HTTP.get(URI("http://asked.slow.test:#{env["QUERY_STRING"]}/asked"))]]
end

run ->(env) { env["PATH_INFO"] == "/asks" ? asks.call(env) : [200, {}, ["answered"]] }
