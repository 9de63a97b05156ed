# frozen_string_literal: true

# Sends back what it was sent.
run ->(env) { [200, { "content-type" => "application/octet-stream" }, [env["rack.input"].read]] }
