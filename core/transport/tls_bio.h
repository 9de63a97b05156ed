/* Connects OpenSSL to the loop. OpenSSL reads received bytes in place, and writes into the buffer that is sent. With
 * kernel TLS (see tls_kernel.h), OpenSSL writes only handshake messages and alerts, which are sent at once. */
#ifndef UW_TRANSPORT_TLS_BIO_H
#define UW_TRANSPORT_TLS_BIO_H

#include "transport/tls_buffers.h"

struct uw_tls_carrier {
    struct uw_tls_buffers *buffers;
    const char *input; /* received ciphertext that OpenSSL has not read */
    size_t input_left;
    struct uw_tls_buffer *output;    /* ciphertext to send, or NULL */
    struct uw_tls_buffer *in_flight; /* ciphertext of the current send, or NULL */
    int fd;
    bool kernel_seals;   /* kernel TLS seals all further bytes */
    uint8_t record_type; /* type of OpenSSL's next record with kernel TLS. 0: not set */
};

/* Return NULL without memory. */
BIO_METHOD *uw_tls_bio_method_new(void);
BIO *uw_tls_bio_new(const BIO_METHOD *method, struct uw_tls_carrier *carrier);

#endif
