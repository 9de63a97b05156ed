/* On poll(2), in no time for many descriptors: what matters is that it behaves. Each kqueue is one thread's. */
#include "sys/event.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUEUES_MAX 65536

/* Belongs to a file, not to its number: whoever closes the file deletes it. */
struct note {
    struct kevent event; /* what it was added with, which later additions do not change */
    bool enabled;
    bool cleared; /* EV_CLEAR: told, and not again until there is more to tell */
    dev_t device;
    ino_t inode;
};

struct queue {
    dev_t device; /* of what has the number */
    ino_t inode;
    struct note *notes;
    struct pollfd *items; /* as many */
    int count, size;
    int next; /* to be told first: who was told has to wait until all others were */
};

static struct queue *queues[QUEUES_MAX]; /* by descriptor */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&lock);
}

/* Its number may be another file's by now. */
static bool is_open(int fd)
{
    struct stat status;

    return queues[fd] && fstat(fd, &status) == 0 && status.st_dev == queues[fd]->device &&
           status.st_ino == queues[fd]->inode;
}

/* A child inherits none. */
static void close_all(void)
{
    for (int fd = 0; fd < QUEUES_MAX; fd++)
        if (is_open(fd))
            close(fd);
    give_lock();
}

__attribute__((constructor)) static void notice_forks(void)
{
    if (pthread_atfork(take_lock, give_lock, close_all))
        abort();
}

int kqueue(void)
{
    int fd = memfd_create("kqueue", MFD_CLOEXEC); /* whose inode is no other's */
    struct stat status;
    struct queue *queue;

    if (fd < 0)
        return -1;
    if (fd >= QUEUES_MAX || fstat(fd, &status))
        abort();
    pthread_mutex_lock(&lock);
    queue = queues[fd] ? queues[fd] : calloc(1, sizeof *queue); /* the last one of this number was closed */
    if (!queue)
        abort();
    queues[fd] = queue;
    queue->device = status.st_dev;
    queue->inode = status.st_ino;
    queue->count = queue->next = 0;
    pthread_mutex_unlock(&lock);
    return fd;
}

static struct queue *queue_of(int fd)
{
    struct queue *queue;

    pthread_mutex_lock(&lock);
    queue = fd >= 0 && fd < QUEUES_MAX && is_open(fd) ? queues[fd] : NULL;
    pthread_mutex_unlock(&lock);
    return queue;
}

static void drop(struct queue *queue, struct note *note)
{
    *note = queue->notes[--queue->count];
}

static bool is_closed(const struct note *note)
{
    struct stat status;

    return fstat((int)note->event.ident, &status) || status.st_dev != note->device || status.st_ino != note->inode;
}

static struct note *find(struct queue *queue, const struct kevent *change)
{
    for (struct note *note = queue->notes; note < queue->notes + queue->count; note++) {
        if (note->event.ident != change->ident || note->event.filter != change->filter)
            continue;
        if (!is_closed(note))
            return note;
        drop(queue, note);
        return NULL;
    }
    return NULL;
}

static void grow(struct queue *queue)
{
    if (queue->count < queue->size)
        return;
    queue->size = queue->size ? 2 * queue->size : 64;
    queue->notes = realloc(queue->notes, (size_t)queue->size * sizeof *queue->notes);
    queue->items = realloc(queue->items, (size_t)queue->size * sizeof *queue->items);
    if (!queue->notes || !queue->items)
        abort();
}

static bool has_no_reader(int pipe)
{
    struct pollfd item = {.fd = pipe, .events = POLLOUT};

    return poll(&item, 1, 0) > 0 && item.revents & POLLERR;
}

static int add(struct queue *queue, const struct kevent *change)
{
    struct stat status;

    if (fstat((int)change->ident, &status))
        return EBADF;
    if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
        abort(); /* ready but for its end, which nobody here would want */
    if (change->filter != EVFILT_READ && change->filter != EVFILT_WRITE && !S_ISSOCK(status.st_mode))
        return EINVAL; /* EVFILT_EXCEPT */
    if (change->filter == EVFILT_WRITE && S_ISFIFO(status.st_mode) && has_no_reader((int)change->ident))
        return EPIPE; /* as FreeBSD's has it */
    grow(queue);
    queue->notes[queue->count++] =
        (struct note){.event = *change, .enabled = true, .device = status.st_dev, .inode = status.st_ino};
    return 0;
}

