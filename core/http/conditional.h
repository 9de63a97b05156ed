/* Evaluates conditional requests (RFC 9110, section 13): entity tags, dates, and their order. */
#ifndef UW_HTTP_CONDITIONAL_H
#define UW_HTTP_CONDITIONAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "http/content_coding.h"
#include "http/request_head.h"

#define UW_HTTP_ETAG_BYTES_MAX 64

/* The validators, which distinguish the selected representation from others of the same resource. */
struct uw_http_validators {
    char etag[UW_HTTP_ETAG_BYTES_MAX]; /* the field's value; NUL-terminated */
    uint32_t etag_length;
    bool weak;       /* `etag` begins with W/: equal tags do not guarantee equal content */
    bool dated;      /* `modified` is sent and distinguishes this version from all others */
    time_t modified; /* the value of Last-Modified */
};

/* Makes the validators of `size` bytes of content in the form `coding`. `hash` covers these bytes, or when `weak`, data
 * that distinguishes versions of the content as well as possible. */
void uw_http_validators_make(struct uw_http_validators *validators, bool weak, uint64_t hash, uint64_t size,
                             time_t modified, enum uw_http_coding coding);

/* Returns whether a date in whole seconds distinguishes content last modified then from every other version. The second
 * must be over, or the next version could have the same date. Dates before 1981 are set by hand and equal for all
 * versions: reproducible builds use 0, 1, or the first date of ZIP. */
bool uw_http_is_dated(time_t modified);

/* Evaluates If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since of a GET or HEAD, in the order of
 * section 13.2.2. The head's slices point into `bytes`. Returns 304, 412, or 0 for an unconditional response. */
int uw_http_precondition(const struct uw_http_head *head, const char *bytes,
                         const struct uw_http_validators *validators);

/* Returns whether the server may evaluate Range: If-Range is absent or matches. */
bool uw_http_if_range(const struct uw_http_head *head, const char *bytes, const struct uw_http_validators *validators);

#endif
