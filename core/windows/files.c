#include "windows/files.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>
#include <winternl.h>

#include "windows/errno_map.h"
#include "windows/file_status.h"
#include "windows/files_flags.h"
#include "windows/poll_events.h"
#include "windows/sockets.h"

/* As in POSIX, an open file does not block other users. */
#define SHARE_ALL (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
#define NS_PER_TICK 100
#define TICKS_PER_SECOND 10000000
#define TICKS_TO_1970 INT64_C(116444736000000000)
#define UNNAMED_TRIES 100

/* Returns the path in UTF-16, which the caller frees. Returns NULL with errno on errors. */
static wchar_t *utf16_path(const char *path)
{
    int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    wchar_t *result = length > 0 ? malloc((size_t)length * sizeof *result) : NULL;

    if (result)
        (void)MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, result, length);
    else
        errno = length > 0 ? ENOMEM : ENOENT;
    return result;
}

static ACCESS_MASK access_mask(int flags)
{
    if (flags & UW_FILE_LOOK)
        return FILE_READ_ATTRIBUTES | FILE_TRAVERSE | SYNCHRONIZE;
    switch (flags & UW_FILE_ACCESS) {
    case UW_FILE_READ_ONLY:
        return FILE_GENERIC_READ;
    case UW_FILE_WRITE_ONLY:
        return FILE_GENERIC_WRITE | FILE_READ_ATTRIBUTES;
    default:
        return FILE_GENERIC_READ | FILE_GENERIC_WRITE;
    }
}

static ULONG create_disposition(int flags)
{
    if (flags & UW_FILE_CREATE && flags & UW_FILE_EXCLUSIVE)
        return FILE_CREATE;
    if (flags & UW_FILE_CREATE)
        return flags & UW_FILE_TRUNCATE ? FILE_OVERWRITE_IF : FILE_OPEN_IF;
    return flags & UW_FILE_TRUNCATE ? FILE_OVERWRITE : FILE_OPEN;
}

static ULONG create_options(int flags)
{
    return FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT |
           (flags & UW_FILE_FOLDER ? FILE_DIRECTORY_FILE : 0) |
           (flags & UW_FILE_NOFOLLOW ? FILE_OPEN_REPARSE_POINT : 0);
}

static int open_name(HANDLE *handle, HANDLE folder, UNICODE_STRING *name, int flags)
{
    OBJECT_ATTRIBUTES attributes;
    IO_STATUS_BLOCK block;
    NTSTATUS status;

    InitializeObjectAttributes(&attributes, name, OBJ_CASE_INSENSITIVE, folder, NULL);
    status = NtCreateFile(handle, access_mask(flags), &attributes, &block, NULL, FILE_ATTRIBUTE_NORMAL, SHARE_ALL,
                          create_disposition(flags), create_options(flags), NULL, 0);
    return status < 0 ? -uw_errno_of_status(status) : 0;
}

static int open_path(HANDLE *handle, const char *path, int flags)
{
    wchar_t *text = utf16_path(path);
    UNICODE_STRING name;
    int error;

    if (!text)
        return -errno;
    error = RtlDosPathNameToNtPathName_U(text, &name, NULL, NULL) ? 0 : -ENOENT;
    if (!error) {
        error = open_name(handle, NULL, &name, flags);
        RtlFreeUnicodeString(&name);
    }
    free(text);
    return error;
}

/* Returns false for a name with a separator or a stream name, and for "..". */
static bool is_single_name(const char *name)
{
    return !strpbrk(name, "\\:/") && strcmp(name, "..") != 0;
}

/* Opens a single name in the directory. "." is the directory itself. */
static int open_beneath_folder(HANDLE *handle, const struct uw_object *folder, const char *path, int flags)
{
    wchar_t *text;
    UNICODE_STRING name;
    int error;

    if (folder->kind != UW_KIND_FOLDER)
        return -ENOTDIR;
    if (!is_single_name(path))
        return -ENOENT;
    text = utf16_path(strcmp(path, ".") == 0 ? "" : path);
    if (!text)
        return -errno;
    RtlInitUnicodeString(&name, text);
    error = open_name(handle, (HANDLE)folder->handle, &name, flags);
    free(text);
    return error;
}

static struct timespec time_of_ticks(int64_t ticks)
{
    ticks -= TICKS_TO_1970;
    return (struct timespec){ticks / TICKS_PER_SECOND, (long)(ticks % TICKS_PER_SECOND * NS_PER_TICK)};
}

