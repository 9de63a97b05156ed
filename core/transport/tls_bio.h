/* How OpenSSL reads and writes here: what has been received is read where it lies, and what is to be sent goes into the
 * buffer with which it leaves. Once the kernel seals (see tls_kernel.h), OpenSSL writes nothing but messages of the
 * handshake and alerts, which go out at once. */
#ifndef UW_TRANSPORT_TLS_BIO_H
#define UW_TRANSPORT_TLS_BIO_H

#include "transport/tls_buffers.h"

struct uw_tls_carrier {
    struct uw_tls_buffers *buffers;
    const char *input; /* ciphertext that has come and not been read yet */
    size_t input_left;
    struct uw_tls_buffer *output;  /* ciphertext that is to leave, or NULL */
    struct uw_tls_buffer *leaving; /* and that is in the kernel, or NULL */
    int fd;
    bool kernel_seals;   /* from now on: of what it has been given before, all was ciphertext */
    uint8_t record_type; /* of what OpenSSL writes next, then; 0: it has not said */
};

/* NULL when memory is exhausted. */
BIO_METHOD *uw_tls_bio_method_new(void);
BIO *uw_tls_bio_new(const BIO_METHOD *method, struct uw_tls_carrier *carrier);

#endif
