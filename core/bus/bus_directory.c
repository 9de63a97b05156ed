#include "bus/bus_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system.h"

#define UNFINISHED_SUFFIX ".new" /* suffix before the socket listens */
#define PID_DIGITS "0123456789"
#define PID_DIGITS_MAX 10
#define HEX_DIGITS "0123456789abcdef"
#define HEX_DIGITS_COUNT 16
#define GROUP_AND_OTHERS 077 /* permissions of group and others */

static int check_folder(const char *folder)
{
    struct stat status;

    if (lstat(folder, &status))
        return -errno;
    if (!S_ISDIR(status.st_mode))
        return -ENOTDIR;
    return status.st_uid == geteuid() && !(status.st_mode & GROUP_AND_OTHERS) ? 0 : -EPERM;
}

static int make_name(char *name)
{
    uint64_t number;

    if (!uw_random(&number, sizeof number))
        return -EAGAIN;
    snprintf(name, UW_BUS_NAME_BYTES_MAX + 1, "%d-%016" PRIx64 UW_BUS_SUFFIX, (int)getpid(), number);
    return 0;
}

int uw_bus_directory_open(struct uw_bus_directory *directory, const char *folder)
{
    size_t length = strlen(folder);
    int error;

    memset(directory, 0, sizeof *directory);
    if (length > UW_BUS_FOLDER_BYTES_MAX)
        return -ENAMETOOLONG;
    error = check_folder(folder);
    if (error)
        return error;
    memcpy(directory->folder, folder, length);
    return make_name(directory->name);
}

/* The path fits, because the length of the directory's path has been checked and names are valid. */
static struct sockaddr_un socket_address(const struct uw_bus_directory *directory, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "%.*s/%.*s", (int)UW_BUS_FOLDER_BYTES_MAX, directory->folder,
             (int)UW_BUS_NAME_BYTES_MAX, name);
    return address;
}

static struct sockaddr_un unfinished_socket_address(const struct uw_bus_directory *directory)
{
    struct sockaddr_un address = socket_address(directory, directory->name);

    memcpy(address.sun_path + strlen(address.sun_path) - strlen(UNFINISHED_SUFFIX), UNFINISHED_SUFFIX,
           strlen(UNFINISHED_SUFFIX));
    return address;
}

/* The socket gets its final name only after listen(2). connect(2) to a socket that does not listen fails with
 * ECONNREFUSED, as if the member had exited. */
static int bind_and_listen(const struct uw_bus_directory *directory, int fd)
{
    struct sockaddr_un unfinished = unfinished_socket_address(directory),
                       address = socket_address(directory, directory->name);
    int error;

    if (bind(fd, (struct sockaddr *)&unfinished, sizeof unfinished))
        return -errno;
    if (listen(fd, SOMAXCONN) == 0 && rename(unfinished.sun_path, address.sun_path) == 0)
        return 0;
    error = -errno;
    (void)unlink(unfinished.sun_path);
    return error;
}

int uw_bus_directory_listen(const struct uw_bus_directory *directory)
{
    int fd = uw_stream_socket(AF_UNIX), error;

    if (fd < 0)
        return -errno;
    error = bind_and_listen(directory, fd);
    if (!error)
        return fd;
    close(fd);
    return error;
}

static bool is_peer_name(const struct uw_bus_directory *directory, const char *name)
{
    return uw_bus_name_is_valid(name, strlen(name)) && strcmp(name, directory->name) != 0;
}

/* readdir(3) returns NULL at the end and after an error. Only errno distinguishes the two. */
static const struct dirent *next_entry(DIR *folder, int *error)
{
    const struct dirent *entry;

    errno = 0;
    entry = readdir(folder);
    if (!entry)
        *error = -errno;
    return entry;
}

int uw_bus_directory_each_peer(const struct uw_bus_directory *directory, int (*found)(void *context, const char *name),
                               void *context)
{
    DIR *folder = opendir(directory->folder);
    const struct dirent *entry;
    int error = 0;

    if (!folder)
        return -errno;
    while (!error && (entry = next_entry(folder, &error)))
        if (is_peer_name(directory, entry->d_name))
            error = found(context, entry->d_name);
    closedir(folder);
    return error;
}

/* connect(2) to a UNIX socket succeeds or fails at once. */
static int connect_now(int fd, const struct sockaddr_un *address)
{
    int error;

    if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0)
        return fd;
    error = -errno;
    close(fd);
    if (error == -ECONNREFUSED)
        (void)unlink(address->sun_path); /* another process may have removed the file already */
    return error;
}

int uw_bus_directory_connect(const struct uw_bus_directory *directory, const char *name)
{
    struct sockaddr_un address = socket_address(directory, name);
    int fd = uw_stream_socket(AF_UNIX);

    return fd < 0 ? -errno : connect_now(fd, &address);
}

void uw_bus_directory_remove_socket(const struct uw_bus_directory *directory)
{
    struct sockaddr_un address = socket_address(directory, directory->name);

    (void)unlink(address.sun_path); /* another process may have removed the file already */
}

/* Returns the number of bytes at the start of `text` that are in `digits`. */
static size_t count_digits(const char *text, const char *end, const char *digits)
{
    const char *at = text;

    while (at < end && *at && strchr(digits, *at))
        at++;
    return (size_t)(at - text);
}

bool uw_bus_name_is_valid(const char *name, size_t length)
{
    const char *end = name + length, *at = name;
    size_t digits = count_digits(name, end, PID_DIGITS);

    if (digits == 0 || digits > PID_DIGITS_MAX)
        return false;
    at += digits;
    if (at == end || *at++ != '-' || count_digits(at, end, HEX_DIGITS) != HEX_DIGITS_COUNT)
        return false;
    at += HEX_DIGITS_COUNT;
    return (size_t)(end - at) == strlen(UW_BUS_SUFFIX) && memcmp(at, UW_BUS_SUFFIX, strlen(UW_BUS_SUFFIX)) == 0;
}
