/* A file in one content coding, ready to be sent: header fields as text, and content in memory or as an open
 * descriptor. It is immutable. If the file changes, another representation replaces it. */
#ifndef UW_STATIC_REPRESENTATION_H
#define UW_STATIC_REPRESENTATION_H

#include "http/conditional.h"
#include "static/content_hashes.h"
#include "static/file_identity.h"

#define UW_CACHE_CONTROL_BYTES_MAX 256

/* Header fields that do not depend on the file */
struct uw_representation_fields {
    const char *type;          /* Content-Type */
    const char *cache_control; /* Cache-Control, or NULL */
    enum uw_http_coding coding;
    bool varies; /* the response has Vary: Accept-Encoding */
};

struct uw_representation {
    unsigned references;
    int fd; /* descriptor of the file, or -1 if the content is in memory */
    struct uw_file_identity identity;
    bool young;   /* uw_file_is_young was true when the file was read */
    size_t bytes; /* bytes of memory, including the content */
    struct uw_http_validators validators;
    const char *type;

    /* Header lines in this order: the fields of a 304, other fields, Content-Type, Content-Length, the empty line. The
     * content follows at head_end. */
    uint32_t type_start, type_end, head_end; /* offsets in `text` */
    uint32_t validators_end;
    const char *content; /* in `text`, or NULL if only the file has the content */
    char text[];
};

static inline int64_t uw_representation_size(const struct uw_representation *representation)
{
    return representation->identity.size;
}

/* Gets the identity of the file at `path` beneath the directory `root`, without opening the file for reading. Returns
 * 0, -EISDIR for a directory, -EACCES for a special file, or another -errno. */
int uw_file_probe(int root, const char *path, struct uw_file_identity *identity);

/* Loads the regular file `path`. Content of at most `content_bytes_max` bytes is read into memory. Larger content is
 * sent from the file. Its entity tag is weak, unless `hashes` has its hash or the file is too large to hash. Returns 0
 * and a representation with one reference in `*loaded`, or -errno like uw_file_probe. */
int uw_representation_load(struct uw_representation **loaded, int root, const char *path,
                           const struct uw_representation_fields *fields, int64_t content_bytes_max,
                           struct uw_content_hashes *hashes);

/* Returns a representation without a file, with one reference, or NULL without memory. The caller writes `length` bytes
 * of content at `text + head_end`. */
struct uw_representation *uw_representation_make(const char *type, size_t length);

static inline struct uw_representation *uw_representation_retain(struct uw_representation *representation)
{
    representation->references++;
    return representation;
}

void uw_representation_release(struct uw_representation *representation);

#endif
