# frozen_string_literal: true

# Falcon with one process, the certificate and the TLS version of the others, for which its command has no option. LISTEN=PORT,CERTIFICATE,KEY

require "falcon/environment/rackup"
require "falcon/environment/server"
require "openssl"

port, certificate, key = ENV.fetch("LISTEN").split(",")

service "bench" do
  include Falcon::Environment::Server
  include Falcon::Environment::Rackup

  count 1
  rackup_path { File.expand_path("config.ru") }
  url { "https://127.0.0.1:#{port}" }
  endpoint_options do
    context = OpenSSL::SSL::SSLContext.new
    context.min_version = :TLS1_3
    context.add_certificate(OpenSSL::X509::Certificate.new(File.read(certificate)), OpenSSL::PKey.read(File.read(key)))
    super().merge(ssl_context: context)
  end
end
