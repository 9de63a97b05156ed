/* The bus carries published messages between the processes of one server. */
#ifndef RB_UPWELL_REACTOR_BUS_H
#define RB_UPWELL_REACTOR_BUS_H

#include "server/reactor.h"

/* Where the other processes of the server are; nil: nowhere. Raises TypeError and ArgumentError. */
void rb_uw_reactor_read_bus(struct rb_uw_reactor *reactor, VALUE folder);

/* Joins them, on the loop's thread: clients wait until the others know of this process. Returns 0 or -errno. */
int rb_uw_reactor_open_bus(struct rb_uw_reactor *reactor);

/* Leaves the bus after the loop was closed. A child process's copy does not change the parent's bus. */
void rb_uw_reactor_close_bus(struct rb_uw_reactor *reactor);

#endif
