/* The page that lists a folder: HTML in UTF-8. */
#ifndef UW_HTTP_LISTING_H
#define UW_HTTP_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define UW_HTTP_LISTING_ENTRIES_MAX 10000 /* a larger folder is shown in part, and says so */

struct uw_http_listing_entry {
    const char *name; /* as in the file system, in whatever encoding */
    int64_t size;
    time_t modified;
    bool folder;
};

struct uw_http_listing {
    const char *path;                      /* of the folder beneath the root, as in struct uw_http_path */
    struct uw_http_listing_entry *entries; /* in any order */
    size_t count;                          /* at most UW_HTTP_LISTING_ENTRIES_MAX */
    bool cut;                              /* there are more */
};

/* Folders first, each by name. */
void uw_http_listing_sort(struct uw_http_listing *listing);

/* Writes the page to `text[0 .. capacity)` as far as there is room, without a NUL, and returns its whole length: call
 * with a capacity of 0 first, then with room for it. */
size_t uw_http_listing_write(const struct uw_http_listing *listing, char *text, size_t capacity);

#endif
