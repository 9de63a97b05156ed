/* Maps the path of a request target to the name of a file beneath a root. */
#ifndef UW_HTTP_PATH_H
#define UW_HTTP_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UW_HTTP_PATH_BYTES_MAX 4095 /* maximum length after decoding: PATH_MAX of Linux without the NUL */

struct uw_http_path {
    uint32_t length;
    bool folder;                           /* the target ends in a slash or a dot segment */
    char name[UW_HTTP_PATH_BYTES_MAX + 1]; /* relative to the root, "" for the root, without slashes at the ends */
};

/* Decodes percent-encoding, removes dot segments and repeated slashes, and drops the query. Bytes have no other
 * meaning: a name need not be UTF-8, and a backslash is an ordinary character.
 *
 * Returns 0. Returns -400 for a malformed path or a control character. Returns -414 if the name exceeds
 * UW_HTTP_PATH_BYTES_MAX. Returns -404 for a path that is never served: a ".." out of the root, an encoded slash, or a
 * name that begins with a dot. The only exception is ".well-known" directly beneath the root (RFC 8615). `path` is
 * valid only after 0. */
int uw_http_path_resolve(struct uw_http_path *path, const char *target, size_t length);

/* Returns true if uw_http_path_resolve can return a path with this name. Returns false for ".well-known". */
bool uw_http_name_is_servable(const char *name);

#endif
