/* Answers requests with files beneath one directory, on the loop's thread: from memory or with sendfile(2). One for
 * each loop. */
#ifndef UW_STATIC_STATIC_H
#define UW_STATIC_STATIC_H

#include "server/request.h"
#include "static/background_jobs.h"
#include "static/fd_exhaustion_retry.h"
#include "static/file_cache.h"
#include "static/listing_page_cache.h"
#include "static/negative_cache.h"

#define UW_STATIC_FIELDS_BYTES_MAX 8192

struct uw_static_settings {
    const char *root;
    const char *fallback; /* answers, with 200, for absent paths whose last segment has no dot: the page of an
                             application that routes on the client's side; or NULL */
    const char *fields;   /* header lines of every response, each with CRLF at its end; or NULL */
    bool list;            /* directories without index.html are listed */
    struct uw_file_cache_settings cache;
};

struct uw_static {
    int root;
    struct uw_static_settings settings;
    struct uw_background_jobs jobs;
    struct uw_file_cache cache;
    struct uw_listing_page_cache listings;
    struct uw_fd_retry shortage;
    struct uw_negative_cache absent; /* of uw_static_try */
};

/* The texts in `settings` must outlive `files`. Returns 0; -EINVAL for a Cache-Control that is no field value or longer
 * than UW_CACHE_CONTROL_BYTES_MAX, and for fields that are no header lines or longer than UW_STATIC_FIELDS_BYTES_MAX;
 * -ENAMETOOLONG for a fallback longer than UW_HTTP_PATH_BYTES_MAX; or the -errno of opening the root. */
int uw_static_open(struct uw_static *files, const struct uw_static_settings *settings);

/* Call this before the server is closed, on the thread that closes it. Nothing is posted to the loop afterwards.
 * Requests that wait for a listing or for a descriptor get no answer. */
void uw_static_stop(struct uw_static *files);

/* After the server is closed: its chunks still lend from the cache. */
void uw_static_close(struct uw_static *files);

/* Returns a handler for uw_server_open that answers every request. Files 404.html and 50x.html in the root are the
 * error pages. */
struct uw_handler uw_static_handler(struct uw_static *files);

/* Closes cached files. Returns the number closed. */
size_t uw_static_give_up(struct uw_static *files);

/* Answers a GET or HEAD for an existing file. Otherwise returns false, and the request remains the caller's. A path
 * without a file is not checked again for UW_NEGATIVE_CACHE_NS. */
bool uw_static_try(struct uw_static *files, struct uw_request *request);

#endif
