#include "push/bus_place.h"

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

#define UNFINISHED ".new" /* in the place of the suffix, until the socket listens */
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

int uw_bus_place_open(struct uw_bus_place *place, const char *folder)
{
    size_t length = strlen(folder);
    int error;

    memset(place, 0, sizeof *place);
    if (length > UW_BUS_FOLDER_BYTES_MAX)
        return -ENAMETOOLONG;
    error = check_folder(folder);
    if (error)
        return error;
    memcpy(place->folder, folder, length);
    return make_name(place->name);
}

/* Fits, since the folder's path has been measured and names are valid. */
static struct sockaddr_un address_of(const struct uw_bus_place *place, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "%.*s/%.*s", (int)UW_BUS_FOLDER_BYTES_MAX, place->folder,
             (int)UW_BUS_NAME_BYTES_MAX, name);
    return address;
}

static struct sockaddr_un unfinished_address(const struct uw_bus_place *place)
{
    struct sockaddr_un address = address_of(place, place->name);

    memcpy(address.sun_path + strlen(address.sun_path) - strlen(UNFINISHED), UNFINISHED, strlen(UNFINISHED));
    return address;
}

/* Under its name only once it listens: whoever connects before is refused, and would take it for dead. */
static int bind_and_listen(const struct uw_bus_place *place, int fd)
{
    struct sockaddr_un unfinished = unfinished_address(place), address = address_of(place, place->name);
    int error;

    if (bind(fd, (struct sockaddr *)&unfinished, sizeof unfinished))
        return -errno;
    if (listen(fd, SOMAXCONN) == 0 && rename(unfinished.sun_path, address.sun_path) == 0)
        return 0;
    error = -errno;
    (void)unlink(unfinished.sun_path);
    return error;
}

int uw_bus_place_listen(const struct uw_bus_place *place)
{
    int fd = uw_stream_socket(AF_UNIX), error;

    if (fd < 0)
        return -errno;
    error = bind_and_listen(place, fd);
    if (!error)
        return fd;
    close(fd);
    return error;
}

static bool is_another(const struct uw_bus_place *place, const char *name)
{
    return uw_bus_name_is_valid(name, strlen(name)) && strcmp(name, place->name) != 0;
}

int uw_bus_place_look(const struct uw_bus_place *place, int (*found)(void *context, const char *name), void *context)
{
    DIR *folder = opendir(place->folder);
    const struct dirent *entry;
    int error = 0;

    if (!folder)
        return -errno;
    while (!error && (entry = readdir(folder)))
        if (is_another(place, entry->d_name))
            error = found(context, entry->d_name);
    closedir(folder);
    return error;
}

/* On a UNIX socket this is known at once. */
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

int uw_bus_place_connect(const struct uw_bus_place *place, const char *name)
{
    struct sockaddr_un address = address_of(place, name);
    int fd = uw_stream_socket(AF_UNIX);

    return fd < 0 ? -errno : connect_now(fd, &address);
}

void uw_bus_place_leave(const struct uw_bus_place *place)
{
    struct sockaddr_un address = address_of(place, place->name);

    (void)unlink(address.sun_path); /* who cleans up the folder may have been here before */
}

/* The length of those of `digits` at `text`, which may end anywhere. */
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