static int64_t join_halves(DWORD high, DWORD low)
{
    return (int64_t)((uint64_t)high << 32 | low);
}

static unsigned file_mode(DWORD attributes)
{
    if (attributes & FILE_ATTRIBUTE_REPARSE_POINT)
        return UW_STATUS_LINK;
    return attributes & FILE_ATTRIBUTE_DIRECTORY ? UW_STATUS_FOLDER : UW_STATUS_FILE;
}

static int read_status(HANDLE handle, struct uw_status *status)
{
    BY_HANDLE_FILE_INFORMATION all;
    FILE_BASIC_INFO times;

    if (!GetFileInformationByHandle(handle, &all) ||
        !GetFileInformationByHandleEx(handle, FileBasicInfo, &times, sizeof times))
        return -uw_errno_of(GetLastError());
    *status = (struct uw_status){
        .st_dev = all.dwVolumeSerialNumber,
        .st_ino = (uint64_t)join_halves(all.nFileIndexHigh, all.nFileIndexLow),
        .st_mode = file_mode(all.dwFileAttributes),
        .st_size = join_halves(all.nFileSizeHigh, all.nFileSizeLow),
        .st_nlink = all.nNumberOfLinks,
        .st_mtim = time_of_ticks(times.LastWriteTime.QuadPart),
        .st_ctim = time_of_ticks(times.ChangeTime.QuadPart),
    };
    return 0;
}

/* Deletes the file, if there is one, and frees its path. */
static void delete_file(wchar_t *path)
{
    if (path)
        (void)DeleteFileW(path);
    free(path);
}

/* Takes ownership of the handle and of `delete_path`, also on errors. */
static int adopt_file(HANDLE handle, int flags, wchar_t *delete_path)
{
    struct uw_status status;
    int error = read_status(handle, &status);
    struct uw_object *object;

    if (!error && flags & UW_FILE_NOFOLLOW && status.st_mode == UW_STATUS_LINK)
        error = -ELOOP;
    object = error
                 ? NULL
                 : uw_object_new(status.st_mode == UW_STATUS_FOLDER ? UW_KIND_FOLDER : UW_KIND_FILE, (uintptr_t)handle);
    if (!object) {
        CloseHandle(handle);
        delete_file(delete_path);
        return error ? error : -ENOMEM;
    }
    object->append = flags & UW_FILE_APPEND;
    object->nonblocking = flags & UW_FILE_NONBLOCK;
    object->delete_path = delete_path;
    return uw_number_assign_new(object, flags & UW_FILE_CLOEXEC);
}

int uw_file_open_unnamed(const char *folder, bool close_on_exec)
{
    int flags = UW_FILE_READ_WRITE | UW_FILE_CREATE | UW_FILE_EXCLUSIVE | (close_on_exec ? UW_FILE_CLOEXEC : 0);
    static atomic_uint count;
    char path[MAX_PATH * 3];
    wchar_t *delete_path = NULL;
    HANDLE handle;
    int error = -EEXIST;

    for (int i = 0; error == -EEXIST && i < UNNAMED_TRIES; i++) {
        int length = snprintf(path, sizeof path, "%s/upwell-%lu-%u.tmp", folder, GetCurrentProcessId(),
                              atomic_fetch_add(&count, 1));

        if ((size_t)length >= sizeof path)
            return -ENAMETOOLONG;
        delete_path = utf16_path(path); /* before the file exists: without this path it could not be deleted */
        if (!delete_path)
            return -errno;
        error = open_path(&handle, path, flags);
        if (error)
            free(delete_path);
    }
    return error ? error : adopt_file(handle, flags, delete_path);
}

static int open_at(int folder, const char *path, int flags)
{
    struct uw_object *root;
    HANDLE handle;
    int error;

    if (flags & UW_FILE_UNNAMED)
        return uw_file_open_unnamed(path, flags & UW_FILE_CLOEXEC);
    if (folder == UW_FILE_AT_WORKING_FOLDER) {
        error = open_path(&handle, path, flags);
    } else {
        root = uw_number_retain(folder);
        if (!root)
            return -EBADF;
        error = open_beneath_folder(&handle, root, path, flags);
        uw_object_release(root);
    }
    return error ? error : adopt_file(handle, flags, NULL);
}

int uw_posix_openat(int folder, const char *path, int flags, ...)
{
    int fd = open_at(folder, path, flags);

    return fd < 0 ? uw_lacking(-fd) : fd;
}

int uw_posix_open(const char *path, int flags, ...)
{
    return uw_posix_openat(UW_FILE_AT_WORKING_FOLDER, path, flags);
}

