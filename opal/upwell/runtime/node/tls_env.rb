# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  module Runtime
    class Node
      # What TLS adds to the env.
      module TLSEnv
        class << self
          # @param socket [JavaScript TLSSocket]
          # @return [Hash{String => String}]
          def of(socket)
            env = { "HTTPS" => "on", "SSL_PROTOCOL" => `socket.getProtocol()`, "SSL_CIPHER" => `socket.getCipher().name`,
                    "SSL_CLIENT_VERIFY" => "NONE" }
            env["SSL_TLS_SNI"] = `socket.servername` if `socket.servername`
            certificate = `socket.getPeerX509Certificate() || nil`
            certificate ? env.merge(client(certificate)) : env
          end

          private

          def client(certificate)
            { "SSL_CLIENT_VERIFY" => "SUCCESS", "SSL_CLIENT_CERT" => `certificate.toString()`,
              "SSL_CLIENT_S_DN" => name(`certificate.subject`), "SSL_CLIENT_I_DN" => name(`certificate.issuer`),
              "SSL_CLIENT_M_SERIAL" => `certificate.serialNumber` }
          end

          # As RFC 2253 writes it.
          def name(lines)
            lines.split("\n").reverse.join(",")
          end
        end
      end
    end
  end
end
