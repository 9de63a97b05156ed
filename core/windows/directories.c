/* Implements readdir(3) and related functions. */
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "windows/descriptor_table.h"
#include "windows/errno_map.h"
#include "windows/files_flags.h"

#define NAME_BYTES (3 * 255 + 1)
#define BLOCK_BYTES 65536

struct name {
    char d_name[NAME_BYTES];
};

struct uw_folder_stream {
    int fd;
    struct uw_object *folder;
    struct name name;
    FILE_ID_BOTH_DIR_INFO *next; /* next entry in `block`, or NULL at the end of the block */
    char block[BLOCK_BYTES] __attribute__((aligned(8)));
};

int uw_posix_open(const char *path, int flags, ...);

struct uw_folder_stream *uw_posix_fdopendir(int fd)
{
    struct uw_folder_stream *stream = malloc(sizeof *stream);
    struct uw_object *folder = stream ? uw_number_retain(fd) : NULL;

    if (folder && folder->kind == UW_KIND_FOLDER) {
        stream->fd = fd;
        stream->folder = folder;
        stream->next = NULL;
        return stream;
    }
    errno = !stream ? ENOMEM : folder ? ENOTDIR : EBADF;
    if (folder)
        uw_object_release(folder);
    free(stream);
    return NULL;
}

struct uw_folder_stream *uw_posix_opendir(const char *path)
{
    int fd = uw_posix_open(path, UW_FILE_FOLDER | UW_FILE_CLOEXEC);
    struct uw_folder_stream *stream = fd < 0 ? NULL : uw_posix_fdopendir(fd);

    if (fd >= 0 && !stream)
        (void)uw_posix_close(fd);
    return stream;
}

static bool read_block(struct uw_folder_stream *stream)
{
    if (GetFileInformationByHandleEx((HANDLE)stream->folder->handle, FileIdBothDirectoryInfo, stream->block,
                                     sizeof stream->block)) {
        stream->next = (FILE_ID_BOTH_DIR_INFO *)stream->block;
        return true;
    }
    if (GetLastError() != ERROR_NO_MORE_FILES)
        errno = uw_errno_of(GetLastError());
    return false;
}

/* Omits names that are not valid UTF-16. */
struct name *uw_posix_readdir(struct uw_folder_stream *stream)
{
    while (stream->next || read_block(stream)) {
        FILE_ID_BOTH_DIR_INFO *entry = stream->next;
        int length = WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, entry->FileName,
                                         (int)(entry->FileNameLength / sizeof *entry->FileName), stream->name.d_name,
                                         NAME_BYTES - 1, NULL, NULL);

        stream->next =
            entry->NextEntryOffset ? (FILE_ID_BOTH_DIR_INFO *)((char *)entry + entry->NextEntryOffset) : NULL;
        if (length > 0) {
            stream->name.d_name[length] = '\0';
            return &stream->name;
        }
    }
    return NULL;
}

int uw_posix_dirfd(struct uw_folder_stream *stream)
{
    return stream->fd;
}

int uw_posix_closedir(struct uw_folder_stream *stream)
{
    int fd = stream->fd;

    uw_object_release(stream->folder);
    free(stream);
    return uw_posix_close(fd);
}
