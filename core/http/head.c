#include "http/request_head.h"

#include <stdlib.h>

#define MORE_HEADERS_MIN 100 /* first allocation. Each further allocation doubles the capacity */

static bool grow_headers(struct uw_http_head *head)
{
    uint32_t capacity = head->more_capacity ? head->more_capacity * 2 : MORE_HEADERS_MIN;
    struct uw_http_header *more = realloc(head->more, capacity * sizeof *more);

    if (!more)
        return false;
    head->more = more;
    head->more_capacity = capacity;
    return true;
}

struct uw_http_header *uw_http_head_next(struct uw_http_head *head)
{
    uint32_t index = head->header_count;

    if (index < UW_HTTP_HEADERS_INLINE)
        return &head->headers[index];
    index -= UW_HTTP_HEADERS_INLINE;
    return index < head->more_capacity || grow_headers(head) ? &head->more[index] : NULL;
}

void uw_http_head_free(struct uw_http_head *head)
{
    free(head->more);
    head->more = NULL;
    head->more_capacity = 0;
}
