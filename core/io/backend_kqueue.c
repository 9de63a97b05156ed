/* kqueue, level-triggered or for one event: see `man 2 kqueue`. */
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

/* What tells of each event; without EVFILT_EXCEPT, as on FreeBSD, nothing tells of urgent data. */
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
    pid_t process;  /* whose it is: a child process does not inherit it */
    uint16_t *told; /* by descriptor: events that have come, and that nobody was told of yet */
    int told_size;
};

struct changes {
    struct kevent list[CHANGES_MAX];
    int count;
};

static struct kqueue_set *set_of(struct uw_loop *loop)
{
    return uw_owner(loop->backend_state, struct kqueue_set, readiness);
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

/* Adds a change of the same kind for each of the events. */
static void change(struct changes *changes, int fd, unsigned events, unsigned action)
{
    for (size_t i = 0; i < FILTERS; i++) {
        if (events & filters[i].event) {
            struct kevent *next = &changes->list[changes->count++];

            EV_SET(next, (uintptr_t)fd, filters[i].filter, (uint16_t)(action | EV_RECEIPT), filters[i].flags, 0, NULL);
        }
    }
}

/* What is no socket has no urgent data, and need not be asked for it; what was told of, see await_change, had some. */
static bool must_succeed(const struct kevent *change)
{
    return change->flags & EV_ADD &&
           (change->filter == EVFILT_READ || change->filter == EVFILT_WRITE || change->flags & EV_CLEAR);
}

/* Each change has a receipt. Deleting may fail: a closed descriptor is forgotten by the kernel. Returns 0 or -errno. */
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

/* An event that was wanted once has been disabled with its coming; see await_change for what is urgent. */
static bool is_silent(unsigned old)
{
    unsigned events = old & ~UW_ONCE;

    return old & UW_ONCE && (events & (events - 1)) == 0 && events != POLLPRI;
}

/* A plain file is always ready, but kqueue waits until it has grown. Returns -EPERM for such; or 0; or another -errno.
 */
static int check_kind(int fd)
{
    struct stat status;

    if (fstat(fd, &status))
        return -errno;
    return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) ? -EPERM : 0;
}

/* Whether events are told once is settled when a filter is added: to change that it has to be deleted before. */
static int register_events(const struct kqueue_set *set, int fd, unsigned old, unsigned new)
{
    bool same_kind = old && (old & UW_ONCE) == (new &UW_ONCE);
    struct changes changes = {.count = 0};

    change(&changes, fd, same_kind ? old & ~new : POLLIN | POLLOUT | POLLPRI, EV_DELETE);
    change(&changes, fd, new, EV_ADD | EV_ENABLE | (new &UW_ONCE ? EV_DISPATCH : 0));
    return make(set, &changes);
}

/* As they were before some of them were refused. */
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
    set->told[fd] = 0; /* of another file perhaps; what is true of this one comes again */
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

/* That nothing urgent will come is no event for who waits for that alone, unless nothing can be sent either. */
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

/* poll(2) of macOS cannot be asked: it calls it a hang-up, too, that there is no more to read, though one may write. */
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

/* Of a state that is no event: it comes again when it has changed, and now, which then is known by its flag. Returns
 * what has come all the same: who cannot be told of a change would wait for ever. */
static unsigned await_change(const struct kqueue_set *set, const struct kevent *event)
{
    struct changes changes = {.count = 0};

    if (event->flags & EV_CLEAR)
        return 0;
    change(&changes, (int)event->ident, event_of(event), EV_DELETE);
    change(&changes, (int)event->ident, event_of(event), EV_ADD | EV_CLEAR);
    return make(set, &changes) ? POLLERR : 0;
}

/* What came for reading and what came for writing is one event of the descriptor. Returns how many such there are; they
 * are the first of the list. */
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

/* Returns whether all were told: a callback may have changed what is wanted of another descriptor. */
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

/* Who waits for nothing but what cannot be told would wait for ever. */
static void kqueue_submit(struct uw_loop *loop, struct uw_operation *operation)
{
    bool polls = operation->verb == UW_POLL || operation->verb == UW_WATCH;

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
        return errno == EINTR ? UW_TOLD_SOME : -errno;
    if (count == 0)
        return UW_TOLD_NOTHING;
    all = tell(loop, events, join(set, events, count));
    return all && count < EVENTS_PER_WAIT ? UW_TOLD_ALL : UW_TOLD_SOME;
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
typedef int uw_backend_kqueue_is_left_out; /* ISO C wants a declaration */
#endif
