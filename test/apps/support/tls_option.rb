# frozen_string_literal: true

require "openssl"
require_relative "../../support/certificates"

# TLS=1: the applications are served by TLS, and what asks them speaks it, nginx too.
module TLSOption
  CHOSEN = ENV.key?("TLS")

  # @return [Array<String>] options of the command
  def self.options
    CHOSEN ? Certificates.options : []
  end

  # @return [Hash{Symbol => Object}] options of Net::HTTP.start
  def self.client
    CHOSEN ? { use_ssl: true, ca_file: Certificates.authority.path } : {}
  end

  # @return [Hash{String => String}] whom a process trusts that asks servers, in Ruby or JavaScript
  def self.environment
    CHOSEN ? { "SSL_CERT_FILE" => Certificates.authority.path, "NODE_EXTRA_CA_CERTS" => Certificates.authority.path } : {}
  end

  # @param scheme [String] http or ws
  # @param place [String] host, port and path
  # @return [String]
  def self.url(scheme, place)
    "#{scheme}#{"s" if CHOSEN}://#{place}"
  end

  # What nginx needs, so that it is asked and asks the same way.
  #
  # @return [String] directives of its server
  def self.nginx
    return "" unless CHOSEN

    issued = Certificates.localhost
    "ssl_certificate #{issued.path}; ssl_certificate_key #{issued.key_path}; " \
      "proxy_ssl_verify on; proxy_ssl_name localhost; proxy_ssl_trusted_certificate #{Certificates.authority.path};"
  end
end
