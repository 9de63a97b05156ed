/* TLS by the kernel (kTLS), for what is sent: it seals bytes on their way into the socket, and files without their
 * passing through here. Receiving stays with OpenSSL, see docs/decisions/019-tls.md. */
#ifndef UW_TRANSPORT_TLS_KERNEL_H
#define UW_TRANSPORT_TLS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether this kernel can. */
bool uw_tls_kernel_probe(void);

/* Has the kernel seal all that is sent on the socket from now on. `keys` is its own struct tls_crypto_info, of the
 * length that belongs to the cipher. Returns 0; or -errno, and then bytes go out as they are, as before. */
int uw_tls_kernel_start(int fd, const void *keys);

/* Sends a record of that type (RFC 8446, 5.1), at once: what goes there else is of the type for application data.
 * Returns 0 or -errno: -EAGAIN when there is no room. */
int uw_tls_kernel_send_record(int fd, uint8_t type, const void *bytes, size_t length);

#endif
