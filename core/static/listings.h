/* Pages that list folders. One is made on the errands' thread, for all who ask for it until a moment later. Belongs to
 * one loop. */
#ifndef UW_STATIC_LISTINGS_H
#define UW_STATIC_LISTINGS_H

#include "base/clock.h"
#include "server/request.h"
#include "static/errands.h"
#include "static/representation.h"

#define UW_LISTING_NS UW_NS_PER_SECOND /* since it was begun a page is good for so long */
#define UW_LISTINGS_KEPT_MAX 8

/* Answers a request with a page; or, when that is NULL, with what the -errno `error` means. */
typedef void uw_listed(void *context, struct uw_request *request, struct uw_representation *page, int error);

struct uw_listings {
    struct uw_errands *errands;
    int root;
    uw_listed *listed;
    void *context;
    struct uw_list all; /* the oldest first */
    size_t kept;        /* those that have been made */
    uint64_t begun;     /* counted, never reset */
};

/* `root` remains the caller's. */
void uw_listings_open(struct uw_listings *listings, int root, struct uw_errands *errands, uw_listed *listed,
                      void *context);

/* Once the errands are stopped. */
void uw_listings_close(struct uw_listings *listings);

/* Has the request answered with the page of the folder `path`, at once or in a later turn. Returns 0; or the -errno of
 * opening the folder, and the request remains the caller's. */
int uw_listings_ask(struct uw_listings *listings, struct uw_request *request, const char *path);

#endif
