/* Kernel TLS (kTLS) for sending: the kernel seals bytes on their way into the socket, and files without a copy through
 * user space. OpenSSL still receives, see docs/decisions/019-tls.md. */
#ifndef UW_TRANSPORT_TLS_KERNEL_H
#define UW_TRANSPORT_TLS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether the kernel supports kTLS. */
bool uw_tls_kernel_probe(void);

/* Makes the kernel seal all that is sent on the socket from now on. `keys` is the kernel's struct tls_crypto_info, with
 * the length of the cipher. Returns 0, or -errno and the socket still sends bytes unchanged. */
int uw_tls_kernel_start(int fd, const void *keys);

/* Sends a record of that type (RFC 8446, 5.1) at once; other sends have the type for application data. Returns 0 or
 * -errno: -EAGAIN when the socket has no space. */
int uw_tls_kernel_send_record(int fd, uint8_t type, const void *bytes, size_t length);

#endif
