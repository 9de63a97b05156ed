/* Conditional requests (RFC 9110, section 13): entity tags, dates, and the order in which they are looked at. */
#ifndef UW_HTTP_CONDITIONAL_H
#define UW_HTTP_CONDITIONAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "http/content_coding.h"
#include "http/head.h"

#define UW_HTTP_ETAG_BYTES_MAX 64

/* What tells the selected representation from others of the same resource. */
struct uw_http_validators {
    char etag[UW_HTTP_ETAG_BYTES_MAX]; /* as it is sent, ends in a NUL */
    uint32_t etag_length;
    bool weak;       /* `etag` begins with W/: the content may be another one in spite of it */
    time_t modified; /* what Last-Modified says */
};

/* Makes the validators of `size` bytes of content in the form `coding`. `hash` is of these bytes, or, when `weak`, of
 * what tells versions of the content apart as well as may be. */
void uw_http_validators_make(struct uw_http_validators *validators, bool weak, uint64_t hash, uint64_t size,
                             time_t modified, enum uw_http_coding coding);

/* Evaluates If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since of a GET or HEAD, in the order of
 * section 13.2.2; `bytes` is what the head's slices point into. Returns 0 when the request is to be answered as if it
 * were not conditional, 304, or 412. */
int uw_http_precondition(const struct uw_http_head *head, const char *bytes,
                         const struct uw_http_validators *validators);

/* Whether If-Range, if there is one, lets a Range be looked at. */
bool uw_http_if_range(const struct uw_http_head *head, const char *bytes, const struct uw_http_validators *validators);

#endif
