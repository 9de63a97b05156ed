#include <string.h>

#include "io/backend.h"

#ifdef UW_HAVE_IO_URING
extern const struct uw_backend uw_backend_io_uring, uw_backend_io_uring_sqpoll;
#endif
#ifdef UW_HAVE_EPOLL
extern const struct uw_backend uw_backend_epoll;
#endif
#ifdef UW_HAVE_KQUEUE
extern const struct uw_backend uw_backend_kqueue;
#endif
#ifdef UW_HAVE_IOCP
extern const struct uw_backend uw_backend_iocp;
#endif
#ifdef UW_HAVE_POLL
extern const struct uw_backend uw_backend_poll;
#endif

const struct uw_backend *const uw_backends[] = {
#ifdef UW_HAVE_IO_URING
    &uw_backend_io_uring,
#endif
#ifdef UW_HAVE_EPOLL
    &uw_backend_epoll,
#endif
#ifdef UW_HAVE_KQUEUE
    &uw_backend_kqueue,
#endif
#ifdef UW_HAVE_IOCP
    &uw_backend_iocp,
#endif
#ifdef UW_HAVE_POLL
    &uw_backend_poll,
#endif
#ifdef UW_HAVE_IO_URING
    &uw_backend_io_uring_sqpoll,
#endif
    NULL,
};

const char *const uw_backend_names[] = {"io_uring", "epoll", "kqueue", "poll", "io_uring_sqpoll", NULL};

const struct uw_backend *uw_backend_find(const char *name)
{
    for (size_t i = 0; uw_backends[i]; i++)
        if (strcmp(uw_backends[i]->name, name) == 0)
            return uw_backends[i];
    return NULL;
}
