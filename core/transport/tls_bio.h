/* How OpenSSL reads and writes here: what has been received is read where it lies, and what is to be sent goes into the
 * buffer with which it leaves. */
#ifndef UW_TRANSPORT_TLS_BIO_H
#define UW_TRANSPORT_TLS_BIO_H

#include "transport/tls_buffers.h"

struct uw_tls_carrier {
    struct uw_tls_buffers *buffers;
    const char *input; /* ciphertext that has come and not been read yet */
    size_t input_left;
    struct uw_tls_buffer *output; /* ciphertext that is to leave, or NULL */
};

/* NULL when memory is exhausted. */
BIO_METHOD *uw_tls_bio_method_new(void);
BIO *uw_tls_bio_new(const BIO_METHOD *method, struct uw_tls_carrier *carrier);

#endif
