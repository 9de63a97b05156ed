/* kqueue, level-triggered or one-shot: see `man 2 kqueue`. */
#ifdef UW_HAVE_KQUEUE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/event.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/system.h"
#include "io/readiness.h"

#define EVENTS_PER_WAIT 256
#define DESCRIPTORS_MIN 64

/* Each event has a filter. FreeBSD lacks EVFILT_EXCEPT, so no filter reports urgent data there. */
static const struct {
    unsigned event;
    int16_t filter;
    uint32_t flags;
} filters[] = {
    {POLLIN, EVFILT_READ, 0},
    {POLLOUT, EVFILT_WRITE, 0},
#ifdef EVFILT_EXCEPT
    {POLLPRI, EVFILT_EXCEPT, NOTE_OOB},
#endif
};

#define FILTERS (sizeof filters / sizeof *filters)
#define CHANGES_MAX (2 * FILTERS)

struct kqueue_set {
    struct uw_readiness readiness;
    int fd;
    pid_t process;  /* the owner: a child process does not inherit a kqueue */
    uint16_t *told; /* by descriptor: events that arrived and are not delivered yet */
    int told_size;
};

struct changes {
    struct kevent list[CHANGES_MAX];
    int count;
};

static struct kqueue_set *set_of(struct uw_loop *loop)
{
    return uw_container_of(loop->backend_state, struct kqueue_set, readiness);
}

static int kqueue_open(struct uw_loop *loop)
{
    struct kqueue_set *set = malloc(sizeof *set);
    int error;

    if (!set)
        return -ENOMEM;
    set->fd = kqueue();
    if (set->fd < 0 || fcntl(set->fd, F_SETFD, FD_CLOEXEC) < 0) {
        error = -errno;
        if (set->fd >= 0)
            close(set->fd);
        free(set);
        return error;
    }
    set->process = getpid();
    set->told = NULL;
    set->told_size = 0;
    uw_readiness_open(loop, &set->readiness);
    return 0;
}

static void kqueue_close(struct uw_loop *loop)
{
    struct kqueue_set *set = set_of(loop);

    if (set->process == getpid())
        close(set->fd);
    free(set->told);
    uw_readiness_close(&set->readiness);
    free(set);
}

static int grow_told(struct kqueue_set *set, int fd)
{
    int size = set->told_size ? set->told_size : DESCRIPTORS_MIN;
    uint16_t *told;

    if (fd < set->told_size)
        return 0;
    while (size <= fd)
        size *= 2;
    told = realloc(set->told, (size_t)size * sizeof *told);
    if (!told)
        return -ENOMEM;
    memset(told + set->told_size, 0, (size_t)(size - set->told_size) * sizeof *told);
    set->told = told;
    set->told_size = size;
    return 0;
}

/* Adds the same change for each of the events. */
static void change(struct changes *changes, int fd, unsigned events, unsigned action)
{
    for (size_t i = 0; i < FILTERS; i++) {
        if (events & filters[i].event) {
            struct kevent *next = &changes->list[changes->count++];

            EV_SET(next, (uintptr_t)fd, filters[i].filter, (uint16_t)(action | EV_RECEIPT), filters[i].flags, 0, NULL);
        }
    }
}

/* Only sockets have urgent data, so this filter may fail for other files. It must not fail after such an event: see
 * await_change. */
static bool must_succeed(const struct kevent *change)
{
    return change->flags & EV_ADD &&
           (change->filter == EVFILT_READ || change->filter == EVFILT_WRITE || change->flags & EV_CLEAR);
}

/* Each change has a receipt. A deletion may fail: the kernel forgets a closed descriptor. Returns 0 or -errno. */
static int make(const struct kqueue_set *set, const struct changes *changes)
{
    static const struct timespec at_once;
    struct kevent receipts[CHANGES_MAX];
    int count = kevent(set->fd, changes->list, changes->count, receipts, changes->count, &at_once);

    if (count < 0)
        return -errno;
    for (int i = 0; i < count; i++)
        if (receipts[i].flags & EV_ERROR && receipts[i].data && must_succeed(&changes->list[i]))
            return -(int)receipts[i].data;
    return 0;
}

static void delete_all(const struct kqueue_set *set, int fd)
{
    struct changes changes = {.count = 0};

    change(&changes, fd, POLLIN | POLLOUT | POLLPRI, EV_DELETE);
    (void)make(set, &changes);
}

/* Returns whether the only event was one-shot and is disabled. See await_change for urgent data. */
static bool is_silent(unsigned old)
{
    unsigned events = old & ~UW_ONCE;

    return old & UW_ONCE && (events & (events - 1)) == 0 && events != POLLPRI;
}

/* A plain file is always ready, but kqueue waits until the file grows. Returns -EPERM for a plain file, or 0, or
 * another -errno. */
static int check_kind(int fd)
{
    struct stat status;

    if (fstat(fd, &status))
        return -errno;
    return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) ? -EPERM : 0;
}

/* A filter becomes one-shot only when it is added. To change this, the filter is deleted first. */
static int register_events(const struct kqueue_set *set, int fd, unsigned old, unsigned new)
{
    bool same_kind = old && (old & UW_ONCE) == (new &UW_ONCE);
    struct changes changes = {.count = 0};

    change(&changes, fd, same_kind ? old & ~new : POLLIN | POLLOUT | POLLPRI, EV_DELETE);
    change(&changes, fd, new, EV_ADD | EV_ENABLE | (new &UW_ONCE ? EV_DISPATCH : 0));
    return make(set, &changes);
}

