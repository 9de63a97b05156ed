/* A certificate of the server with its key, read from files. */
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

/* Returns 0; or -errno with a sentence. Of an OCSP response that is not valid now, `message` tells as well. `identity`
 * is to be freed in either case. */
int uw_tls_identity_read(struct uw_tls_identity *identity, const struct uw_tls_certificate *paths,
                         char message[UW_TLS_MESSAGE_BYTES_MAX]);
void uw_tls_identity_free(struct uw_tls_identity *identity);

/* Whether it is for that host: one of its alternative names, or without those its common name; with `wildcards` also
 * those that begin with "*.". */
bool uw_tls_identity_matches(const struct uw_tls_identity *identity, const char *host, bool wildcards);

/* A host that it is for, to be freed; NULL when it has none, or memory is exhausted. */
char *uw_tls_identity_host(const struct uw_tls_identity *identity);

#endif
