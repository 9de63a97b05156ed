/* Implements the functions of system.h that only Linux has: most of them fail as unsupported. Tests also use this file
 * on Linux, with system_posix_nonlinux.c. */
#if !defined(__linux__) || defined(UW_PORTABLE_SYSTEM)

#include <errno.h>

#include "base/system.h"

static int fail_unsupported(void)
{
    errno = EOPNOTSUPP;
    return -1;
}

int uw_steer(int fd, const uint32_t *indexes, uint32_t count)
{
    (void)fd, (void)indexes, (void)count;
    return -ENOSYS;
}

void uw_drop_syns(int fd)
{
    (void)fd;
}

ssize_t uw_read_now(int fd, void *bytes, size_t length, int64_t offset)
{
    (void)fd, (void)bytes, (void)length, (void)offset;
    return fail_unsupported();
}

ssize_t uw_write_now(int fd, const void *bytes, size_t length, int64_t offset)
{
    (void)fd, (void)bytes, (void)length, (void)offset;
    return fail_unsupported();
}

int uw_open_beneath_at_once(int root, const char *path, int flags)
{
    (void)root, (void)path, (void)flags;
    return -ENOSYS;
}

const void *uw_memory_last(const void *bytes, int byte, size_t length)
{
    const unsigned char *at = bytes;

    while (length-- > 0)
        if (at[length] == (unsigned char)byte)
            return at + length;
    return NULL;
}

#else
typedef int uw_system_stub_nonlinux_is_left_out; /* ISO C requires a declaration */
#endif
