/* A directory beneath the root: the page that lists it, and the redirect for a path without the slash. */
#ifndef UW_STATIC_DIRECTORY_INDEX_H
#define UW_STATIC_DIRECTORY_INDEX_H

#include "static/response_output.h"

/* Lists the directory `path` beneath `root` as HTML: regular files and directories whose names do not begin with a dot.
 * Returns 0, with one reference to the page, or -errno. On any thread. */
int uw_folder_page_make(struct uw_representation **page, int root, const char *path);

/* Writes the field Location: the path of the directory with a slash at its end, then the query. */
void uw_folder_put_location(struct uw_response *response, const char *path, const char *query, size_t query_length);

#endif
