/* Kernel TLS (kTLS) for sending. The kernel seals bytes on their way into the socket, and sends files without a copy
 * through user space. OpenSSL still receives, see docs/decisions/019-tls.md. */
#ifndef UW_TRANSPORT_TLS_KERNEL_H
#define UW_TRANSPORT_TLS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true if the kernel supports kTLS. */
bool uw_tls_kernel_probe(void);

/* Makes the kernel seal all further bytes that are sent on the socket. `keys` is the kernel's struct tls_crypto_info
 * with the keys of the cipher. Returns 0, or -errno. After an error the socket still sends bytes unchanged. */
int uw_tls_kernel_start(int fd, const void *keys);

/* Sends a record of type `type` (RFC 8446, section 5.1) at once. Other sends have the type application data. Returns 0
 * or -errno. -EAGAIN: the socket has no space. */
int uw_tls_kernel_send_record(int fd, uint8_t type, const void *bytes, size_t length);

#endif
