#include "log/access_log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"

_Static_assert((UW_ACCESS_LOG_BYTES & (UW_ACCESS_LOG_BYTES - 1)) == 0, "a power of two");

/* The open logs, for the exit of the process. A forked process also has those of its parent. */
static struct {
    pthread_mutex_t lock;
    struct uw_access_log *first;
} open_logs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add_to_open(struct uw_access_log *log)
{
    pthread_mutex_lock(&open_logs.lock);
    log->next = open_logs.first;
    open_logs.first = log;
    pthread_mutex_unlock(&open_logs.lock);
}

static void remove_from_open(struct uw_access_log *log)
{
    struct uw_access_log **link = &open_logs.first;

    pthread_mutex_lock(&open_logs.lock);
    while (*link != log)
        link = &(*link)->next;
    *link = log->next;
    pthread_mutex_unlock(&open_logs.lock);
}

/* Both threads may call this function. */
static void count_dropped(struct uw_access_log *log, uint64_t lines, int error)
{
    atomic_fetch_add_explicit(&log->lost, lines, memory_order_relaxed);
    atomic_store_explicit(&log->error, error, memory_order_relaxed);
}

/* Functions of the loop's thread, which appends lines to the ring */

/* Returns true if the lines are written now: for a full batch, or at a terminal. */
static bool is_due(const struct uw_access_log *log, uint64_t used, size_t length)
{
    return log->format == UW_ACCESS_TERMINAL ||
           (used < UW_ACCESS_LOG_BATCH_BYTES && used + length >= UW_ACCESS_LOG_BATCH_BYTES);
}

/* Clients that send long lines fill at most half of the ring, so that they leave space for the lines of others. */
static size_t usable_bytes(size_t length)
{
    return length > UW_ACCESS_LOG_LONG_LINE_BYTES ? UW_ACCESS_LOG_BYTES / 2 : UW_ACCESS_LOG_BYTES;
}

static void append_line(struct uw_access_log *log, const char *line, size_t length)
{
    uint64_t added = atomic_load_explicit(&log->added, memory_order_relaxed);
    uint64_t used = added - atomic_load_explicit(&log->written, memory_order_acquire);
    size_t at = added % UW_ACCESS_LOG_BYTES, first = UW_ACCESS_LOG_BYTES - at;

    if (used + length > usable_bytes(length)) {
        count_dropped(log, 1, ENOBUFS);
        return;
    }
    first = first < length ? first : length;
    memcpy(log->ring + at, line, first);
    memcpy(log->ring, line + first, length - first);
    atomic_store_explicit(&log->added, added + length, memory_order_release);
    if (is_due(log, used, length))
        uw_wakeup_tell(&log->wake);
}

void uw_access_log_add(struct uw_access_log *log, const struct uw_access_record *access)
{
    char line[UW_LOG_LINE_BYTES_MAX];

    append_line(log, line, uw_access_line(line, log->format, access));
}

int uw_access_log_take_error(struct uw_access_log *log)
{
    if (!atomic_load_explicit(&log->error, memory_order_relaxed))
        return 0;
    return -atomic_exchange_explicit(&log->error, 0, memory_order_relaxed);
}

/* Functions of the log's thread, which writes whole lines of the ring to the file */

/* Copies at most `bytes_max` bytes of whole lines from the ring to `log->batch`. Returns the number of bytes. */
static size_t copy_batch(struct uw_access_log *log, size_t bytes_max)
{
    uint64_t written = atomic_load_explicit(&log->written, memory_order_relaxed);
    size_t length = (size_t)(atomic_load_explicit(&log->added, memory_order_acquire) - written);
    size_t at = written % UW_ACCESS_LOG_BYTES, first = UW_ACCESS_LOG_BYTES - at;

    length = length < bytes_max ? length : bytes_max;
    first = first < length ? first : length;
    memcpy(log->batch, log->ring + at, first);
    memcpy(log->batch + first, log->ring, length - first);
    while (length > 0 && log->batch[length - 1] != '\n')
        length--;
    return length;
}

/* Waits until the file is writable. A pipe then takes a whole line without blocking, unless another process writes at
 * the same time. Returns false if the log closes first. */
