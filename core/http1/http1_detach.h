/* A connection is taken out of the server for a handler that wants it: once the client has taken the answers before. */
#ifndef UW_HTTP1_HTTP1_DETACH_H
#define UW_HTTP1_HTTP1_DETACH_H

#include "http1/http1.h"

/* For a client to take the answers before a hijack, which most often is at once: whoever wants the connection may keep
 * a thread waiting, or in mode inline every client. Looks are counted, not the time: the loop's thread may be away. */
#define UW_DETACH_LOOKS 10
#define UW_DETACH_STALL_NS (20 * UW_NS_PER_MS) /* between two looks whether the client takes what is outgoing */
#define UW_DETACH_ROOM_NS (5 * UW_NS_PER_MS)   /* between two looks whether the kernel has room for a head */

/* The handler wants the connection. */
void uw_http1_detach(struct uw_connection *connection, struct uw_detached *detached);

/* Hands the connection over if it is wanted and nothing is pending on it. */
void uw_http1_try_detach(struct uw_connection *connection);

/* The time to look has come. Returns whether it is given up: the connection stays the server's, and goes on. */
bool uw_http1_look_after_detaching(struct uw_connection *connection);

/* The connection is not to be had. */
void uw_http1_refuse_detaching(struct uw_connection *connection);

#endif
