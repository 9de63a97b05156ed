/* The page that lists a directory beneath the root, and the redirect for a path without the final slash. */
#ifndef UW_STATIC_DIRECTORY_INDEX_H
#define UW_STATIC_DIRECTORY_INDEX_H

#include "static/response_output.h"

/* Lists the directory `path` beneath `root` in HTML: regular files and directories, except names that begin with a dot.
 * Returns 0 and a page with one reference, or -errno. Any thread may call this function. */
int uw_folder_page_make(struct uw_representation **page, int root, const char *path);

/* Writes the field Location: the path of the directory with a final slash, then the query. */
void uw_folder_put_location(struct uw_response *response, const char *path, const char *query, size_t query_length);

#endif
