/* A stand-in for kqueue where the kernel has none: so much of it as the backend uses, as FreeBSD's and macOS' manuals
 * say it behaves. For tests of the backend. */
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
#ifndef UW_WITHOUT_EVFILT_EXCEPT /* as on FreeBSD */
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

#define EV_SET(event, identity, of_filter, of_flags, of_fflags, of_data, of_udata) \
    (*(event) = (struct kevent){(identity), (of_filter), (of_flags), (of_fflags), (of_data), (of_udata)})

int kqueue(void);
int kevent(int fd, const struct kevent *changes, int change_count, struct kevent *events, int event_count,
           const struct timespec *timeout);

#endif
