#ifndef UW_WINDOWS_POLL_H
#define UW_WINDOWS_POLL_H

#include "windows/poll_events.h"
#include "windows/posix_renames.h"

#define POLLIN UW_EVENT_IN
#define POLLPRI UW_EVENT_PRI
#define POLLOUT UW_EVENT_OUT
#define POLLERR UW_EVENT_ERR
#define POLLHUP UW_EVENT_HUP
#define POLLNVAL UW_EVENT_NVAL

typedef unsigned long nfds_t;

struct pollfd {
    int fd;
    short events, revents;
};

int poll(struct pollfd *items, nfds_t count, int wait_ms) UW_RENAMED(poll);

#endif
