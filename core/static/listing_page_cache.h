/* Pages that list directories. The thread of the background jobs makes a page once for all requests within
 * UW_LISTING_NS. Belongs to one loop. */
#ifndef UW_STATIC_LISTING_PAGE_CACHE_H
#define UW_STATIC_LISTING_PAGE_CACHE_H

#include "base/clock.h"
#include "server/request.h"
#include "static/background_jobs.h"
#include "static/representation.h"

#define UW_LISTING_NS UW_NS_PER_SECOND /* a page's lifetime, from the start of its making */
#define UW_LISTINGS_KEPT_MAX 8

/* Answers a request with a page. When the page is NULL, answers with the error of the -errno `error`. */
typedef void uw_listed(void *context, struct uw_request *request, struct uw_representation *page, int error);

struct uw_listing_page_cache {
    struct uw_background_jobs *jobs;
    int root;
    uw_listed *listed;
    void *context;
    struct uw_list all; /* the oldest first */
    size_t kept;        /* those that have been made */
    uint64_t begun;     /* counted, never reset */
};

/* `root` remains the caller's. */
void uw_listing_page_cache_open(struct uw_listing_page_cache *listings, int root, struct uw_background_jobs *jobs,
                                uw_listed *listed, void *context);

/* After the jobs are stopped. */
void uw_listing_page_cache_close(struct uw_listing_page_cache *listings);

/* Answers the request with the page of the directory `path`, at once or in a later iteration. Returns 0; or the -errno
 * of opening the directory, and the request remains the caller's. */
int uw_listing_page_cache_ask(struct uw_listing_page_cache *listings, struct uw_request *request, const char *path);

#endif
