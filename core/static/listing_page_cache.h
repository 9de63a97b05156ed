/* A cache of the pages that list directories. A background job makes a page once for all requests within UW_LISTING_NS.
 * Belongs to one loop. */
#ifndef UW_STATIC_LISTING_PAGE_CACHE_H
#define UW_STATIC_LISTING_PAGE_CACHE_H

#include "base/clock.h"
#include "server/request.h"
#include "static/background_jobs.h"
#include "static/representation.h"

#define UW_LISTING_NS UW_NS_PER_SECOND /* lifetime of a page, from the start of its job */
#define UW_LISTINGS_KEPT_MAX 8

/* Answers a request with the page. If the page is NULL, answers with the status for `error`, an -errno. */
typedef void uw_listed(void *context, struct uw_request *request, struct uw_representation *page, int error);

struct uw_listing_page_cache {
    struct uw_background_jobs *jobs;
    int root;
    uw_listed *listed;
    void *context;
    struct uw_list all;     /* all listings, the oldest first */
    size_t ready_count;     /* number of listings with a finished page */
    uint64_t started_count; /* number of started jobs, never reset */
};

/* The caller keeps `root`. */
void uw_listing_page_cache_open(struct uw_listing_page_cache *listings, int root, struct uw_background_jobs *jobs,
                                uw_listed *listed, void *context);

/* The jobs must be stopped before. */
void uw_listing_page_cache_close(struct uw_listing_page_cache *listings);

/* Answers the request with the page of the directory `path`, at once or in a later iteration. Returns 0, or the -errno
 * of opening the directory. After an error the caller still owns the request. */
int uw_listing_page_cache_ask(struct uw_listing_page_cache *listings, struct uw_request *request, const char *path);

#endif
