/* A file in one content coding, ready to be sent: its header fields as text, and its content in memory or as an open
 * descriptor. It does not change; when the file changes, another representation replaces it. */
#ifndef UW_STATIC_REPRESENTATION_H
#define UW_STATIC_REPRESENTATION_H

#include "http/conditional.h"
#include "static/content_hashes.h"
#include "static/file_identity.h"

#define UW_CACHE_CONTROL_BYTES_MAX 256

/* The header fields that do not depend on the file. */
struct uw_representation_fields {
    const char *type;          /* Content-Type */
    const char *cache_control; /* or NULL */
    enum uw_http_coding coding;
    bool varies; /* with Accept-Encoding */
};

struct uw_representation {
    unsigned references;
    int fd; /* -1 when the content is in memory */
    struct uw_file_identity identity;
    bool young;   /* written so recently before the read that the file system's clock may not show another write */
    size_t bytes; /* of memory, with its content */
    struct uw_http_validators validators;
    const char *type;

    /* Header lines: first those that a 304 has, too; then the others, with Content-Type last; then Content-Length and
     * the empty line. The content follows directly. */
    uint32_t type_start, type_end, head_end; /* offsets in `text` */
    uint32_t validators_end;
    const char *content; /* in `text`; NULL when it is in the file only */
    char text[];
};

static inline int64_t uw_representation_size(const struct uw_representation *representation)
{
    return representation->identity.size;
}

/* Gets the identity of the file at `path` beneath the directory `root` without opening the file. Returns 0; -EISDIR for
 * a directory; -EACCES for a special file; or another -errno. */
int uw_file_probe(int root, const char *path, struct uw_file_identity *identity);

/* Opens the regular file `path` and reads content of at most `content_bytes_max`. More is not read, and is sent from
 * the file, whose entity tag is weak as long as `hashes` do not know its content. Returns a representation with one
 * reference in `*loaded`, or -errno as uw_file_probe. */
int uw_representation_load(struct uw_representation **loaded, int root, const char *path,
                           const struct uw_representation_fields *fields, int64_t content_bytes_max,
                           struct uw_content_hashes *hashes);

/* Content that is no file's: `length` bytes, which the caller writes behind the head, at `text + head_end`. Returns it
 * with one reference, or NULL when memory is exhausted. */
struct uw_representation *uw_representation_make(const char *type, size_t length);

static inline struct uw_representation *uw_representation_retain(struct uw_representation *representation)
{
    representation->references++;
    return representation;
}

void uw_representation_release(struct uw_representation *representation);

#endif
