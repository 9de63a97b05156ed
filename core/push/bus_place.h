/* The folder in which the members of a bus find each other: each listens there on a UNIX socket, `<pid>-<16 hex>.bus`.
 * The folder is nobody's but this user's. */
#ifndef UW_PUSH_BUS_PLACE_H
#define UW_PUSH_BUS_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#define UW_BUS_SUFFIX ".bus"
#define UW_BUS_NAME_BYTES_MAX (10 + 1 + 16 + sizeof UW_BUS_SUFFIX - 1)
#define UW_BUS_PATH_BYTES_MAX (sizeof((struct sockaddr_un *)NULL)->sun_path - 1)
#define UW_BUS_FOLDER_BYTES_MAX (UW_BUS_PATH_BYTES_MAX - 1 - UW_BUS_NAME_BYTES_MAX)

struct uw_bus_place {
    char folder[UW_BUS_FOLDER_BYTES_MAX + 1];
    char name[UW_BUS_NAME_BYTES_MAX + 1]; /* of this member's socket; empty: there is none */
};

/* Looks at the folder, and makes up a name. Returns 0; -ENAMETOOLONG when the folder's path is longer than
 * UW_BUS_FOLDER_BYTES_MAX; -EPERM when it is another user's, or open to others; or -errno. */
int uw_bus_place_open(struct uw_bus_place *place, const char *folder);

/* A socket that listens, and that others find from now on; or -errno. */
int uw_bus_place_listen(const struct uw_bus_place *place);

/* Tells the names of the others that there are, dead or alive, until `found` returns an error. Returns that, 0 or
 * -errno. */
int uw_bus_place_look(const struct uw_bus_place *place, int (*found)(void *context, const char *name), void *context);

/* A socket that is connected to the member of that name. -ENOENT or -ECONNREFUSED: there is no such member any more,
 * nor its file; any other -errno: it may be tried again. */
int uw_bus_place_connect(const struct uw_bus_place *place, const char *name);

/* Nobody finds this member any more. */
void uw_bus_place_leave(const struct uw_bus_place *place);

bool uw_bus_name_is_valid(const char *name, size_t length);

#endif
