/* Maps the path of a request target to the name of a file beneath a root. */
#ifndef UW_HTTP_PATH_H
#define UW_HTTP_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UW_HTTP_PATH_BYTES_MAX 4095 /* maximum after decoding; PATH_MAX of Linux without the NUL */

struct uw_http_path {
    uint32_t length;
    bool folder;                           /* the target ends in a slash or a dot segment */
    char name[UW_HTTP_PATH_BYTES_MAX + 1]; /* relative, without slash at either end, "" for the root; NUL-terminated */
};

/* Decodes percent-encoding, removes dot segments and repeated slashes, and drops the query. Bytes are not interpreted
 * further: a name need not be UTF-8, and a backslash is an ordinary character.
 *
 * Returns 0. Returns -400 for a malformed path or a control character; -414 for a path that is too long. Returns -404
 * for a path that is never served: a ".." that leads out of the root, an encoded slash, or a name that begins with a
 * dot (except ".well-known" directly beneath the root, RFC 8615). `path` is valid only after 0. */
int uw_http_path_resolve(struct uw_http_path *path, const char *target, size_t length);

/* Returns whether a target can lead to an entry of this name in a served directory, except ".well-known". */
bool uw_http_path_leads_to(const char *name);

#endif
