/* The directory in which members of a bus find each other. Each member listens there on a UNIX socket, `<pid>-<16
 * hex>.bus`. Only this user may use the directory. */
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
    char name[UW_BUS_NAME_BYTES_MAX + 1]; /* of this member's socket; empty when the member has none */
};

/* Checks the directory, and makes a name for this member. Returns 0; -ENAMETOOLONG when the directory's path is longer
 * than UW_BUS_FOLDER_BYTES_MAX; -EPERM when the directory is another user's, or open to others; or -errno. */
int uw_bus_directory_open(struct uw_bus_directory *directory, const char *folder);

/* Returns a listening socket, which others can find by now; or -errno. */
int uw_bus_directory_listen(const struct uw_bus_directory *directory);

/* Calls `found` with the name of each other member, alive or not, until `found` returns an error. Returns this error, 0
 * or -errno. */
int uw_bus_directory_look(const struct uw_bus_directory *directory, int (*found)(void *context, const char *name),
                          void *context);

/* Returns a socket connected to the member `name`. -ENOENT or -ECONNREFUSED: the member no longer exists, and its file
 * is removed. After any other -errno the caller may try again. */
int uw_bus_directory_connect(const struct uw_bus_directory *directory, const char *name);

/* Removes this member's socket file, so that no peer finds this member. */
void uw_bus_directory_leave(const struct uw_bus_directory *directory);

bool uw_bus_name_is_valid(const char *name, size_t length);

#endif
