/* Trusts the certificates of clients by the CA certificates that sign them. */
#ifndef UW_TRANSPORT_TLS_CLIENT_CA_H
#define UW_TRANSPORT_TLS_CLIENT_CA_H

#include "transport/tls_openssl.h"

#define UW_TLS_CLIENT_CHAIN_MAX 8                 /* certificates between the client's and the trusted one */
#define UW_TLS_CLIENT_CHAIN_BYTES_MAX (32 * 1024) /* limit for all that a client sends */

/* Requests certificates from clients as the settings say. Sessions of other settings are not resumed. Returns 0, or
 * -errno with a sentence. */
int uw_tls_clients_trust(SSL_CTX *ssl_context, const struct uw_tls_settings *settings,
                         char message[UW_TLS_MESSAGE_BYTES_MAX]);

#endif
