/* Writes the page that lists a directory: HTML in UTF-8. */
#ifndef UW_HTTP_DIRECTORY_LISTING_H
#define UW_HTTP_DIRECTORY_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define UW_HTTP_LISTING_ENTRIES_MAX 10000 /* the page shows a part of a larger directory and says so */

struct uw_http_listing_entry {
    const char *name; /* as in the file system, in any encoding */
    int64_t size;
    time_t modified;
    bool folder;
};

struct uw_http_listing {
    const char *path;                      /* of the directory, relative to the root, as in struct uw_http_path */
    struct uw_http_listing_entry *entries; /* in any order */
    size_t count;                          /* at most UW_HTTP_LISTING_ENTRIES_MAX */
    bool cut;                              /* the directory has more entries */
};

/* Sorts directories first, then by name. */
void uw_http_listing_sort(struct uw_http_listing *listing);

/* Writes the page without a NUL to `text[0 .. capacity)`, as far as it fits, and returns its whole length. Call this
 * with a capacity of 0 first, then with that length. */
size_t uw_http_listing_write(const struct uw_http_listing *listing, char *text, size_t capacity);

#endif