int64_t uw_file_size(const struct uw_object *object)
{
    LARGE_INTEGER size;

    return GetFileSizeEx((HANDLE)object->handle, &size) ? size.QuadPart : -uw_errno_of(GetLastError());
}

static DWORD limit_to_int32(size_t length)
{
    return length < INT32_MAX ? (DWORD)length : INT32_MAX;
}

static OVERLAPPED at_offset(int64_t offset)
{
    return (OVERLAPPED){.Offset = (DWORD)offset, .OffsetHigh = (DWORD)((uint64_t)offset >> 32)};
}

static int64_t read_at(const struct uw_object *object, void *bytes, size_t length, int64_t offset)
{
    OVERLAPPED position = at_offset(offset);
    DWORD count = 0;

    if (ReadFile((HANDLE)object->handle, bytes, limit_to_int32(length), &count,
                 object->kind == UW_KIND_STREAM ? NULL : &position))
        return count;
    return GetLastError() == ERROR_HANDLE_EOF || GetLastError() == ERROR_BROKEN_PIPE ? 0 : -uw_errno_of(GetLastError());
}

static int64_t write_at(const struct uw_object *object, const void *bytes, size_t length, int64_t offset)
{
    OVERLAPPED position = at_offset(offset);
    DWORD count = 0;

    if (WriteFile((HANDLE)object->handle, bytes, limit_to_int32(length), &count,
                  object->kind == UW_KIND_STREAM ? NULL : &position))
        return count;
    return -uw_errno_of(GetLastError());
}

/* Windows advances its own file position even with an offset. So the object stores the position. */
int64_t uw_file_read(struct uw_object *object, void *bytes, size_t length, int64_t offset)
{
    int64_t count;

    if (object->kind == UW_KIND_FOLDER)
        return -EISDIR;
    count = read_at(object, bytes, length, offset < 0 ? atomic_load(&object->position) : offset);
    if (offset < 0 && count > 0)
        atomic_fetch_add(&object->position, count);
    return count;
}

int64_t uw_file_write(struct uw_object *object, const void *bytes, size_t length, int64_t offset)
{
    int64_t count;

    if (object->kind == UW_KIND_FOLDER)
        return -EISDIR;
    if (offset < 0 && atomic_load(&object->append))
        return write_at(object, bytes, length, -1); /* -1 is the end of the file */
    count = write_at(object, bytes, length, offset < 0 ? atomic_load(&object->position) : offset);
    if (offset < 0 && count > 0)
        atomic_fetch_add(&object->position, count);
    return count;
}

ssize_t uw_posix_recv(int fd, void *bytes, size_t length, int flags);
ssize_t uw_posix_send(int fd, const void *bytes, size_t length, int flags);

static ssize_t release_and_return(struct uw_object *object, int64_t result)
{
    uw_object_release(object);
    return result < 0 ? uw_lacking((int)-result) : result;
}

ssize_t uw_posix_read(int fd, void *bytes, size_t length)
{
    struct uw_object *object = uw_number_retain(fd);

    if (!object)
        return uw_lacking(EBADF);
    if (uw_object_is_socket(object)) {
        uw_object_release(object);
        return uw_posix_recv(fd, bytes, length, 0);
    }
    return release_and_return(object, uw_file_read(object, bytes, length, -1));
}

ssize_t uw_posix_write(int fd, const void *bytes, size_t length)
{
    struct uw_object *object = uw_number_retain(fd);

    if (!object)
        return uw_lacking(EBADF);
    if (uw_object_is_socket(object)) {
        uw_object_release(object);
        return uw_posix_send(fd, bytes, length, 0);
    }
    return release_and_return(object, uw_file_write(object, bytes, length, -1));
}

ssize_t uw_posix_pread(int fd, void *bytes, size_t length, int64_t offset)
{
    struct uw_object *object = uw_number_retain(fd);

    if (!object)
        return uw_lacking(EBADF);
    return release_and_return(object,
                              uw_object_is_socket(object) ? -ESPIPE : uw_file_read(object, bytes, length, offset));
}

ssize_t uw_posix_pwrite(int fd, const void *bytes, size_t length, int64_t offset)
{
    struct uw_object *object = uw_number_retain(fd);

    if (!object)
        return uw_lacking(EBADF);
    return release_and_return(object,
                              uw_object_is_socket(object) ? -ESPIPE : uw_file_write(object, bytes, length, offset));
}

