/* From the path of a request target to the name of a file beneath a root. */
#ifndef UW_HTTP_PATH_H
#define UW_HTTP_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UW_HTTP_PATH_BYTES_MAX 4095 /* decoded; PATH_MAX of Linux without the NUL */

struct uw_http_path {
    uint32_t length;
    bool folder;                           /* the target ended in a slash, or in a dot segment */
    char name[UW_HTTP_PATH_BYTES_MAX + 1]; /* relative, "" for the root, without slash at either end; ends in a NUL */
};

/* Decodes percent-encoding, removes dot segments and repeated slashes, and leaves out a query. Bytes are not
 * interpreted further: a name may be UTF-8 or not, and a backslash is a character like any other.
 *
 * Returns 0; -400 for a path that is malformed, or has a control character in it; -404 for one that is never served:
 * a ".." that leaves the root, an encoded slash, a name that begins with a dot (except ".well-known" directly beneath
 * the root, RFC 8615); or -414. Only with 0 is `path` valid. */
int uw_http_path_resolve(struct uw_http_path *path, const char *target, size_t length);

/* Whether any target leads to an entry of this name in a folder that is served; ".well-known" aside. */
bool uw_http_path_leads_to(const char *name);

#endif
