/* The access log of one loop: lines are made on the loop's thread and written in batches by a thread of the log's own,
 * so that neither a slow disk nor a full pipe delays a request. Between them is a ring of bytes without a lock. */
#ifndef UW_LOG_ACCESS_LOG_H
#define UW_LOG_ACCESS_LOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/system.h"
#include "log/access_line.h"

#define UW_ACCESS_LOG_BYTES (256 * 1024) /* in the ring, a power of two; lines beyond are lost, and counted */
#define UW_ACCESS_LOG_BATCH_BYTES (64 * 1024)
#define UW_ACCESS_LOG_DELAY_MS 1000 /* a line waits no longer to be written, if the file takes it */
#define UW_ACCESS_LOG_STUCK_MS 2000 /* without any progress: nobody reads, when the log is closed */

struct uw_access_log {
    enum uw_access_format format;
    int fd;
    struct uw_wakeup wake;  /* the ring is half full, or the log is to be closed */
    struct uw_wakeup ended; /* the thread has written all that it could */
    bool regular;           /* the thread's: the file takes any amount at once, and appends a batch in one piece */
    bool torn;              /* the last line in `torn_file` is not whole */
    struct stat torn_file;
    bool stuck; /* nobody reads, and the log is to be closed; or it is */
    pthread_t thread;
    atomic_bool closing;
    atomic_bool left;          /* by the thread, or by who closes the log */
    _Atomic(uint64_t) lost;    /* lines */
    _Atomic(uint64_t) written; /* bytes that have left the ring */
    _Atomic(uint64_t) added;   /* bytes that have come into it */
    char *ring, *batch;
};

/* Starts to log to `fd`, which remains the caller's and may be replaced by dup2. Returns 0 or -errno. */
int uw_access_log_open(struct uw_access_log **log, int fd, enum uw_access_format format);

/* On the loop's thread. */
void uw_access_log_add(struct uw_access_log *log, const struct uw_access *access);

/* Writes what there is, as long as somebody reads: where that may take its time, no longer than UW_ACCESS_LOG_STUCK_MS
 * without any progress; a thread that a write keeps then ends with that. Returns how many lines were lost. */
uint64_t uw_access_log_close(struct uw_access_log *log);

#endif
