/* Connects OpenSSL to the loop. OpenSSL reads received bytes in place, and writes into the buffer that is sent. Once
 * the kernel seals (see tls_kernel.h), OpenSSL writes only handshake messages and alerts, which are sent at once. */
#ifndef UW_TRANSPORT_TLS_BIO_H
#define UW_TRANSPORT_TLS_BIO_H

#include "transport/tls_buffers.h"

struct uw_tls_carrier {
    struct uw_tls_buffers *buffers;
    const char *input; /* received ciphertext that OpenSSL has not read yet */
    size_t input_left;
    struct uw_tls_buffer *output;  /* ciphertext to send, or NULL */
    struct uw_tls_buffer *leaving; /* ciphertext in the kernel, or NULL */
    int fd;
    bool kernel_seals;   /* from now on the kernel seals; all bytes before were ciphertext */
    uint8_t record_type; /* type of OpenSSL's next record in that case; 0: not set */
};

/* Returns NULL when memory is exhausted. */
BIO_METHOD *uw_tls_bio_method_new(void);
BIO *uw_tls_bio_new(const BIO_METHOD *method, struct uw_tls_carrier *carrier);

#endif
