/* Evaluates conditional requests (RFC 9110, section 13). */
#ifndef UW_HTTP_CONDITIONAL_H
#define UW_HTTP_CONDITIONAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "http/content_coding.h"
#include "http/request_head.h"

#define UW_HTTP_ETAG_BYTES_MAX 64

/* Validators distinguish the versions and forms of a resource (RFC 9110, section 8.8). */
struct uw_http_validators {
    char etag[UW_HTTP_ETAG_BYTES_MAX]; /* value of the field ETag, NUL-terminated */
    uint32_t etag_length;
    bool weak;       /* `etag` begins with W/, because equal tags do not guarantee equal content */
    bool dated;      /* `modified` distinguishes this version from all others, and Last-Modified is sent */
    time_t modified; /* value of the field Last-Modified */
};

/* Makes the validators of `size` bytes of content in the content coding `coding`. `hash` covers these bytes. With
 * `weak`, `hash` covers data that distinguishes versions of the content as well as possible. */
void uw_http_validators_make(struct uw_http_validators *validators, bool weak, uint64_t hash, uint64_t size,
                             time_t modified, enum uw_http_coding coding);

/* Returns true if a date in whole seconds distinguishes this version from all others. The second must be over:
 * otherwise the next version could have the same date. Dates before 1981 are artificial and equal for all versions.
 * Reproducible builds use 0, 1, or the first date of ZIP. */
bool uw_http_is_dated(time_t modified);

/* Evaluates If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since of a GET or HEAD, in the order of
 * section 13.2.2. The slices of `head` point into `bytes`. Returns 304, 412, or 0 for an unconditional response. */
int uw_http_precondition(const struct uw_http_head *head, const char *bytes,
                         const struct uw_http_validators *validators);

/* Returns true if Range applies: If-Range is absent or matches. */
bool uw_http_if_range(const struct uw_http_head *head, const char *bytes, const struct uw_http_validators *validators);

#endif
