/* What a target resolves to must be the name of something beneath the root, whatever the target; and the name, encoded
 * again, must resolve to itself. */
#include <stdlib.h>
#include <string.h>

#include "http/path.h"

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_segment(const char *segment, size_t length, int first)
{
    require(length > 0);
    require(segment[0] != '.' ||
            (first && length == strlen(".well-known") && memcmp(segment, ".well-known", length) == 0));
    for (size_t i = 0; i < length; i++)
        require((unsigned char)segment[i] >= ' ' && segment[i] != 0x7f);
}

static void check_name(const struct uw_http_path *path)
{
    const char *segment = path->name, *slash;

    require(path->length <= UW_HTTP_PATH_BYTES_MAX && strlen(path->name) == path->length);
    if (path->length == 0) {
        require(path->folder);
        return;
    }
    while ((slash = strchr(segment, '/'))) {
        check_segment(segment, (size_t)(slash - segment), segment == path->name);
        segment = slash + 1;
    }
    check_segment(segment, strlen(segment), segment == path->name);
}

static void check_again(const struct uw_http_path *path)
{
    static const char digits[] = "0123456789abcdef";
    static char target[3 * UW_HTTP_PATH_BYTES_MAX + 2];
    static struct uw_http_path again;
    size_t length = 0;

    target[length++] = '/';
    for (uint32_t i = 0; i < path->length; i++) {
        unsigned char byte = (unsigned char)path->name[i];

        target[length++] = byte == '/' ? '/' : '%';
        if (byte == '/')
            continue;
        target[length++] = digits[byte >> 4];
        target[length++] = digits[byte & 15];
    }
    require(uw_http_path_resolve(&again, target, length) == 0);
    require(again.length == path->length && memcmp(again.name, path->name, path->length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct uw_http_path path;
    char *target = malloc(size > 0 ? size : 1); /* its end is the sanitizer's */
    int result;

    if (!target)
        abort();
    memcpy(target, data, size);
    result = uw_http_path_resolve(&path, target, size);
    free(target);
    if (result == 0) {
        check_name(&path);
        check_again(&path);
    } else {
        require(result == -400 || result == -404 || result == -414);
    }
    return 0;
}
