#include "static/representation.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xxh64.h"
#include "http/date.h"
#include "http/range.h"
#include "static/open_beneath.h"

#define HEAD_BYTES_MAX (UW_HTTP_ETAG_BYTES_MAX + UW_CACHE_CONTROL_BYTES_MAX + UW_HTTP_MEDIA_TYPE_BYTES_MAX + 256)
#define READ_TRIES 3 /* attempts to read a changing file. The last attempt sends the file from its descriptor */

int uw_file_probe(int root, const char *path, struct uw_file_identity *identity)
{
    int fd = uw_open_beneath(root, path, uw_open_to_look), error;

    if (fd < 0)
        return fd;
    error = uw_file_identify(identity, fd);
    close(fd);
    return error;
}

/* The file is probed first, because merely opening a FIFO or a device has effects. */
static int open_regular(int root, const char *path, struct uw_file_identity *identity)
{
    int error = uw_file_probe(root, path, identity), fd;

    if (error)
        return error;
    fd = uw_open_beneath(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fd;
    error = uw_file_identify(identity, fd);
    if (error) {
        close(fd);
        return error;
    }
    return fd;
}

static uint32_t append_field(char *text, uint32_t at, const char *name, const char *value)
{
    return at + (uint32_t)snprintf(text + at, HEAD_BYTES_MAX - at, "%s: %s\r\n", name, value);
}

/* Writes the last fields of every head. */
static void append_last_fields(struct uw_representation *representation, uint32_t at)
{
    char *text = representation->text;

    representation->type_start = at;
    at = append_field(text, at, "Content-Type", representation->type);
    representation->type_end = at;
    at += (uint32_t)snprintf(text + at, HEAD_BYTES_MAX - at, "Content-Length: %" PRId64 "\r\n\r\n",
                             uw_representation_size(representation));
    representation->head_end = at;
}

static void write_head(struct uw_representation *representation, const struct uw_representation_fields *fields)
{
    char *text = representation->text, date[UW_HTTP_DATE_BYTES + 1];
    uint32_t at = append_field(text, 0, "ETag", representation->validators.etag);

    if (fields->varies)
        at = append_field(text, at, "Vary", "Accept-Encoding");
    if (fields->cache_control)
        at = append_field(text, at, "Cache-Control", fields->cache_control);
    representation->validators_end = at;
    uw_http_date(representation->validators.modified, date);
    if (representation->validators.dated)
        at = append_field(text, at, "Last-Modified", date);
    at = append_field(text, at, "Accept-Ranges", "bytes");
    if (fields->coding != UW_CODING_IDENTITY)
        at = append_field(text, at, "Content-Encoding", uw_http_coding_name(fields->coding));
    append_last_fields(representation, at);
}

static struct uw_representation *allocate_representation(const struct uw_file_identity *identity, const char *type,
                                                         size_t content_bytes)
{
    size_t bytes = sizeof(struct uw_representation) + HEAD_BYTES_MAX + content_bytes;
    struct uw_representation *representation = malloc(bytes);

    if (representation)
        *representation =
            (struct uw_representation){.references = 1, .fd = -1, .identity = *identity, .bytes = bytes, .type = type};
    return representation;
}

struct uw_representation *uw_representation_make(const char *type, size_t length)
{
    const struct uw_file_identity identity = {.size = (int64_t)length};
    struct uw_representation *representation = allocate_representation(&identity, type, length);

    if (!representation)
        return NULL;
    append_last_fields(representation, 0);
    representation->content = representation->text + representation->head_end;
    return representation;
}

static int read_all(int fd, char *content, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t count = pread(fd, content + done, length - done, (off_t)done);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count < 0 ? -errno : -EAGAIN;
        done += (size_t)count;
    }
    return 0;
}

/* Returns 0, -EAGAIN if the file has changed meanwhile, or another -errno. */
static int read_content(const struct uw_file_identity *identity, int fd, char *content)
{
    struct uw_file_identity after = {0};
    int error = read_all(fd, content, (size_t)identity->size);

    if (!error)
        error = uw_file_identify(&after, fd);
    return !error && !uw_file_identical(identity, &after) ? -EAGAIN : error;
}

/* The head precedes the content in memory. It depends on the content's hash, so it is written after the content and the
 * content is then moved. */
static int load_into_memory(struct uw_representation *representation, int fd,
                            const struct uw_representation_fields *fields)
{
    char *content = representation->text + HEAD_BYTES_MAX;
    size_t size = (size_t)representation->identity.size;
    int error = read_content(&representation->identity, fd, content);

    if (error)
        return error;
    uw_http_validators_make(&representation->validators, false, uw_xxh64(content, size), size,
                            representation->identity.modified.tv_sec, fields->coding);
    write_head(representation, fields);
    representation->content = memmove(representation->text + representation->head_end, content, size);
    return 0;
}

/* A file that has just changed gets a weak tag, because its identity may not show a later write. */
static uint64_t weak_hash(const struct uw_representation *representation)
{
    uint64_t hash = uw_file_identity_hash(&representation->identity);

    return representation->young ? hash ^ (uint64_t)uw_clock_ns() : hash;
}

/* For a file that is too large to hash, the identity is a strong validator (RFC 9110, section 8.8.1). A write changes
 * the file's ctime, once the current step of the file system's clock is over. */
static bool identity_is_strong(const struct uw_representation *representation)
{
    return !representation->young && !uw_content_hashes_are_for(representation->identity.size);
}

static void load_as_file(struct uw_representation *representation, int fd,
                         const struct uw_representation_fields *fields, struct uw_content_hashes *hashes)
{
    const struct uw_file_identity *identity = &representation->identity;
    uint64_t hash;
    bool known = uw_content_hashes_find(hashes, fd, identity, &hash);
    bool strong = known || identity_is_strong(representation);

    uw_http_validators_make(&representation->validators, !strong, known ? hash : weak_hash(representation),
                            (size_t)identity->size, identity->modified.tv_sec, fields->coding);
    write_head(representation, fields);
    representation->fd = fd;
}

static int load_representation(struct uw_representation **loaded, int fd, const struct uw_file_identity *identity,
                               const struct uw_representation_fields *fields, int64_t content_bytes_max,
                               struct uw_content_hashes *hashes)
{
    bool in_memory = identity->size <= content_bytes_max;
    struct uw_representation *representation =
        allocate_representation(identity, fields->type, in_memory ? (size_t)identity->size : 0);
    int error = 0;

    if (!representation)
        return -ENOMEM;
    representation->young = uw_file_is_young(identity);
    if (in_memory)
        error = load_into_memory(representation, fd, fields);
    else
        load_as_file(representation, fd, fields, hashes);
    if (error)
        free(representation);
    else
        *loaded = representation;
    return error;
}

int uw_representation_load(struct uw_representation **loaded, int root, const char *path,
                           const struct uw_representation_fields *fields, int64_t content_bytes_max,
                           struct uw_content_hashes *hashes)
{
    int error = -EAGAIN;

    for (int i = 0; i < READ_TRIES && error == -EAGAIN; i++) {
        struct uw_file_identity identity = {0};
        int fd = open_regular(root, path, &identity);

        if (fd < 0)
            return fd;
        error = load_representation(loaded, fd, &identity, fields, i + 1 < READ_TRIES ? content_bytes_max : -1, hashes);
        if (error || (*loaded)->fd < 0)
            close(fd);
    }
    return error;
}

void uw_representation_release(struct uw_representation *representation)
{
    if (--representation->references)
        return;
    if (representation->fd >= 0)
        close(representation->fd);
    free(representation);
}
