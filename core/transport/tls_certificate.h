/* Reads a server certificate and its key from files. */
#ifndef UW_TRANSPORT_TLS_CERTIFICATE_H
#define UW_TRANSPORT_TLS_CERTIFICATE_H

#include <stdbool.h>

#include "transport/tls_ocsp.h"

struct uw_tls_identity {
    X509 *certificate;
    STACK_OF(X509) * chain;
    EVP_PKEY *key;
    struct uw_tls_ocsp ocsp;
};

/* Reads the files. Returns 0, or -errno with a sentence in `message`. An OCSP response that is not valid now, or a key
 * that every user can read, adds a warning to `message`. The caller must free `identity` in both cases. */
int uw_tls_identity_read(struct uw_tls_identity *identity, const struct uw_tls_certificate *paths,
                         char message[UW_TLS_MESSAGE_BYTES_MAX]);
void uw_tls_identity_free(struct uw_tls_identity *identity);

/* Returns true if the certificate is for `host`, by its alternative names or, without them, its common name. With
 * `wildcards`, names that begin with "*." match too. */
bool uw_tls_identity_matches(const struct uw_tls_identity *identity, const char *host, bool wildcards);

/* Returns a host of the certificate, which the caller frees. Returns NULL without a host or without memory. */
char *uw_tls_identity_host(const struct uw_tls_identity *identity);

#endif
