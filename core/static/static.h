/* Answers requests with files beneath one folder, on the loop's thread: from memory or with sendfile(2). One for each
 * loop. */
#ifndef UW_STATIC_STATIC_H
#define UW_STATIC_STATIC_H

#include "server/request.h"
#include "static/absent_paths.h"
#include "static/errands.h"
#include "static/file_cache.h"
#include "static/listings.h"
#include "static/shortage.h"

struct uw_response;

/* Called when a response has been handed over, before the request is gone: for an access log. */
typedef void uw_static_answered(void *context, const struct uw_response *response);
typedef void uw_static_refused(void *context, const struct uw_access *refusal);

struct uw_static_settings {
    const char *root;
    const char *fallback; /* answers, with 200, for paths that name nothing and whose last segment has no dot: the page
                             of an application that routes on the client's side; or NULL */
    bool list;            /* folders without index.html are listed */
    struct uw_file_cache_settings cache;
    uw_static_answered *answered; /* or NULL */
    uw_static_refused *refused;   /* or NULL */
    void *answered_context;       /* of both */
};

struct uw_static {
    int root;
    struct uw_static_settings settings;
    struct uw_errands errands;
    struct uw_file_cache cache;
    struct uw_listings listings;
    struct uw_shortage shortage;
    struct uw_absent_paths absent; /* of uw_static_try */
};

/* The texts in `settings` must outlive `files`. Returns 0; -EINVAL for a Cache-Control that is no field value or longer
 * than UW_CACHE_CONTROL_BYTES_MAX; -ENAMETOOLONG for a fallback longer than UW_HTTP_PATH_BYTES_MAX; or the -errno of
 * opening the root. */
int uw_static_open(struct uw_static *files, const struct uw_static_settings *settings);

/* Before the server is closed, on whichever thread closes it: nothing is posted to its loop from then on, and who waits
 * for a listing that has not been made, or for a descriptor, gets none. */
void uw_static_stop(struct uw_static *files);

/* After the server is closed: its chunks still lend from the cache. */
void uw_static_close(struct uw_static *files);

/* For uw_server_open: answers every request. Files 404.html and 50x.html in the root are the pages of such errors. */
struct uw_handler uw_static_handler(struct uw_static *files);

/* Closes the files that are kept open in case they are asked for. Returns how many. */
size_t uw_static_give_up(struct uw_static *files);

/* Answers a GET or HEAD for a file that is there. Otherwise returns false and leaves the request to somebody else; for
 * UW_ABSENT_PATH_NS it may do so without looking again. */
bool uw_static_try(struct uw_static *files, struct uw_request *request);

#endif
