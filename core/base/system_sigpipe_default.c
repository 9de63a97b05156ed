/* Implements system.h for all systems but macOS. */
#ifndef __APPLE__

#include <poll.h>

#include "base/system.h"

void uw_sigpipe_spare(int fd)
{
    (void)fd;
}

bool uw_hung_up(int fd)
{
    struct pollfd item = {.fd = fd};

    return poll(&item, 1, 0) > 0 && item.revents & (POLLHUP | POLLERR);
}

#else
typedef int uw_system_sigpipe_default_is_left_out; /* ISO C requires a declaration */
#endif
