/* Requests for files that could not be opened because descriptors ran out. They are retried a little later, when other
 * connections may have closed descriptors. Belongs to one loop. */
#ifndef UW_STATIC_FD_EXHAUSTION_RETRY_H
#define UW_STATIC_FD_EXHAUSTION_RETRY_H

#include "base/clock.h"
#include "server/request.h"
#include "static/background_jobs.h"

#define UW_FD_RETRY_PAUSE_NS (UW_NS_PER_SECOND / 10)
#define UW_FD_RETRY_NS (3 * UW_NS_PER_SECOND) /* then the request is refused */

struct uw_fd_retry {
    struct uw_background_jobs *jobs;
    struct uw_background_job pause;
    bool pauses;
    struct uw_request *first, **last; /* waiting requests */
    int64_t end_ns;                   /* 0: no request waits */
};

void uw_fd_retry_open(struct uw_fd_retry *shortage, struct uw_background_jobs *jobs);

/* Queues a request whose answer failed with `error`, and passes it to the server's handler again later. For another
 * error, or when descriptors have been short for too long, returns false, and the request remains the caller's. */
bool uw_fd_retry_add(struct uw_fd_retry *shortage, struct uw_request *request, int error);

#endif
