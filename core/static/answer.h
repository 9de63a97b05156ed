/* Answers one request: with a file, in whatever part and form it is asked for, or with an error. For static.c. */
#ifndef UW_STATIC_ANSWER_H
#define UW_STATIC_ANSWER_H

#include "static/response.h"
#include "static/static.h"

static inline bool uw_answer_is_head(const struct uw_request *request)
{
    return request->head.method == UW_METHOD_HEAD;
}

/* See uw_file_cache_find. */
int uw_answer_find(struct uw_static *files, const struct uw_request *request, const char *path,
                   struct uw_resource **resource);

/* To a GET or HEAD: the accepted coding, conditions and ranges are looked at. */
void uw_answer_file(struct uw_static *files, struct uw_request *request, const struct uw_resource *resource);

/* With the folder's own page for `status`, or a line of text. `name` and `value` are of a further header field, or
 * NULL.
 */
void uw_answer_failure(struct uw_static *files, struct uw_request *request, int status, const char *name,
                       const char *value);

/* With content that is no file's. */
void uw_answer_page(struct uw_static *files, struct uw_request *request, struct uw_representation *page);

/* Tells of the response, and hands it over. */
void uw_answer_finish(struct uw_static *files, struct uw_response *response);

#endif
