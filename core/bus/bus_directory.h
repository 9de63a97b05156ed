/* The directory of the members' sockets. Each member listens there on a UNIX socket, `<pid>-<16 hex>.bus`. Only this
 * user may access the directory. */
#ifndef UW_BUS_BUS_DIRECTORY_H
#define UW_BUS_BUS_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#define UW_BUS_SUFFIX ".bus"
#define UW_BUS_NAME_BYTES_MAX (10 + 1 + 16 + sizeof UW_BUS_SUFFIX - 1)
#define UW_BUS_PATH_BYTES_MAX (sizeof((struct sockaddr_un *)NULL)->sun_path - 1)
#define UW_BUS_FOLDER_BYTES_MAX (UW_BUS_PATH_BYTES_MAX - 1 - UW_BUS_NAME_BYTES_MAX)

struct uw_bus_directory {
    char folder[UW_BUS_FOLDER_BYTES_MAX + 1];
    char name[UW_BUS_NAME_BYTES_MAX + 1]; /* name of this member's socket. Empty: the member has no socket */
};

/* Checks the directory and generates a name for this member's socket. Returns 0 or -errno. -ENAMETOOLONG: the
 * directory's path is longer than UW_BUS_FOLDER_BYTES_MAX. -EPERM: the directory belongs to another user, or group or
 * others have access. */
int uw_bus_directory_open(struct uw_bus_directory *directory, const char *folder);

/* Creates this member's socket file. Returns the listening socket or -errno. Peers can find the file as soon as the
 * socket listens. */
int uw_bus_directory_listen(const struct uw_bus_directory *directory);

/* Calls `found` with the name of each other member, including exited members, until `found` returns an error. Returns
 * this error, 0 or -errno. */
int uw_bus_directory_each_peer(const struct uw_bus_directory *directory, int (*found)(void *context, const char *name),
                               void *context);

/* Returns a socket that is connected to the member `name`, or -errno. -ENOENT or -ECONNREFUSED: the member has exited,
 * and its file is removed. After any other -errno the caller may retry. */
int uw_bus_directory_connect(const struct uw_bus_directory *directory, const char *name);

/* Removes this member's socket file, so that peers no longer find this member. */
void uw_bus_directory_remove_socket(const struct uw_bus_directory *directory);

bool uw_bus_name_is_valid(const char *name, size_t length);

#endif
