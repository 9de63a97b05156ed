# frozen_string_literal: true

# TLS on every address. `upwell --self-signed` makes a certificate for development; in production name yours, and leave that option out:
secure

# certificate "/etc/letsencrypt/live/example.org/fullchain.pem", key: "/etc/letsencrypt/live/example.org/privkey.pem"
# certificate "/etc/tls/shop.example.pem", key: "/etc/tls/shop.example.key", ocsp: "/etc/tls/shop.example.ocsp"

# Clients that have a certificate of these are told apart; `client_certificate "required"` lets nobody else in.
# ca_file "/etc/tls/clients.pem"
