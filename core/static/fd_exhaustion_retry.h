/* Retries requests for files that could not be opened for lack of descriptors. Other connections may close descriptors
 * in the meantime. Belongs to one loop. */
#ifndef UW_STATIC_FD_EXHAUSTION_RETRY_H
#define UW_STATIC_FD_EXHAUSTION_RETRY_H

#include "base/clock.h"
#include "server/request.h"
#include "static/background_jobs.h"

#define UW_FD_RETRY_PAUSE_NS (UW_NS_PER_SECOND / 10)
#define UW_FD_RETRY_NS (3 * UW_NS_PER_SECOND) /* time after which requests are refused */

struct uw_fd_retry {
    struct uw_background_jobs *jobs;
    struct uw_background_job pause;
    bool pause_is_pending;
    struct uw_request *first, **last; /* waiting requests */
    int64_t end_ns;                   /* time after which no retry begins. 0: no request waits */
};

void uw_fd_retry_open(struct uw_fd_retry *retry, struct uw_background_jobs *jobs);

/* Queues a request that has failed with `error`, for a retry by the server's handler. Returns false for other errors,
 * and if descriptors have been missing for UW_FD_RETRY_NS. Then the caller still owns the request. */
bool uw_fd_retry_add(struct uw_fd_retry *retry, struct uw_request *request, int error);

#endif
