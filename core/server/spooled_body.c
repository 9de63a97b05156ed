#include "server/spooled_body.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system.h"

#define CAPACITY_MIN 4096
#define PATH_BYTES_MAX 4096

void uw_spooled_body_init(struct uw_spooled_body *body)
{
    *body = (struct uw_spooled_body){.fd = -1};
}

void uw_spooled_body_free(struct uw_spooled_body *body)
{
    free(body->memory);
    if (body->fd >= 0)
        close(body->fd);
    uw_spooled_body_init(body);
}

/* Systems without unnamed temporary files create a file and remove its name. */
static int open_unlinked(const char *folder)
{
    char path[PATH_BYTES_MAX];
    int length = snprintf(path, sizeof path, "%s/upwell-body-XXXXXX", folder), fd;

    if (length < 0 || (size_t)length >= sizeof path)
        return -ENAMETOOLONG;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    (void)unlink(path);
    return fd;
}

const char *uw_spooled_body_folder(void)
{
    const char *folder = getenv("TMPDIR");

    return folder && *folder ? folder : "/tmp";
}

static int open_temporary(void)
{
    const char *folder = uw_spooled_body_folder();
    int fd = uw_open_unnamed(folder);

    return fd == -EOPNOTSUPP ? open_unlinked(folder) : fd;
}

static int write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t written = write(fd, bytes, length);

        if (written < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

static int move_to_file(struct uw_spooled_body *body)
{
    int fd = open_temporary(), error;

    if (fd < 0)
        return fd;
    error = write_all(fd, body->memory, (size_t)body->length);
    if (error) {
        close(fd);
        return error;
    }
    free(body->memory);
    body->memory = NULL;
    body->capacity = 0;
    body->fd = fd;
    return 0;
}

static int reserve_memory(struct uw_spooled_body *body, size_t length, size_t memory_bytes_max)
{
    size_t capacity = body->capacity ? body->capacity : CAPACITY_MIN;
    char *memory;

    if (length <= body->capacity)
        return 0;
    while (capacity < length)
        capacity *= 2;
    if (capacity > memory_bytes_max)
        capacity = memory_bytes_max;
    memory = realloc(body->memory, capacity);
    if (!memory)
        return -ENOMEM;
    body->memory = memory;
    body->capacity = capacity;
    return 0;
}

static int append_in_memory(struct uw_spooled_body *body, const char *bytes, size_t length, uint64_t expected,
                            size_t memory_bytes_max)
{
    size_t sum = (size_t)body->length + length;
    int error = reserve_memory(body, expected > sum ? (size_t)expected : sum, memory_bytes_max);

    if (!error)
        memcpy(body->memory + body->length, bytes, length);
    return error;
}

int uw_spooled_body_append(struct uw_spooled_body *body, const char *bytes, size_t length, uint64_t expected,
                           size_t memory_bytes_max)
{
    uint64_t sum = body->length + length;
    int error = 0;

    if (body->fd < 0 && (sum > memory_bytes_max || expected > memory_bytes_max))
        error = move_to_file(body);
    if (!error)
        error = body->fd >= 0 ? write_all(body->fd, bytes, length)
                              : append_in_memory(body, bytes, length, expected, memory_bytes_max);
    if (error && body->fd >= 0) /* a partial write is not part of the content */
        (void)lseek(body->fd, (off_t)body->length, SEEK_SET);
    if (!error)
        body->length = sum;
    return error;
}
