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

#define UNFINISHED ".new" /* instead of the suffix, until the socket listens */
#define PID_DIGITS "0123456789"
#define PID_DIGITS_MAX 10
#define HEX_DIGITS "0123456789abcdef"
#define HEX_DIGITS_COUNT 16
#define OTHERS 077 /* in a file's mode */

static int check_folder(const char *folder)
{
    struct stat status;

    if (lstat(folder, &status))
        return -errno;
    if (!S_ISDIR(status.st_mode))
        return -ENOTDIR;
    return status.st_uid == geteuid() && !(status.st_mode & OTHERS) ? 0 : -EPERM;
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

/* Fits, since the length of the directory's path has been checked and names are valid. */
static struct sockaddr_un address_of(const struct uw_bus_directory *directory, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "%.*s/%.*s", (int)UW_BUS_FOLDER_BYTES_MAX, directory->folder,
             (int)UW_BUS_NAME_BYTES_MAX, name);
    return address;
}

static struct sockaddr_un unfinished_address(const struct uw_bus_directory *directory)
{
    struct sockaddr_un address = address_of(directory, directory->name);

    memcpy(address.sun_path + strlen(address.sun_path) - strlen(UNFINISHED), UNFINISHED, strlen(UNFINISHED));
    return address;
}

/* The socket gets its name only once it listens. A peer that connected before would be refused and would conclude that
 * this member has exited. */
static int bind_and_listen(const struct uw_bus_directory *directory, int fd)
{
    struct sockaddr_un unfinished = unfinished_address(directory), address = address_of(directory, directory->name);
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

static bool is_another(const struct uw_bus_directory *directory, const char *name)
{
    return uw_bus_name_is_valid(name, strlen(name)) && strcmp(name, directory->name) != 0;
}

int uw_bus_directory_look(const struct uw_bus_directory *directory, int (*found)(void *context, const char *name),
                          void *context)
{
    DIR *folder = opendir(directory->folder);
    const struct dirent *entry;
    int error = 0;

    if (!folder)
        return -errno;
    while (!error && (entry = readdir(folder)))
        if (is_another(directory, entry->d_name))
            error = found(context, entry->d_name);
    closedir(folder);
    return error;
}

/* On a UNIX socket connect(2) succeeds or fails at once. */
static int connect_now(int fd, const struct sockaddr_un *address)
{
    int error;

    if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0)
        return fd;
    error = -errno;
    close(fd);
    if (error == -ECONNREFUSED)
        (void)unlink(address->sun_path); /* another may have done so */
    return error;
}

int uw_bus_directory_connect(const struct uw_bus_directory *directory, const char *name)
{
    struct sockaddr_un address = address_of(directory, name);
    int fd = uw_stream_socket(AF_UNIX);

    return fd < 0 ? -errno : connect_now(fd, &address);
}

void uw_bus_directory_leave(const struct uw_bus_directory *directory)
{
    struct sockaddr_un address = address_of(directory, directory->name);

    (void)unlink(address.sun_path); /* another process may have cleaned up the directory */
}

/* Returns the number of leading bytes at `text` that are among `digits`. */
static size_t span(const char *text, const char *end, const char *digits)
{
    const char *at = text;

    while (at < end && *at && strchr(digits, *at))
        at++;
    return (size_t)(at - text);
}

bool uw_bus_name_is_valid(const char *name, size_t length)
{
    const char *end = name + length, *at = name;
    size_t digits = span(name, end, PID_DIGITS);

    if (digits == 0 || digits > PID_DIGITS_MAX)
        return false;
    at += digits;
    if (at == end || *at++ != '-' || span(at, end, HEX_DIGITS) != HEX_DIGITS_COUNT)
        return false;
    at += HEX_DIGITS_COUNT;
    return (size_t)(end - at) == strlen(UW_BUS_SUFFIX) && memcmp(at, UW_BUS_SUFFIX, strlen(UW_BUS_SUFFIX)) == 0;
}
