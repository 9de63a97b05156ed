#include "server/static_settings.h"

#include <string.h>

#include "server/server_settings.h"

struct rb_uw_text {
    struct rb_uw_text *next;
    char bytes[];
};

static const char *keep(struct rb_uw_static_settings *copy, VALUE string)
{
    const char *bytes = StringValueCStr(string);
    struct rb_uw_text *text = xmalloc(sizeof *text + strlen(bytes) + 1);

    strcpy(text->bytes, bytes);
    text->next = copy->texts;
    copy->texts = text;
    return text->bytes;
}

static const char *keep_setting(struct rb_uw_static_settings *copy, VALUE settings, const char *name)
{
    VALUE value = rb_uw_setting(settings, name);

    return NIL_P(value) ? NULL : keep(copy, value);
}

/* Reads pairs of extension and type, in order. */
static void read_media_types(struct rb_uw_static_settings *copy, VALUE pairs)
{
    long count = RARRAY_LEN(rb_convert_type(pairs, T_ARRAY, "Array", "to_ary"));

    copy->media_types = xcalloc((size_t)count, sizeof *copy->media_types);
    for (long i = 0; i < count; i++) {
        VALUE pair = rb_ary_entry(pairs, i);

        Check_Type(pair, T_ARRAY);
        copy->media_types[i].extension = keep(copy, rb_ary_entry(pair, 0));
        copy->media_types[i].type = keep(copy, rb_ary_entry(pair, 1));
    }
    copy->core.cache.media_types = (struct uw_media_types){copy->media_types, (size_t)count};
}

static void read_cache_settings(struct rb_uw_static_settings *copy, VALUE settings)
{
    struct uw_file_cache_settings *cache = &copy->core.cache;

    cache->entries_max = NUM2SIZET(rb_uw_setting(settings, "cache_entries_max"));
    cache->bytes_max = NUM2SIZET(rb_uw_setting(settings, "cache_bytes_max"));
    cache->file_bytes_max = NUM2LL(rb_uw_setting(settings, "cache_file_bytes_max"));
    cache->cache_control = keep_setting(copy, settings, "cache_control");
    cache->precompressed = RTEST(rb_uw_setting(settings, "gzip_static"));
    read_media_types(copy, rb_uw_setting(settings, "media_types"));
}

void rb_uw_static_settings_read(struct rb_uw_static_settings *copy, VALUE root, VALUE settings)
{
    copy->core.root = keep(copy, root);
    copy->core.fallback = keep_setting(copy, settings, "spa");
    copy->core.fields = keep_setting(copy, settings, "fields");
    copy->core.list = RTEST(rb_uw_setting(settings, "list"));
    read_cache_settings(copy, settings);
}

void rb_uw_static_settings_free(struct rb_uw_static_settings *copy)
{
    while (copy->texts) {
        struct rb_uw_text *text = copy->texts;

        copy->texts = text->next;
        xfree(text);
    }
    xfree(copy->media_types);
}
