# frozen_string_literal: true

require "rack"
require "rack/cors"

use Rack::Cors do
  allow do
    origins "http://one.example", /\Ahttp:\/\/[a-z]+\.two\.example(:\d+)?\z/
    resource "/api/*", headers: :any, methods: %i[get post put], expose: %w[x-shown], max_age: 600, credentials: true
    resource "/plain", headers: %w[x-asked], methods: :get
  end
  allow do
    origins "*"
    resource "/public/*", headers: :any, methods: %i[get options]
  end
end
run ->(_) { [200, { "content-type" => "text/plain", "x-shown" => "1" }, ["served"]] }
