/* Answers requests with files beneath one directory, from memory or with sendfile(2). Each loop has its own struct
 * uw_static, which belongs to the loop's thread. */
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
    /* File that answers with 200 for absent paths without a dot in the last segment, or NULL. It is the page of an
     * application that routes in the browser. */
    const char *fallback;
    const char *fields; /* header lines of every response, each with CRLF, or NULL */
    bool list;          /* directories without index.html get a listing */
    struct uw_file_cache_settings cache;
};

struct uw_static {
    int root;
    struct uw_static_settings settings;
    struct uw_background_jobs jobs;
    struct uw_file_cache cache;
    struct uw_listing_page_cache listings;
    struct uw_fd_retry fd_retry;
    struct uw_negative_cache absent; /* paths without a file, for uw_static_try */
};

/* Opens the directory. The texts in `settings` must outlive `files`. Returns 0. Returns -EINVAL for an invalid
 * Cache-Control, or for `fields` that are not header lines. The limits are UW_CACHE_CONTROL_BYTES_MAX and
 * UW_STATIC_FIELDS_BYTES_MAX. Returns -ENAMETOOLONG for a fallback longer than UW_HTTP_PATH_BYTES_MAX, or the -errno of
 * opening the root. */
int uw_static_open(struct uw_static *files, const struct uw_static_settings *settings);

/* Must be called before the server is closed, by the thread that closes it. Nothing is posted to the loop afterwards.
 * Requests that wait for a listing or a descriptor get no response. */
void uw_static_stop(struct uw_static *files);

/* The server must be closed before, because its chunks lend from the cache. */
void uw_static_close(struct uw_static *files);

/* Returns a handler for uw_server_open that answers every request. 404.html and 50x.html in the root are the error
 * pages. */
struct uw_handler uw_static_handler(struct uw_static *files);

/* Closes cached files that no response is sending. Returns the number of closed descriptors. */
size_t uw_static_give_up(struct uw_static *files);

/* Answers a GET or HEAD for an existing file and returns true. Also answers if an existing file cannot be read.
 * Otherwise returns false, and the caller still owns the request. A path without a file is not checked again for
 * UW_NEGATIVE_CACHE_NS. */
bool uw_static_try(struct uw_static *files, struct uw_request *request);

#endif