/* The kqueue becomes a descriptor of the process, which is readable when that has ended. */
static int watch_process(int fd, pid_t pid)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0), error = errno;

    if (process < 0)
        return error;
    error = dup3(process, fd, O_CLOEXEC) < 0 ? errno : 0;
    close(process);
    return error;
}

static int make(struct queue *queue, const struct kevent *change)
{
    struct note *note = find(queue, change);

    if (change->flags & EV_DELETE && note)
        drop(queue, note);
    else if (change->flags & EV_ADD && !note)
        return add(queue, change);
    else if (note) {
        note->enabled = note->enabled || change->flags & EV_ENABLE;
        note->cleared = false;
    }
    return note ? 0 : ENOENT;
}

/* Returns how many receipts there are, and errors; or -1 where there is no room for one. */
static int make_all(int fd, struct queue *queue, const struct kevent *changes, int change_count, struct kevent *events)
{
    int told = 0;

    for (int i = 0; i < change_count; i++) {
        int error =
            changes[i].filter == EVFILT_PROC ? watch_process(fd, (pid_t)changes[i].ident) : make(queue, &changes[i]);

        if (!error && !(changes[i].flags & EV_RECEIPT))
            continue;
        if (!events) {
            errno = error;
            return -1;
        }
        events[told] = changes[i];
        events[told].flags |= EV_ERROR;
        events[told++].data = error;
    }
    return told;
}

static short wanted(const struct note *note)
{
    if (note->cleared)
        return 0; /* poll(2) tells of an end of all */
    if (note->event.filter == EVFILT_READ)
        return POLLIN | POLLRDHUP;
    return note->event.filter == EVFILT_WRITE ? POLLOUT : POLLPRI | POLLRDHUP;
}

static int wait_for(struct queue *queue, const struct timespec *timeout)
{
    for (int i = queue->count - 1; i >= 0; i--)
        if (is_closed(&queue->notes[i]))
            drop(queue, &queue->notes[i]);
    for (int i = 0; i < queue->count; i++) {
        const struct note *note = &queue->notes[i];

        queue->items[i] = (struct pollfd){.fd = note->enabled ? (int)note->event.ident : -1, .events = wanted(note)};
    }
    return ppoll(queue->items, (nfds_t)queue->count, timeout, NULL);
}

/* An end of what comes is one but for writing; an end of all is one for that, too. */
static bool is_end(const struct note *note, short revents)
{
    return revents & (POLLHUP | POLLERR) || (note->event.filter != EVFILT_WRITE && revents & POLLRDHUP);
}

static struct kevent tell(struct note *note, short revents)
{
    struct kevent event = note->event;

    event.fflags = 0;
    if (is_end(note, revents)) {
        event.flags |= EV_EOF;
        event.fflags = revents & POLLERR ? ECONNRESET : 0; /* as good as any other, and for a pipe more than there is */
    }
    if (revents & POLLPRI && !event.fflags)
        event.fflags = NOTE_OOB;
    note->cleared = event.flags & EV_CLEAR;
    if (event.flags & EV_DISPATCH || (note->cleared && revents & (POLLHUP | POLLERR)))
        note->enabled = false;
    return event;
}

static int tell_all(struct queue *queue, struct kevent *events, int event_count)
{
    int told = 0, first = queue->next;

    for (int i = 0; i < queue->count && told < event_count; i++) {
        int at = (first + i) % queue->count;
        short revents = queue->items[at].revents;

        if (revents & POLLNVAL || !revents) /* closed since */
            continue;
        events[told++] = tell(&queue->notes[at], revents);
        queue->next = at + 1;
    }
    return told;
}

int kevent(int fd, const struct kevent *changes, int change_count, struct kevent *events, int event_count,
           const struct timespec *timeout)
{
    struct queue *queue = queue_of(fd);
    int told;

    if (!queue) {
        errno = EBADF;
        return -1;
    }
    told = make_all(fd, queue, changes, change_count, events);
    while (told == 0 && event_count > 0) {
        int ready = wait_for(queue, timeout);

        if (ready <= 0)
            return ready;
        told = tell_all(queue, events, event_count);
    }
    return told;
}
