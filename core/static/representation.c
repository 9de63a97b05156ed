#include "static/representation.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/date.h"
#include "http/range.h"
#include "static/open_beneath.h"

#define HEAD_BYTES_MAX (UW_HTTP_ETAG_BYTES_MAX + UW_CACHE_CONTROL_BYTES_MAX + UW_HTTP_MEDIA_TYPE_BYTES_MAX + 256)
#define READ_TRIES 3      /* of a file that changes while it is read */
#define CLOCK_STEP_MS 100 /* the coarsest clock a file system stamps files with, generously */

void uw_file_identify(struct uw_file_identity *identity, const struct stat *status)
{
    *identity = (struct uw_file_identity){
        .device = status->st_dev,
        .inode = status->st_ino,
        .size = status->st_size,
        .modified = status->st_mtim,
        .changed = status->st_ctim,
    };
}

static bool same_time(const struct timespec *one, const struct timespec *other)
{
    return one->tv_sec == other->tv_sec && one->tv_nsec == other->tv_nsec;
}

bool uw_file_identical(const struct uw_file_identity *one, const struct uw_file_identity *other)
{
    return one->inode == other->inode && one->device == other->device && one->size == other->size &&
           same_time(&one->modified, &other->modified) && same_time(&one->changed, &other->changed);
}

static int identify(int fd, struct uw_file_identity *identity)
{
    struct stat status;

    if (fstat(fd, &status))
        return -errno;
    if (S_ISDIR(status.st_mode))
        return -EISDIR;
    if (!S_ISREG(status.st_mode))
        return -EACCES;
    uw_file_identify(identity, &status);
    return 0;
}

int uw_file_probe(int root, const char *path, struct uw_file_identity *identity)
{
    int fd = uw_open_beneath(root, path, O_PATH), error;

    if (fd < 0)
        return fd;
    error = identify(fd, identity);
    close(fd);
    return error;
}

/* Probed first: merely opening a FIFO or a device has effects. */
static int open_regular(int root, const char *path, struct uw_file_identity *identity)
{
    int error = uw_file_probe(root, path, identity), fd;

    if (error)
        return error;
    fd = uw_open_beneath(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fd;
    error = identify(fd, identity);
    if (error) {
        close(fd);
        return error;
    }
    return fd;
}

static uint32_t put(char *text, uint32_t at, const char *name, const char *value)
{
    return at + (uint32_t)snprintf(text + at, HEAD_BYTES_MAX - at, "%s: %s\r\n", name, value);
}

static void write_head(struct uw_representation *representation, const struct uw_representation_fields *fields)
{
    char *text = representation->text, date[UW_HTTP_DATE_BYTES + 1];
    uint32_t at = put(text, 0, "ETag", representation->validators.etag);

    if (fields->varies)
        at = put(text, at, "Vary", "Accept-Encoding");
    if (fields->cache_control)
        at = put(text, at, "Cache-Control", fields->cache_control);
    representation->validators_end = at;
    uw_http_date(representation->validators.modified, date);
    at = put(text, at, "Last-Modified", date);
    at = put(text, at, "Accept-Ranges", "bytes");
    if (fields->coding != UW_CODING_IDENTITY)
        at = put(text, at, "Content-Encoding", uw_http_coding_name(fields->coding));
    representation->type_start = at;
    at = put(text, at, "Content-Type", fields->type);
    representation->type_end = at;
    at += (uint32_t)snprintf(text + at, HEAD_BYTES_MAX - at, "Content-Length: %" PRId64 "\r\n\r\n",
                             uw_representation_size(representation));
    representation->head_end = at;
}

/* A file may be written to again within one step of the file system's clock; only time shows that it was not. */
static bool is_young(const struct uw_file_identity *identity)
{
    struct timespec now = {0};
    int64_t age_ns;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    age_ns =
        (int64_t)(now.tv_sec - identity->changed.tv_sec) * UW_NS_PER_SECOND + now.tv_nsec - identity->changed.tv_nsec;
    return age_ns < CLOCK_STEP_MS * UW_NS_PER_MS;
}

static struct uw_representation *make(const struct uw_file_identity *identity,
                                      const struct uw_representation_fields *fields, size_t content_bytes)
{
    size_t bytes = sizeof(struct uw_representation) + HEAD_BYTES_MAX + content_bytes;
    struct uw_representation *representation = malloc(bytes);

    if (!representation)
        return NULL;
    *representation = (struct uw_representation){
        .references = 1, .fd = -1, .identity = *identity, .bytes = bytes, .type = fields->type};
    representation->young = is_young(identity);
    uw_http_validators_make(&representation->validators, identity->inode, identity->size, identity->modified,
                            fields->coding);
    write_head(representation, fields);
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

/* Returns -EAGAIN when the file changed meanwhile. */
static int read_content(struct uw_representation *representation, int fd)
{
    struct uw_file_identity after = {0};
    int error = read_all(fd, representation->text + representation->head_end, (size_t)representation->identity.size);

    if (!error)
        error = identify(fd, &after);
    if (!error && !uw_file_identical(&representation->identity, &after))
        error = -EAGAIN;
    if (!error)
        representation->content = representation->text + representation->head_end;
    return error;
}

static int load(struct uw_representation **loaded, int fd, const struct uw_file_identity *identity,
                const struct uw_representation_fields *fields, int64_t content_bytes_max)
{
    bool in_memory = identity->size <= content_bytes_max;
    struct uw_representation *representation = make(identity, fields, in_memory ? (size_t)identity->size : 0);
    int error = 0;

    if (!representation)
        return -ENOMEM;
    if (!in_memory)
        representation->fd = fd;
    else if ((error = read_content(representation, fd)))
        free(representation);
    if (!error)
        *loaded = representation;
    return error;
}

int uw_representation_load(struct uw_representation **loaded, int root, const char *path,
                           const struct uw_representation_fields *fields, int64_t content_bytes_max)
{
    int error = -EAGAIN;

    for (int i = 0; i < READ_TRIES && error == -EAGAIN; i++) {
        struct uw_file_identity identity = {0};
        int fd = open_regular(root, path, &identity);

        if (fd < 0)
            return fd;
        error = load(loaded, fd, &identity, fields, i + 1 < READ_TRIES ? content_bytes_max : -1);
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
