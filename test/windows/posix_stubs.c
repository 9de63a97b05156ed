/* What tests name and Windows lacks, as far as they need it. */
#include "posix_stubs.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "windows/descriptor_table.h"
#include "windows/errno_map.h"

int uw_posix_openat(int folder, const char *name, int flags, ...);
#define open_one uw_posix_openat

#define PATH_UNITS_MAX 8192
#define COPY_BYTES 65536
#define SECONDS_BEFORE_1970 INT64_C(11644473600)

void *memmem(const void *bytes, size_t length, const void *sought, size_t sought_length)
{
    const char *at = bytes;

    for (; length >= sought_length; at++, length--)
        if (memcmp(at, sought, sought_length) == 0)
            return (void *)(uintptr_t)at;
    return NULL;
}

int setenv(const char *name, const char *value, int overwrite)
{
    (void)overwrite;
    return _putenv_s(name, value) ? -1 : 0;
}

int unsetenv(const char *name)
{
    return setenv(name, "", 1);
}

char *mkdtemp(char *path)
{
    int fd = mkstemp(path);

    if (fd < 0 || close(fd) || unlink(path) || mkdir(path, 0700))
        return NULL;
    return path;
}

int uw_open_at(int folder, const char *path, int flags, ...)
{
    const char *slash = strchr(path, '/');
    char name[NAME_MAX + 1];
    int inner, fd;

    if (!slash)
        return open_one(folder, path, flags);
    (void)snprintf(name, sizeof name, "%.*s", (int)(slash - path), path);
    inner = open_one(folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (inner < 0)
        return inner;
    fd = uw_open_at(inner, slash + 1, flags);
    (void)close(inner);
    return fd;
}

/* A path by that of the folder, which is open. */
static bool find(wchar_t path[PATH_UNITS_MAX], int folder, const char *name)
{
    struct uw_object *object = uw_number_retain(folder);
    DWORD length = object ? GetFinalPathNameByHandleW((HANDLE)object->handle, path, PATH_UNITS_MAX, 0) : 0;

    if (object)
        uw_object_release(object);
    if (length == 0 || length >= PATH_UNITS_MAX - 1)
        return false;
    path[length++] = '\\';
    if (!MultiByteToWideChar(CP_UTF8, 0, name, -1, path + length, (int)(PATH_UNITS_MAX - length)))
        return false;
    for (wchar_t *slash = wcschr(path, '/'); slash; slash = wcschr(slash, '/'))
        *slash = '\\';
    return true;
}

static int done(BOOL success)
{
    return success ? 0 : uw_lacking(uw_errno_of(GetLastError()));
}

/* What is open can be renamed and not be replaced: so for a moment nothing has the name. */
static BOOL put_away(const wchar_t *path)
{
    static atomic_int count;
    wchar_t other[PATH_UNITS_MAX];

    return swprintf(other, PATH_UNITS_MAX, L"%ls.%d", path, atomic_fetch_add(&count, 1)) > 0 &&
           MoveFileExW(path, other, 0) && DeleteFileW(other);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    wchar_t from_path[PATH_UNITS_MAX], to_path[PATH_UNITS_MAX];

    if (!find(from_path, from_folder, from) || !find(to_path, to_folder, to))
        return uw_lacking(ENOENT);
    if (MoveFileExW(from_path, to_path, MOVEFILE_REPLACE_EXISTING))
        return 0;
    return done(put_away(to_path) && MoveFileExW(from_path, to_path, 0));
}

int mkdirat(int folder, const char *name, unsigned mode)
{
    wchar_t path[PATH_UNITS_MAX];

    (void)mode;
    return done(find(path, folder, name) && CreateDirectoryW(path, NULL));
}

/* Links of Windows are not followed: see docs/decisions. Who needs one that leads somewhere is named in
 * skipped_tests.h. */
int symlinkat(const char *target, int folder, const char *name)
{
    (void)target, (void)folder, (void)name;
    return 0;
}

int mkfifoat(int folder, const char *name, unsigned mode)
{
    (void)folder, (void)name, (void)mode;
    return uw_lacks();
}

int mknodat(int folder, const char *name, unsigned mode, int device)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL, mode);

    (void)device;
    return fd < 0 ? -1 : close(fd);
}

