/* Media types by file name extension. The caller provides the table. */
#ifndef UW_STATIC_MEDIA_TYPE_H
#define UW_STATIC_MEDIA_TYPE_H

#include <stddef.h>

#define UW_MEDIA_TYPE_DEFAULT "application/octet-stream"
#define UW_EXTENSION_BYTES_MAX 15

struct uw_media_type {
    const char *extension; /* without the dot, in lower case */
    const char *type;      /* media type, with a charset if necessary: "text/html; charset=utf-8" */
};

struct uw_media_types {
    const struct uw_media_type *table; /* sorted by extension in the order of strcmp */
    size_t count;
};

/* Returns the media type for a file name. Returns UW_MEDIA_TYPE_DEFAULT without an entry, or for an entry longer than
 * UW_HTTP_MEDIA_TYPE_BYTES_MAX. */
const char *uw_media_type_find(const struct uw_media_types *types, const char *name);

#endif
