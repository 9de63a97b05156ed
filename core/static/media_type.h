/* Media types by file name extension. The table is the caller's: the core knows no types. */
#ifndef UW_STATIC_MEDIA_TYPE_H
#define UW_STATIC_MEDIA_TYPE_H

#include <stddef.h>

#define UW_MEDIA_TYPE_DEFAULT "application/octet-stream"
#define UW_EXTENSION_BYTES_MAX 15

struct uw_media_type {
    const char *extension; /* without the dot, in lower case */
    const char *type;      /* with its charset, if it has one: "text/html; charset=utf-8" */
};

struct uw_media_types {
    const struct uw_media_type *table; /* sorted by extension in the order of strcmp */
    size_t count;
};

/* The type of a file of that name; UW_MEDIA_TYPE_DEFAULT when the table does not have it, or has it longer than
 * UW_HTTP_MEDIA_TYPE_BYTES_MAX. */
const char *uw_media_type_find(const struct uw_media_types *types, const char *name);

#endif
