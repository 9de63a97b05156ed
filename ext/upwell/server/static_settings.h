/* The settings of a file server, copied out of Ruby: the core does not know where Ruby moves its Strings. */
#ifndef RB_UPWELL_STATIC_SETTINGS_H
#define RB_UPWELL_STATIC_SETTINGS_H

#include <ruby.h>

#include "static/static.h"

struct rb_uw_text;

struct rb_uw_static_settings {
    struct uw_static_settings core; /* without a root: nothing has been read */
    struct uw_media_type *media_types;
    struct rb_uw_text *texts; /* all that `core` refers to */
};

/* Reads a Hash with cache_control, spa (String or nil); list, gzip_static (Boolean); media_types (Array of [extension,
 * type]); cache_entries_max, cache_bytes_max, cache_file_bytes_max. Raises KeyError for a missing one, ArgumentError or
 * TypeError for a wrong one, Upwell::Error on a second call. */
void rb_uw_static_settings_read(struct rb_uw_static_settings *copy, VALUE root, VALUE settings);

void rb_uw_static_settings_free(struct rb_uw_static_settings *copy);

static inline size_t rb_uw_static_settings_bytes(const struct rb_uw_static_settings *copy)
{
    return copy->core.cache.media_types.count * sizeof *copy->media_types;
}

#endif
