/* The access log of one loop. The loop's thread formats lines, and the log's own thread writes them in batches. So
 * neither a slow disk nor a full pipe delays a request. A lock-free ring of bytes connects both threads. */
#ifndef UW_LOG_ACCESS_LOG_H
#define UW_LOG_ACCESS_LOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/system.h"
#include "log/access_line.h"

#define UW_ACCESS_LOG_BYTES \
    (1024 * 1024) /* size of the ring, a power of two; further lines are dropped and counted \
                   */
#define UW_ACCESS_LOG_BATCH_BYTES (64 * 1024) /* so many bytes are written at once */
#define UW_ACCESS_LOG_DELAY_MS 1000 /* the longest time that a line waits to be written, if the file accepts it */
#define UW_ACCESS_LOG_STUCK_MS 2000 /* closing gives up after this long without progress */

struct uw_access_log {
    enum uw_access_format format;
    int fd;
    struct uw_wakeup wake;  /* signals that a batch is full, that a terminal gets a line, or that the log closes */
    struct uw_wakeup ended; /* signals that the thread has written all it can */
    bool regular;           /* the thread's: the file is regular, so it accepts and appends a batch in one piece */
    bool torn;              /* the last line in `torn_file` is incomplete */
    struct stat torn_file;
    bool stuck; /* the log closes and the file accepts nothing, or the log has been abandoned */
    pthread_t thread;
    atomic_bool closing;
    atomic_bool left;          /* set by the first of the two threads that is done with the log */
    _Atomic(uint64_t) lost;    /* lines dropped */
    _Atomic(int) error;        /* the cause as errno, or 0 */
    _Atomic(uint64_t) written; /* bytes read from the ring */
    _Atomic(uint64_t) added;   /* bytes put into the ring */
    char *ring, *batch;
};

/* Starts to log to `fd`. The caller keeps `fd` and may replace it by dup2. Returns 0 or -errno. */
int uw_access_log_open(struct uw_access_log **log, int fd, enum uw_access_format format);

/* The loop's thread calls this. */
void uw_access_log_add(struct uw_access_log *log, const struct uw_access_record *access);

/* The loop's thread calls this. Returns as -errno why lines were dropped since the last call, or 0. */
int uw_access_log_take_error(struct uw_access_log *log);

/* Writes the remaining lines while the file accepts them. A file that may block gets UW_ACCESS_LOG_STUCK_MS without
 * progress. A thread that is blocked in a write then ends after that write. Returns how many lines were dropped. */
uint64_t uw_access_log_close(struct uw_access_log *log);

#endif