static int64_t set_position(struct uw_object *object, int64_t offset, int origin)
{
    int64_t size = object->kind == UW_KIND_FILE ? uw_file_size(object) : -ESPIPE;

    if (size < 0)
        return size;
    if (origin == SEEK_CUR)
        offset += atomic_load(&object->position);
    else if (origin == SEEK_END)
        offset += size;
    if (offset < 0)
        return -EINVAL;
    atomic_store(&object->position, offset);
    return offset;
}

int64_t uw_posix_lseek(int fd, int64_t offset, int origin)
{
    struct uw_object *object = uw_number_retain(fd);

    return object ? release_and_return(object, set_position(object, offset, origin)) : uw_lacking(EBADF);
}

int uw_posix_ftruncate(int fd, int64_t length)
{
    struct uw_object *object = uw_number_retain(fd);
    FILE_END_OF_FILE_INFO end = {.EndOfFile.QuadPart = length};
    int error;

    if (!object)
        return uw_lacking(EBADF);
    error = SetFileInformationByHandle((HANDLE)object->handle, FileEndOfFileInfo, &end, sizeof end)
                ? 0
                : -uw_errno_of(GetLastError());
    return (int)release_and_return(object, error);
}

int uw_posix_fstat(int fd, struct uw_status *status)
{
    struct uw_object *object = uw_number_retain(fd);

    if (!object)
        return uw_lacking(EBADF);
    if (object->kind == UW_KIND_FILE || object->kind == UW_KIND_FOLDER)
        return (int)release_and_return(object, read_status((HANDLE)object->handle, status));
    *status = (struct uw_status){.st_mode = uw_object_is_socket(object) ? UW_STATUS_SOCKET : 0};
    return (int)release_and_return(object, 0);
}

static int read_status_at(int folder, const char *path, struct uw_status *status, int flags)
{
    struct uw_object *root = folder == UW_FILE_AT_WORKING_FOLDER ? NULL : uw_number_retain(folder);
    HANDLE handle;
    int error;

    if (!root && folder != UW_FILE_AT_WORKING_FOLDER)
        return -EBADF;
    flags |= UW_FILE_LOOK;
    error = root ? open_beneath_folder(&handle, root, path, flags) : open_path(&handle, path, flags);
    if (root)
        uw_object_release(root);
    if (error)
        return error;
    error = read_status(handle, status);
    CloseHandle(handle);
    return error;
}

int uw_posix_fstatat(int folder, const char *path, struct uw_status *status, int flags)
{
    int error = read_status_at(folder, path, status, flags);

    return error ? uw_lacking(-error) : 0;
}

/* Links of Windows are not followed: see docs/decisions. */
ssize_t uw_posix_readlinkat(int folder, const char *path, char *target, size_t size)
{
    (void)folder, (void)path, (void)target, (void)size;
    return uw_lacking(EACCES);
}

static int call_with_path(const char *path, BOOL(WINAPI *call)(LPCWSTR))
{
    wchar_t *text = utf16_path(path);
    int error;

    if (!text)
        return -1;
    error = call(text) ? 0 : uw_errno_of(GetLastError());
    free(text);
    return error ? uw_lacking(error) : 0;
}

int uw_posix_unlink(const char *path)
{
    return call_with_path(path, DeleteFileW);
}

int uw_posix_rmdir(const char *path)
{
    return call_with_path(path, RemoveDirectoryW);
}

static BOOL WINAPI create_folder(LPCWSTR path)
{
    return CreateDirectoryW(path, NULL);
}

int uw_posix_mkdir(const char *path, int mode)
{
    (void)mode;
    return call_with_path(path, create_folder);
}

/* The path ends in six X, which this function replaces. */
int uw_posix_mkostemp(char *path, int flags)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static atomic_uint count;
    size_t length = strlen(path);
    int fd = -EEXIST;

    for (int i = 0; fd == -EEXIST && i < UNNAMED_TRIES; i++) {
        uint64_t number =
            (uint64_t)GetTickCount64() * 1000003 + GetCurrentProcessId() * 7919 + atomic_fetch_add(&count, 1);

        for (size_t at = length - 6; at < length; at++, number /= sizeof letters - 1)
            path[at] = letters[number % (sizeof letters - 1)];
        fd = open_at(UW_FILE_AT_WORKING_FOLDER, path, UW_FILE_READ_WRITE | UW_FILE_CREATE | UW_FILE_EXCLUSIVE | flags);
    }
    return fd < 0 ? uw_lacking(-fd) : fd;
}
