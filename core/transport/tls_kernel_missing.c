/* Implements tls_kernel.h on systems without kernel TLS. */
#if !__has_include(<linux/tls.h>) || defined(UW_PORTABLE_SYSTEM)

#include <errno.h>

#include "transport/tls_kernel.h"

bool uw_tls_kernel_probe(void)
{
    return false;
}

int uw_tls_kernel_start(int fd, const void *keys)
{
    (void)fd;
    (void)keys;
    return -ENOSYS;
}

int uw_tls_kernel_send_record(int fd, uint8_t type, const void *bytes, size_t length)
{
    (void)fd;
    (void)type;
    (void)bytes;
    (void)length;
    return -ENOSYS;
}

#endif