int fchmodat(int folder, const char *name, unsigned mode, int flags)
{
    (void)folder, (void)name, (void)mode, (void)flags;
    return uw_lacks();
}

int unlinkat(int folder, const char *name, int flags)
{
    wchar_t path[PATH_UNITS_MAX];

    return done(find(path, folder, name) && (flags & AT_REMOVEDIR ? RemoveDirectoryW(path) : DeleteFileW(path)));
}

static FILETIME time_of(const struct timespec *time)
{
    int64_t ticks = (time->tv_sec + SECONDS_BEFORE_1970) * 10000000 + time->tv_nsec / 100;

    return (FILETIME){(DWORD)ticks, (DWORD)(ticks >> 32)};
}

int futimens(int fd, const struct timespec times[2])
{
    FILETIME accessed = time_of(&times[0]), written = time_of(&times[1]);
    struct uw_object *object = uw_number_retain(fd);
    int result = object ? done(SetFileTime((HANDLE)object->handle, NULL, &accessed, &written)) : uw_lacks();

    if (object)
        uw_object_release(object);
    return result;
}

int utimensat(int folder, const char *name, const struct timespec times[2], int flags)
{
    int fd = openat(folder, name, O_WRONLY), result = fd < 0 ? -1 : futimens(fd, times);

    (void)flags;
    if (fd >= 0)
        (void)close(fd);
    return result;
}

int memfd_create(const char *name, unsigned flags)
{
    char path[] = "/tmp/upwell-memory-XXXXXX";
    int fd = mkstemp(path);

    (void)name, (void)flags;
    if (fd >= 0)
        (void)unlink(path);
    return fd;
}

FILE *uw_copy_of(int fd)
{
    static char bytes[COPY_BYTES];
    FILE *file = tmpfile();
    ssize_t count;

    (void)lseek(fd, 0, SEEK_SET);
    while (file && (count = read(fd, bytes, sizeof bytes)) > 0)
        if (fwrite(bytes, 1, (size_t)count, file) != (size_t)count)
            abort();
    (void)close(fd);
    if (file)
        rewind(file);
    return file;
}

int uw_remove(const char *path)
{
    return unlink(path) == 0 ? 0 : rmdir(path);
}

static int visit_all_in(DIR *folder, const char *path,
                        int (*visit)(const char *, const struct stat *, int, struct FTW *), int most)
{
    char inner[PATH_UNITS_MAX];
    struct dirent *entry;
    int result = 0;

    while (!result && (entry = readdir(folder))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        (void)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        result = nftw(inner, visit, most, FTW_DEPTH);
    }
    (void)closedir(folder);
    return result;
}

int nftw(const char *path, int (*visit)(const char *, const struct stat *, int, struct FTW *), int most, int flags)
{
    struct stat status = {0};
    DIR *folder = opendir(path);
    int result = folder ? visit_all_in(folder, path, visit, most) : 0;

    (void)flags;
    return result ? result : visit(path, &status, 0, NULL);
}

static DWORD protected(int protection)
{
    return protection == PROT_NONE ? PAGE_NOACCESS : protection & PROT_WRITE ? PAGE_READWRITE : PAGE_READONLY;
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, int64_t offset)
{
    void *memory = fd >= 0 ? NULL : VirtualAlloc(at, length, MEM_RESERVE | MEM_COMMIT, protected(protection));

    (void)flags, (void)offset;
    return memory ? memory : MAP_FAILED;
}

int mprotect(void *at, size_t length, int protection)
{
    DWORD before;

    return done(VirtualProtect(at, length, protected(protection), &before));
}

int munmap(void *at, size_t length)
{
    (void)length;
    return done(VirtualFree(at, 0, MEM_RELEASE));
}
