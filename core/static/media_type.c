#include "static/media_type.h"

#include <stdlib.h>
#include <string.h>

#include "http/range.h"

static int compare_extension(const void *extension, const void *type)
{
    return strcmp(extension, ((const struct uw_media_type *)type)->extension);
}

static char lower_case(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Copies the extension in lower case. Returns its length. Returns 0 without an extension, or if it is too long. */
static size_t extension_of(const char *name, char extension[UW_EXTENSION_BYTES_MAX + 1])
{
    const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash : name, '.');
    size_t length = dot ? strlen(dot + 1) : 0;

    if (length > UW_EXTENSION_BYTES_MAX)
        return 0;
    for (size_t i = 0; i < length; i++)
        extension[i] = lower_case(dot[1 + i]);
    extension[length] = '\0';
    return length;
}

const char *uw_media_type_find(const struct uw_media_types *types, const char *name)
{
    char extension[UW_EXTENSION_BYTES_MAX + 1];
    const struct uw_media_type *found = NULL;

    if (types->count && extension_of(name, extension))
        found = bsearch(extension, types->table, types->count, sizeof *types->table, compare_extension);
    return found && strlen(found->type) <= UW_HTTP_MEDIA_TYPE_BYTES_MAX ? found->type : UW_MEDIA_TYPE_DEFAULT;
}
