# frozen_string_literal: true

# Who the client is, as far as TLS tells. In this folder: upwell --self-signed, and then: curl -k https://localhost:3000
run lambda { |env|
  facts = env.select { |name, _| name.start_with?("SSL_", "HTTPS", "rack.url_scheme") && name != "SSL_CLIENT_CERT" }
  [200, { "content-type" => "text/plain" }, [facts.map { |name, value| "#{name}: #{value}\n" }.join]]
}
