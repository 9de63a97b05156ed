/* Answers one request: with a file or parts of it, in an accepted coding, or with an error. Used by static.c. */
#ifndef UW_STATIC_STATIC_HANDLER_H
#define UW_STATIC_STATIC_HANDLER_H

#include "static/response_output.h"
#include "static/static.h"

static inline bool uw_answer_is_head(const struct uw_request *request)
{
    return request->head.method == UW_METHOD_HEAD;
}

/* See uw_file_cache_find. */
int uw_answer_find(struct uw_static *files, const struct uw_request *request, const char *path,
                   struct uw_resource **resource);

/* Answers a GET or HEAD, and evaluates Accept-Encoding, conditions and ranges. */
void uw_answer_file(struct uw_static *files, struct uw_request *request, const struct uw_resource *resource);

/* Answers with the page for `status` in the root directory, or with a line of text. `name` and `value` are another
 * header field, or NULL. */
void uw_answer_failure(struct uw_static *files, struct uw_request *request, int status, const char *name,
                       const char *value);

/* Answers with a generated page. */
void uw_answer_page(struct uw_static *files, struct uw_request *request, struct uw_representation *page);

/* Writes the status line, and the fields of every response. */
void uw_answer_begin(const struct uw_static *files, struct uw_response *response, struct uw_request *request,
                     int status);

#endif
