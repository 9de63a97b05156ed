/* What whoever signed a certificate says of it (an OCSP response, RFC 6960), to be stapled to handshakes for as long as
 * it is valid. The signature is the client's to verify. */
#ifndef UW_TRANSPORT_TLS_OCSP_H
#define UW_TRANSPORT_TLS_OCSP_H

#include <stdbool.h>

#include "transport/tls_openssl.h"

#define UW_TLS_OCSP_BYTES_MAX 65535 /* of a response to be stapled */

struct uw_tls_ocsp {
    unsigned char *bytes; /* or NULL */
    size_t length;
    int64_t since, until; /* Unix seconds */
};

/* Returns 0; or -errno with a sentence, for one that does not say that the certificate is good. Of one that is not
 * valid now, `message` tells as well. `ocsp` is to be freed in either case. */
int uw_tls_ocsp_read(struct uw_tls_ocsp *ocsp, const struct uw_tls_certificate *paths, X509 *certificate,
                     char message[UW_TLS_MESSAGE_BYTES_MAX]);
void uw_tls_ocsp_free(struct uw_tls_ocsp *ocsp);

/* Whether there is one, which is valid now. */
bool uw_tls_ocsp_is_valid(const struct uw_tls_ocsp *ocsp);

#endif