static bool await_writable(struct uw_access_log *log)
{
    struct pollfd poll_fd = {log->own_fd, POLLOUT, 0};
    int ready;

    while (!log->stuck && (ready = poll(&poll_fd, 1, UW_ACCESS_LOG_DELAY_MS)) <= 0)
        log->stuck = (ready < 0 && errno != EINTR) || atomic_load(&log->closing);
    return !log->stuck;
}

/* Returns the number of bytes written to the file. */
static size_t write_all(struct uw_access_log *log, const char *bytes, size_t length)
{
    size_t written = 0;

    while (written < length) {
        bool writable = !log->stuck && (log->regular || await_writable(log));
        ssize_t count = writable ? write(log->own_fd, bytes + written, length - written) : -1;

        if (count < 0 && !log->stuck && (errno == EINTR || errno == EAGAIN))
            continue;
        if (count < 0)
            break;
        written += (size_t)count;
    }
    return written;
}

static uint64_t count_lines(const char *bytes, size_t length)
{
    uint64_t lines = 0;

    while (length-- > 0)
        lines += bytes[length] == '\n';
    return lines;
}

static void remember_torn_line(struct uw_access_log *log, char last)
{
    log->torn = last != '\n' && fstat(log->own_fd, &log->torn_file) == 0;
}

/* Returns false if another file has replaced the file with the torn line, or if this file was truncated. */
static bool line_is_still_torn(const struct uw_access_log *log)
{
    struct stat file;

    return log->torn && fstat(log->own_fd, &file) == 0 && file.st_dev == log->torn_file.st_dev &&
           file.st_ino == log->torn_file.st_ino && (!S_ISREG(file.st_mode) || file.st_size > 0);
}

/* A partly written line counts as dropped. A newline separates this line from the next line. */
static void write_batch(struct uw_access_log *log, size_t length)
{
    size_t written = 0;

    errno = 0;
    log->torn = line_is_still_torn(log) && write_all(log, "\n", 1) == 0;
    if (!log->torn)
        written = write_all(log, log->batch, length);
    if (written < length)
        count_dropped(log, count_lines(log->batch + written, length - written), errno ? errno : EAGAIN);
    if (written > 0)
        remember_torn_line(log, log->batch[written - 1]);
}

static bool is_regular(int fd)
{
    struct stat file;

    return fstat(fd, &file) == 0 && S_ISREG(file.st_mode);
}

/* dup2(2) may have replaced the file since the last call. Closing may have given up: then `fd` may name any file. */
static void duplicate_file(struct uw_access_log *log)
{
    pthread_mutex_lock(&log->release);
    log->stuck = log->stuck || log->released;
    if (!log->stuck)
        (void)uw_replace(log->fd, log->own_fd); /* EBADF: the caller has closed `fd`. The last file gets the lines. */
    pthread_mutex_unlock(&log->release);
    log->regular = is_regular(log->own_fd);
}

/* Returns false if the ring has no line. */
static bool write_next_batch(struct uw_access_log *log)
{
    size_t length;

    duplicate_file(log);
    length = copy_batch(log, log->regular ? UW_ACCESS_LOG_BATCH_BYTES : UW_LOG_LINE_BYTES_MAX);
    if (length == 0)
        return false;
    write_batch(log, length);
    atomic_fetch_add_explicit(&log->written, length, memory_order_release);
    return true;
}

static void write_batches(struct uw_access_log *log)
{
    while (write_next_batch(log))
        ;
}

static void free_log(struct uw_access_log *log)
{
    uw_wakeup_close(&log->wake);
    uw_wakeup_close(&log->ended);
    if (log->own_fd >= 0)
        close(log->own_fd);
    pthread_mutex_destroy(&log->release);
    free(log->ring);
    free(log->batch);
    free(log);
}

/* The log's thread and the closing thread each call this function once. The second caller frees the log. */
static void release_log(struct uw_access_log *log)
{
    bool second;

    pthread_mutex_lock(&log->release);
    second = log->released;
    log->released = true;
    pthread_mutex_unlock(&log->release);
    if (second)
        free_log(log);
}

