/* A stand-in for kqueue where the kernel has none: so much of it as the core uses, as FreeBSD's and macOS' manuals
 * say it behaves. For tests of the backend; and, compiled as for FreeBSD, of that system's own file. */
#ifndef UW_TEST_KQUEUE_SYS_EVENT_H
#define UW_TEST_KQUEUE_SYS_EVENT_H

#include <stdint.h>
#include <time.h>

struct kevent {
    uintptr_t ident;
    int16_t filter;
    uint16_t flags;
    uint32_t fflags;
    intptr_t data;
    void *udata;
};

#define EVFILT_READ (-1)
#define EVFILT_WRITE (-2)
#define EVFILT_PROC (-5) /* alone in its kqueue */
#ifndef __FreeBSD__
#define EVFILT_EXCEPT (-15)
#endif

#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_ENABLE 0x0004
#define EV_CLEAR 0x0020
#define EV_RECEIPT 0x0040
#define EV_DISPATCH 0x0080
#define EV_ERROR 0x4000
#define EV_EOF 0x8000

#define NOTE_OOB 0x0002
#define NOTE_EXIT 0x80000000

#define EV_SET(event, identity, of_filter, of_flags, of_fflags, of_data, of_udata) \
    (*(event) = (struct kevent){(identity), (of_filter), (of_flags), (of_fflags), (of_data), (of_udata)})

int kqueue(void);
int kevent(int fd, const struct kevent *changes, int change_count, struct kevent *events, int event_count,
           const struct timespec *timeout);

#ifdef __FreeBSD__
#include <sys/types.h>

struct sf_hdtr;

int freebsd_sendfile(int file, int socket, off_t offset, size_t length, struct sf_hdtr *around, off_t *sent, int flags);
#define sendfile freebsd_sendfile
#endif

#endif