/* Restores the old events after the kernel refused some of the new ones. */
static void restore_events(const struct kqueue_set *set, int fd, unsigned old)
{
    delete_all(set, fd);
    if (old & ~UW_ONCE)
        (void)register_events(set, fd, 0, old);
}

static int kqueue_interest(struct uw_loop *loop, int fd, unsigned old, unsigned new)
{
    struct kqueue_set *set = set_of(loop);
    int error = grow_told(set, fd);

    if (error)
        return error;
    set->told[fd] = 0; /* may be another file's; present events come again */
    if (new == 0 || new == UW_ONCE) {
        if (new == 0 || !is_silent(old))
            delete_all(set, fd);
        return 0;
    }
    error = old & ~UW_ONCE ? 0 : check_kind(fd);
    if (error)
        return error;
    error = register_events(set, fd, old, new);
    if (error)
        restore_events(set, fd, old);
    return error;
}

static unsigned event_of(const struct kevent *event)
{
    for (size_t i = 0; i < FILTERS; i++)
        if (event->filter == filters[i].filter)
            return filters[i].event;
    return 0;
}

static bool is_socket(int fd)
{
    int type;
    socklen_t size = sizeof type;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

/* The end of urgent data alone is no event, unless the socket cannot send either. */
static unsigned end_of_urgent(const struct kevent *event)
{
#ifdef EVFILT_EXCEPT
    if (event->fflags == NOTE_OOB)
        return POLLPRI;
#endif
    if (event->fflags)
        return POLLERR | POLLHUP;
    return uw_hung_up((int)event->ident) ? POLLHUP : 0;
}

/* poll(2) of macOS does not help: it reports a hang-up at the end of reading, even if writing works. */
static unsigned end_of(const struct kevent *event)
{
    unsigned failed = event->fflags ? POLLERR : 0;

    if (event->filter == EVFILT_READ)
        return is_socket((int)event->ident) ? POLLIN | failed : POLLIN | POLLHUP;
    if (event->filter == EVFILT_WRITE)
        return is_socket((int)event->ident) ? POLLOUT | POLLHUP | failed : POLLERR;
    return end_of_urgent(event);
}

static unsigned events_of(const struct kevent *event)
{
    return event->flags & EV_EOF ? end_of(event) : event_of(event);
}

/* Registers a state that is no event as edge-triggered: it is reported once now, with EV_CLEAR, and then at each
 * change. Returns an event if that fails, because the operation would wait for ever. */
static unsigned await_change(const struct kqueue_set *set, const struct kevent *event)
{
    struct changes changes = {.count = 0};

    if (event->flags & EV_CLEAR)
        return 0;
    change(&changes, (int)event->ident, event_of(event), EV_DELETE);
    change(&changes, (int)event->ident, event_of(event), EV_ADD | EV_CLEAR);
    return make(set, &changes) ? POLLERR : 0;
}

/* Joins the read and write events of a descriptor. Returns how many descriptors have events; they are the first of the
 * list. */
static int join(struct kqueue_set *set, struct kevent *events, int count)
{
    int joined = 0;

    for (int i = 0; i < count; i++) {
        uint16_t *told = &set->told[events[i].ident];
        unsigned came = events_of(&events[i]);
        bool first;

        if (!came)
            came = await_change(set, &events[i]);
        first = !*told && came;
        *told |= (uint16_t)came;
        if (first)
            events[joined++] = events[i];
    }
    return joined;
}

/* Returns whether all events were delivered: a callback may change the interest in another descriptor. */
static bool tell(struct uw_loop *loop, const struct kevent *events, int count)
{
    struct kqueue_set *set = set_of(loop);
    bool all = true;

    for (int i = 0; i < count; i++) {
        int fd = (int)events[i].ident;
        unsigned told = set->told[fd];

        set->told[fd] = 0;
        if (told)
            uw_ready(loop, fd, told);
        else
            all = false;
    }
    return all;
}

static bool is_told(unsigned events)
{
    for (size_t i = 0; i < FILTERS; i++)
        if (events & filters[i].event)
            return true;
    return false;
}

/* A poll that asks only for events without a filter would wait for ever. */
static void kqueue_submit(struct uw_loop *loop, struct uw_operation *operation)
{
    bool polls = operation->opcode == UW_POLL || operation->opcode == UW_WATCH;

    if (polls && !is_told(operation->length))
        uw_complete_later(loop, operation, -EOPNOTSUPP);
    else
        uw_readiness_submit(loop, operation);
}

static int kqueue_wait(struct uw_loop *loop, int64_t wait_ns)
{
    struct kevent events[EVENTS_PER_WAIT];
    struct kqueue_set *set = set_of(loop);
    int wait_ms = uw_wait_ms(wait_ns), count;
    struct timespec wait = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * UW_NS_PER_MS};
    bool all;

    count = kevent(set->fd, NULL, 0, events, EVENTS_PER_WAIT, wait_ms < 0 ? NULL : &wait);
    loop->now_ns = uw_clock_ns();
    if (count < 0)
        return errno == EINTR ? UW_WAIT_SOME : -errno;
    if (count == 0)
        return UW_WAIT_NOTHING;
    all = tell(loop, events, join(set, events, count));
    return all && count < EVENTS_PER_WAIT ? UW_WAIT_ALL : UW_WAIT_SOME;
}

const struct uw_backend uw_backend_kqueue = {
    .name = "kqueue",
    .open = kqueue_open,
    .close = kqueue_close,
    .submit = kqueue_submit,
    .cancel = uw_readiness_cancel,
    .forget = uw_readiness_forget,
    .wait = kqueue_wait,
    .interest = kqueue_interest,
};

#else
typedef int uw_backend_kqueue_is_left_out; /* ISO C requires a declaration */
#endif