static void *write_until_closed(void *argument)
{
    struct uw_access_log *log = argument;
    struct pollfd wake = {log->wake.fd, POLLIN, 0};

    while (!atomic_load(&log->closing)) {
        (void)poll(&wake, 1, UW_ACCESS_LOG_DELAY_MS); /* writes also after an error or a time-out */
        uw_wakeup_clear(&log->wake);
        write_batches(log);
    }
    write_batches(log);
    uw_wakeup_tell(&log->ended);
    release_log(log);
    return NULL;
}

static int open_descriptors(struct uw_access_log *log)
{
    int error = uw_wakeup_open(&log->wake);

    if (!error)
        error = uw_wakeup_open(&log->ended);
    if (!error && (log->own_fd = fcntl(log->fd, F_DUPFD_CLOEXEC, 0)) < 0)
        error = -errno;
    return error;
}

static int allocate_buffers(struct uw_access_log *log)
{
    log->ring = malloc(UW_ACCESS_LOG_BYTES);
    log->batch = malloc(UW_ACCESS_LOG_BATCH_BYTES);
    return log->ring && log->batch ? 0 : -ENOMEM;
}

int uw_access_log_open(struct uw_access_log **log, int fd, enum uw_access_format format)
{
    int error;

    uw_sigpipe_spare(fd);
    *log = calloc(1, sizeof **log);
    if (!*log)
        return -ENOMEM;
    **log = (struct uw_access_log){.format = format,
                                   .process = getpid(),
                                   .fd = fd,
                                   .own_fd = -1,
                                   .wake = UW_NO_WAKEUP,
                                   .ended = UW_NO_WAKEUP,
                                   .release = PTHREAD_MUTEX_INITIALIZER};
    error = open_descriptors(*log);
    if (!error)
        error = allocate_buffers(*log);
    if (!error)
        error = uw_thread_start(&(*log)->thread, write_until_closed, *log);
    if (error)
        free_log(*log);
    else
        add_to_open(*log);
    return error;
}

static bool thread_ends_until(const struct uw_access_log *log, int64_t until_ns)
{
    struct pollfd ended = {log->ended.fd, POLLIN, 0};
    int64_t left_ns = until_ns - uw_clock_ns();
    int count;

    do
        count = poll(&ended, 1, left_ns > 0 ? (int)(left_ns / UW_NS_PER_MS) + 1 : 0);
    while (count < 0 && errno == EINTR);
    return count > 0;
}

/* A write may block for ever even on a file that polls as writable. A terminal may have too little space, or another
 * process may fill the pipe. A slow reader must not delay the end of the process either. */
static void join_or_detach_thread(struct uw_access_log *log)
{
    int64_t until_ns = uw_clock_ns() + UW_ACCESS_LOG_CLOSE_MS * UW_NS_PER_MS;

    if (is_regular(log->fd) || thread_ends_until(log, until_ns))
        pthread_join(log->thread, NULL);
    else
        pthread_detach(log->thread);
}

static uint64_t count_unwritten_lines(const struct uw_access_log *log)
{
    uint64_t lines = 0;

    for (uint64_t at = atomic_load(&log->written); at < atomic_load(&log->added); at++)
        lines += log->ring[at % UW_ACCESS_LOG_BYTES] == '\n';
    return lines;
}

static void begin_close(struct uw_access_log *log)
{
    atomic_store(&log->closing, true);
    uw_wakeup_tell(&log->wake);
}

uint64_t uw_access_log_close(struct uw_access_log *log)
{
    uint64_t lost;

    begin_close(log);
    join_or_detach_thread(log);
    lost = atomic_load(&log->lost) + count_unwritten_lines(log);
    remove_from_open(log);
    release_log(log);
    return lost;
}

/* The lock keeps the logs from being freed. */
void uw_access_log_write_before_exit(void)
{
    int64_t until_ns = uw_clock_ns() + UW_ACCESS_LOG_EXIT_MS * UW_NS_PER_MS;
    pid_t process = getpid();

    pthread_mutex_lock(&open_logs.lock);
    for (struct uw_access_log *log = open_logs.first; log; log = log->next)
        if (log->process == process)
            begin_close(log);
    for (struct uw_access_log *log = open_logs.first; log; log = log->next)
        if (log->process == process)
            (void)thread_ends_until(log, until_ns);
    pthread_mutex_unlock(&open_logs.lock);
}
