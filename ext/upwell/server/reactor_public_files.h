/* The public directory: the core sends an existing file on the loop's thread, before Ruby sees the request. Other
 * requests go to the application. */
#ifndef RB_UPWELL_REACTOR_PUBLIC_FILES_H
#define RB_UPWELL_REACTOR_PUBLIC_FILES_H

#include "server/reactor.h"

/* Opens the public directory, if the settings have one. Raises SystemCallError. Files are stopped before the server is
 * closed. */
void rb_uw_reactor_open_files(struct rb_uw_reactor *reactor);
void rb_uw_reactor_stop_files(struct rb_uw_reactor *reactor);
void rb_uw_reactor_close_files(struct rb_uw_reactor *reactor);

/* The handler of requests: the public directory where it can answer, otherwise the mode. */
struct uw_handler rb_uw_reactor_handler(struct rb_uw_reactor *reactor);

#endif
