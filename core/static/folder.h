/* A folder beneath the root: the page that lists it, and where a path without its slash is sent to. */
#ifndef UW_STATIC_FOLDER_H
#define UW_STATIC_FOLDER_H

#include "static/response.h"

/* Lists the folder `path` beneath `root` as HTML: regular files and folders whose names do not begin with a dot.
 * Returns 0, with one reference to the page, or -errno. On any thread. */
int uw_folder_page_make(struct uw_representation **page, int root, const char *path);

/* Writes the field Location: the path of the folder with a slash at its end, then the query. */
void uw_folder_put_location(struct uw_response *response, const char *path, const char *query, size_t query_length);

#endif
