/* Who signs the certificates of clients. */
#ifndef UW_TRANSPORT_TLS_CLIENTS_H
#define UW_TRANSPORT_TLS_CLIENTS_H

#include "transport/tls_openssl.h"

#define UW_TLS_CLIENT_CHAIN_MAX 8                 /* certificates between the client's and the trusted one */
#define UW_TLS_CLIENT_CHAIN_BYTES_MAX (32 * 1024) /* of all that a client sends */

/* Has clients be asked for certificates as the settings say. Sessions of other settings are not resumed. Returns 0; or
 * -errno with a sentence. */
int uw_tls_clients_trust(SSL_CTX *ssl_context, const struct uw_tls_settings *settings,
                         char message[UW_TLS_MESSAGE_BYTES_MAX]);

#endif
