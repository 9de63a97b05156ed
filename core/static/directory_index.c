#include "static/directory_index.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd_limit.h"
#include "base/system.h"
#include "http/directory_listing.h"
#include "http/path.h"
#include "static/open_beneath.h"

#define ENTRIES_MIN 64
#define ENCODED_BYTES 3 /* length of one encoded byte, as "%2F" */

static int reserve_entry(struct uw_http_listing *listing, size_t *capacity)
{
    size_t larger = *capacity ? 2 * *capacity : ENTRIES_MIN;
    struct uw_http_listing_entry *entries;

    if (listing->count < *capacity)
        return 0;
    entries = realloc(listing->entries, larger * sizeof *entries);
    if (!entries)
        return -ENOMEM;
    listing->entries = entries;
    *capacity = larger;
    return 0;
}

/* Gets the status of a symbolic link's target beneath the root. Returns 0 or -errno. */
static int stat_link_target(int root, const char *folder, const char *name, struct stat *status)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name), fd, error;

    if ((size_t)length >= sizeof path)
        return -ENAMETOOLONG;
    fd = uw_open_beneath(root, path, uw_open_to_look);
    if (fd < 0)
        return fd;
    error = fstat(fd, status) ? -errno : 0;
    close(fd);
    return error;
}

/* Gets the entry of a name in the directory. Returns 1 if the listing shows the entry, or 0. Returns -errno without
 * descriptors. */
static int read_entry(int root, const char *folder, int fd, const char *name, struct uw_http_listing_entry *entry)
{
    struct stat status;
    int error = fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) ? -errno : 0;

    if (!error && S_ISLNK(status.st_mode))
        error = stat_link_target(root, folder, name, &status);
    if (error)
        return uw_fd_limit_reached(error) ? error : 0;
    *entry = (struct uw_http_listing_entry){
        .size = status.st_size, .modified = status.st_mtime, .folder = S_ISDIR(status.st_mode)};
    return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
}

static int add_entry(struct uw_http_listing *listing, size_t *capacity, int root, int fd, const char *name)
{
    struct uw_http_listing_entry entry;
    int shown = uw_http_name_is_servable(name) ? read_entry(root, listing->path, fd, name, &entry) : 0, error;

    if (shown <= 0)
        return shown;
    error = reserve_entry(listing, capacity);
    entry.name = error ? NULL : strdup(name);
    if (!entry.name)
        return -ENOMEM;
    listing->entries[listing->count++] = entry;
    return 0;
}

static int read_entries(struct uw_http_listing *listing, int root, DIR *stream)
{
    size_t capacity = 0;
    struct dirent *item;
    int error = 0;

    while (!error && !listing->truncated && (errno = 0, item = readdir(stream))) {
        listing->truncated = listing->count == UW_HTTP_LISTING_ENTRIES_MAX;
        if (!listing->truncated)
            error = add_entry(listing, &capacity, root, dirfd(stream), item->d_name);
    }
    return error ? error : -errno;
}

static int write_page(struct uw_representation **page, struct uw_http_listing *listing)
{
    size_t length;

    uw_http_listing_sort(listing);
    length = uw_http_listing_write(listing, NULL, 0);
    *page = uw_representation_make("text/html; charset=utf-8", length);
    if (!*page)
        return -ENOMEM;
    (void)uw_http_listing_write(listing, (*page)->text + (*page)->head_end, length);
    return 0;
}

static void free_entries(struct uw_http_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        free((char *)listing->entries[i].name);
    free(listing->entries);
}

int uw_folder_page_make(struct uw_representation **page, int root, const char *path)
{
    struct uw_http_listing listing = {.path = path};
    int fd = uw_open_beneath(root, path, O_RDONLY | O_DIRECTORY), error;
    DIR *stream;

    if (fd < 0)
        return fd;
    stream = fdopendir(fd);
    if (!stream) {
        error = -errno;
        close(fd);
        return error;
    }
    error = read_entries(&listing, root, stream);
    closedir(stream);
    if (!error)
        error = write_page(page, &listing);
    free_entries(&listing);
    return error;
}

/* Encodes all bytes but unreserved characters (RFC 3986, section 2.3) and the slash. */
static void put_encoded_path(struct uw_response *response, const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    static const char digits[] = "0123456789ABCDEF";

    while (*path) {
        size_t length = strspn(path, plain);

        uw_response_put(response, path, length);
        path += length;
        if (*path) {
            unsigned char byte = (unsigned char)*path++;
            char encoded[ENCODED_BYTES] = {'%', digits[byte >> 4], digits[byte & 15]};

            uw_response_put(response, encoded, sizeof encoded);
        }
    }
}

/* Writes the location from the decoded path. After the first slash of the location the path has no slash, so the
 * location cannot name another host. */
void uw_folder_put_location(struct uw_response *response, const char *path, const char *query, size_t query_length)
{
    static const char name[] = "Location: /";

    uw_response_put(response, name, sizeof name - 1);
    put_encoded_path(response, path);
    uw_response_put(response, "/", 1);
    if (query_length) {
        uw_response_put(response, "?", 1);
        uw_response_put(response, query, query_length);
    }
    uw_response_put(response, "\r\n", 2);
}
