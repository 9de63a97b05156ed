/* Writes the listing of a directory as a page in HTML and UTF-8. */
#ifndef UW_HTTP_DIRECTORY_LISTING_H
#define UW_HTTP_DIRECTORY_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define UW_HTTP_LISTING_ENTRIES_MAX 10000 /* the page of a larger directory states that entries are missing */

struct uw_http_listing_entry {
    const char *name; /* name in the file system, in any encoding */
    int64_t size;
    time_t modified;
    bool folder;
};

struct uw_http_listing {
    const char *path;                      /* path of the directory, relative to the root, as in struct uw_http_path */
    struct uw_http_listing_entry *entries; /* in any order */
    size_t count;                          /* at most UW_HTTP_LISTING_ENTRIES_MAX */
    bool truncated;                        /* the directory has more entries than `entries` */
};

/* Sorts the entries: directories first, then by name. */
void uw_http_listing_sort(struct uw_http_listing *listing);

/* Writes the page without a NUL to `text[0 .. capacity)`, as far as it fits. Returns the length of the whole page. So a
 * first call with a capacity of 0 yields the capacity for the second call. */
size_t uw_http_listing_write(const struct uw_http_listing *listing, char *text, size_t capacity);

#endif
