#include "static/file_identity.h"

#include <errno.h>

#include "base/clock.h"
#include "base/file_times.h"
#include "base/xxh64.h"

#define CLOCK_STEP_MS 100 /* greater than the step of any file system's clock */

int uw_file_identify(struct uw_file_identity *identity, int fd)
{
    struct stat status;

    if (fstat(fd, &status))
        return -errno;
    if (S_ISDIR(status.st_mode))
        return -EISDIR;
    if (!S_ISREG(status.st_mode))
        return -EACCES;
    *identity = (struct uw_file_identity){
        .device = status.st_dev,
        .inode = status.st_ino,
        .size = status.st_size,
        .modified = uw_modified_at(&status),
        .changed = uw_changed_at(&status),
    };
    return 0;
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

/* Returns the time since the last change. */
static int64_t age_ns(const struct uw_file_identity *identity)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)(now.tv_sec - identity->changed.tv_sec) * UW_NS_PER_SECOND + now.tv_nsec -
           identity->changed.tv_nsec;
}

bool uw_file_is_young(const struct uw_file_identity *identity)
{
    return age_ns(identity) < CLOCK_STEP_MS * UW_NS_PER_MS;
}

bool uw_file_is_at_rest(const struct uw_file_identity *identity, int64_t seconds)
{
    return age_ns(identity) >= seconds * UW_NS_PER_SECOND;
}

uint64_t uw_file_identity_hash(const struct uw_file_identity *identity)
{
    const uint64_t parts[] = {
        (uint64_t)identity->device,
        (uint64_t)identity->inode,
        (uint64_t)identity->size,
        (uint64_t)identity->modified.tv_sec,
        (uint64_t)identity->modified.tv_nsec,
        (uint64_t)identity->changed.tv_sec,
        (uint64_t)identity->changed.tv_nsec,
    };

    return uw_xxh64(parts, sizeof parts);
}
