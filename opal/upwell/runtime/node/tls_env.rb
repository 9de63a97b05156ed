# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  module Runtime
    class Node
      # The variables that TLS adds to the env.
      module TLSEnv
        class << self
          # Reads the variables of a connection.
          #
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

          # Formats a name as in RFC 2253.
          def name(lines)
            lines.split("\n").reverse.join(",")
          end
        end
      end
    end
  end
end
