/* A temporary folder for a test: "public" in it is what is served, beside it lies what must never be. */
#ifndef UW_TEST_STATIC_TEMPORARY_DIRECTORY_H
#define UW_TEST_STATIC_TEMPORARY_DIRECTORY_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "open_descriptors.h"

#define SECRET "this must never be served"

/* In memory for a test of very many files: ext4 may take long to find room where as many were just removed. */
#ifndef FOLDER_PARENT
#define FOLDER_PARENT "/tmp"
#endif
#define FOLDER_TEMPLATE FOLDER_PARENT "/upwell-static-XXXXXX"

static char folder_path[] = FOLDER_TEMPLATE;
static int folder = -1; /* of "public" */

static inline void write_at(int at, const char *name, const char *bytes, size_t length)
{
    int fd = openat(at, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    CHECK(fd >= 0);
    CHECK_EQUAL(length, write(fd, bytes, length));
    close(fd);
}

static inline void write_text(const char *name, const char *text)
{
    write_at(folder, name, text, strlen(text));
}

static inline void set_time(const char *name, time_t seconds, long ns)
{
    const struct timespec times[] = {{.tv_sec = seconds, .tv_nsec = ns}, {.tv_sec = seconds, .tv_nsec = ns}};

    CHECK_EQUAL(0, utimensat(folder, name, times, 0));
}

static inline char pattern_byte(size_t i)
{
    return (char)('a' + i % 23 + i / 1000 % 3);
}

static inline void write_pattern(const char *name, size_t length)
{
    char *bytes = malloc(length);

    for (size_t i = 0; i < length; i++)
        bytes[i] = pattern_byte(i);
    write_at(folder, name, bytes, length);
    free(bytes);
}

/* A rename over it: the name always stands for a whole file. */
static inline void replace_text(const char *name, const char *text)
{
    write_text("replacement", text);
    CHECK_EQUAL(0, renameat(folder, "replacement", folder, name));
}

static inline void make_folder(const char *name)
{
    CHECK_EQUAL(0, mkdirat(folder, name, 0755));
}

static inline void make_link(const char *target, const char *name)
{
    CHECK_EQUAL(0, symlinkat(target, folder, name));
}

static inline void folder_open(void)
{
    int parent;

    strcpy(folder_path, FOLDER_TEMPLATE);
    CHECK(mkdtemp(folder_path) != NULL);
    parent = open(folder_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    write_at(parent, "secret", SECRET, strlen(SECRET));
    CHECK_EQUAL(0, mkdirat(parent, "public", 0755));
    folder = openat(parent, "public", O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(folder >= 0);
    close(parent);
}

static inline int folder_remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

#define FOLDER_LEVELS_MAX 100 /* musl's nftw goes no deeper than it is allowed descriptors */

static inline void folder_close(void)
{
    close(folder);
    CHECK_EQUAL(0, nftw(folder_path, folder_remove_one, FOLDER_LEVELS_MAX, FTW_DEPTH | FTW_PHYS));
}

static inline void limit_descriptors(rlim_t most)
{
    struct rlimit limit;

    CHECK_EQUAL(0, getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &limit));
}

/* Takes every descriptor that a limit of `limit` leaves; `taken` has room for as many. Returns how many. */
static inline int take_descriptors(int taken[], rlim_t limit)
{
    int count = 0;

    limit_descriptors(limit);
    while (count < (int)limit && (taken[count] = dup(folder)) >= 0)
        count++;
    return count;
}

static inline void give_descriptors_back(const int taken[], int count)
{
    while (count > 0)
        close(taken[--count]);
    limit_descriptors(RLIM_INFINITY);
}

#endif
