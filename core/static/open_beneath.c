#include "static/open_beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system.h"

/* A walk through directories, which keeps each directory on its way open. ".." returns to the previous directory, even
 * if another process has moved it. */
struct walk {
    int folders[UW_OPEN_BENEATH_DEPTH_MAX]; /* the first is the root, which belongs to the caller */
    int depth;                              /* index of the current directory */
    int links;
    char rest[PATH_MAX]; /* rest of the path */
};

int uw_open_beneath(int root, const char *path, int flags)
{
    static atomic_bool missing; /* this kernel has no openat2(2) */
    int fd = atomic_load_explicit(&missing, memory_order_relaxed)
                 ? -ENOSYS
                 : uw_open_beneath_at_once(root, *path ? path : ".", flags);

    if (fd == -ENOSYS)
        atomic_store_explicit(&missing, true, memory_order_relaxed);
    /* EPERM: a sandbox rejects the unknown system call. */
    return fd == -ENOSYS || fd == -EPERM ? uw_open_beneath_by_steps(root, path, flags) : fd;
}

static int current_folder(const struct walk *walk)
{
    return walk->folders[walk->depth];
}

static int leave_folder(struct walk *walk)
{
    if (walk->depth == 0)
        return -EXDEV;
    close(walk->folders[walk->depth--]);
    return 0;
}

static int enter_folder(struct walk *walk, const char *name)
{
    int fd;

    if (walk->depth + 1 == UW_OPEN_BENEATH_DEPTH_MAX)
        return -ENAMETOOLONG;
    fd = openat(current_folder(walk), name, uw_open_to_look | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    walk->folders[++walk->depth] = fd;
    return 0;
}

/* Puts the target of the link before the rest of the path. */
static int follow_link(struct walk *walk, const char *name)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(current_folder(walk), name, target, sizeof target);
    size_t rest = strlen(walk->rest);

    if (length < 0)
        return -errno;
    if (++walk->links > UW_OPEN_BENEATH_LINKS_MAX)
        return -ELOOP;
    if (length == 0 || target[0] == '/')
        return -EXDEV;
    if ((size_t)length + 1 + rest >= sizeof walk->rest)
        return -ENAMETOOLONG;
    memmove(walk->rest + length + 1, walk->rest, rest + 1);
    memcpy(walk->rest, target, (size_t)length);
    walk->rest[length] = '/';
    return 0;
}

/* Removes the first name from the rest of the path. Returns true for the last name. */
static bool take_name(struct walk *walk, char name[NAME_MAX + 1], int *error)
{
    size_t skipped = strspn(walk->rest, "/"), length = strcspn(walk->rest + skipped, "/");
    size_t slashes = strspn(walk->rest + skipped + length, "/");

    *error = length > NAME_MAX ? -ENAMETOOLONG : 0;
    if (*error)
        return true;
    memcpy(name, walk->rest + skipped, length);
    name[length] = '\0';
    skipped += length + slashes;
    memmove(walk->rest, walk->rest + skipped, strlen(walk->rest + skipped) + 1);
    return !walk->rest[0];
}

static bool is_link(const struct walk *walk, const char *name)
{
    struct stat status;

    return fstatat(current_folder(walk), name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

static int open_last(const struct walk *walk, const char *name, int flags)
{
    int fd = openat(current_folder(walk), name, flags | O_NOFOLLOW | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

/* Follows one path segment. Returns a descriptor after the last segment, -EINPROGRESS if segments remain, or -errno. */
static int follow_segment(struct walk *walk, int flags)
{
    char name[NAME_MAX + 1];
    int error;
    bool last = take_name(walk, name, &error);

    if (!error && strcmp(name, "..") == 0)
        error = leave_folder(walk);
    else if (!error && *name && strcmp(name, ".") != 0) {
        if (is_link(walk, name))
            return (error = follow_link(walk, name)) ? error : -EINPROGRESS;
        if (last)
            return open_last(walk, name, flags);
        error = enter_folder(walk, name);
    }
    if (error)
        return error;
    return last ? open_last(walk, ".", flags) : -EINPROGRESS;
}

int uw_open_beneath_by_steps(int root, const char *path, int flags)
{
    struct walk walk = {.folders[0] = root};
    int fd;

    if (path[0] == '/')
        return -EXDEV;
    if (strlen(path) >= sizeof walk.rest)
        return -ENAMETOOLONG;
    memcpy(walk.rest, path, strlen(path) + 1);
    do {
        fd = follow_segment(&walk, flags);
    } while (fd == -EINPROGRESS);
    while (walk.depth > 0)
        (void)leave_folder(&walk);
    return fd;
}
