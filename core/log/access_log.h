/* The access log of one loop. The loop's thread formats lines, and the log's own thread writes them in batches. Neither
 * a slow disk nor a full pipe delays a request. A lock-free ring of bytes connects both threads. */
#ifndef UW_LOG_ACCESS_LOG_H
#define UW_LOG_ACCESS_LOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/system.h"
#include "log/access_line.h"

#define UW_ACCESS_LOG_BYTES (1024 * 1024)  /* size of the ring, a power of two. Excess lines are dropped and counted */
#define UW_ACCESS_LOG_LONG_LINE_BYTES 1024 /* a longer line gets no place in the second half of the ring */
#define UW_ACCESS_LOG_BATCH_BYTES (64 * 1024) /* maximum bytes of one write */
#define UW_ACCESS_LOG_DELAY_MS 1000           /* maximum delay of a line in milliseconds, unless the file is blocked */
#define UW_ACCESS_LOG_CLOSE_MS 2000           /* closing waits so many milliseconds for the reader of a pipe */

#define UW_ACCESS_LOG_EXIT_MS 500 /* a process that exits at once waits so many milliseconds at most */

struct uw_access_log {
    struct uw_access_log *next; /* open log of the process */
    pid_t process;              /* of the log's thread */
    enum uw_access_format format;
    int fd;     /* belongs to the caller, which may replace the file with dup2(2) */
    int own_fd; /* duplicate of `fd` for the log's thread. `fd` may name any file once closing has given up */
    struct uw_wakeup wake;  /* wakes the log's thread: a batch is full, a terminal gets a line, or the log closes */
    struct uw_wakeup ended; /* signals the closing thread: the log's thread has finished */
    bool regular;           /* set by the log's thread: a regular file accepts a batch in one write */
    bool torn;              /* the last line in `torn_file` is incomplete */
    struct stat torn_file;
    bool stuck; /* the log's thread must not write again: the closing log's file is blocked, or closing has given up */
    pthread_t thread;
    pthread_mutex_t release; /* protects `released` and the duplication of `fd` */
    atomic_bool closing;
    bool released;             /* set by the first of the two threads that releases the log */
    _Atomic(uint64_t) lost;    /* number of dropped lines */
    _Atomic(int) error;        /* cause of the last dropped line as errno, or 0 */
    _Atomic(uint64_t) written; /* number of bytes taken from the ring */
    _Atomic(uint64_t) added;   /* number of bytes put into the ring */
    char *ring, *batch;
};

/* Opens the log and starts its thread. The caller keeps `fd` and may replace it with dup2(2). Returns 0 or -errno. */
int uw_access_log_open(struct uw_access_log **log, int fd, enum uw_access_format format);

/* Called by the loop's thread only. */
void uw_access_log_add(struct uw_access_log *log, const struct uw_access_record *access);

/* Called by the loop's thread only. Returns the cause of lines dropped since the last call as -errno, or 0. */
int uw_access_log_take_error(struct uw_access_log *log);

/* Writes the remaining lines while the file accepts them, and closes the log. Gives up after
 * UW_ACCESS_LOG_CLOSE_MS, unless the file is regular. A thread that is blocked in a write then exits after this write.
 * Returns the number of dropped lines. */
uint64_t uw_access_log_close(struct uw_access_log *log);

/* Writes the remaining lines of all open logs, for at most UW_ACCESS_LOG_EXIT_MS. The process must exit afterwards. Any
 * thread may call this function. */
void uw_access_log_write_before_exit(void);

#endif
