/* Verifies client certificates by CA certificates. */
#ifndef UW_TRANSPORT_TLS_CLIENT_CA_H
#define UW_TRANSPORT_TLS_CLIENT_CA_H

#include "transport/tls_openssl.h"

#define UW_TLS_CLIENT_CHAIN_MAX 8                 /* maximum number of certificates between the client's and the CA's */
#define UW_TLS_CLIENT_CHAIN_BYTES_MAX (32 * 1024) /* maximum bytes of all certificates of a client */

/* Requests client certificates according to the settings. Sessions with other settings are not resumed. Returns 0, or
 * -errno with a sentence in `message`. */
int uw_tls_clients_trust(SSL_CTX *ssl_context, const struct uw_tls_settings *settings,
                         char message[UW_TLS_MESSAGE_BYTES_MAX]);

#endif
