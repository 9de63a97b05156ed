/* Requests for files that cannot be opened for want of descriptors: they are asked anew a little later, when others may
 * have given some back. Belongs to one loop. */
#ifndef UW_STATIC_SHORTAGE_H
#define UW_STATIC_SHORTAGE_H

#include "base/clock.h"
#include "server/request.h"
#include "static/errands.h"

#define UW_SHORTAGE_PAUSE_NS (UW_NS_PER_SECOND / 10)
#define UW_SHORTAGE_NS (3 * UW_NS_PER_SECOND) /* who cannot be answered by then is refused */

struct uw_shortage {
    struct uw_errands *errands;
    struct uw_errand pause;
    bool pauses;
    struct uw_request *first, **last; /* who wait */
    int64_t end_ns;                   /* 0: nobody does */
};

void uw_shortage_open(struct uw_shortage *shortage, struct uw_errands *errands);

/* Has the server's handler asked again for a request whose answer ended in `error`. Returns false, and the request
 * remains the caller's, when that was another error, or descriptors have been short for too long. */
bool uw_shortage_hold(struct uw_shortage *shortage, struct uw_request *request, int error);

#endif
