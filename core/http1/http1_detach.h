/* Detaches a connection from the server for a handler (hijack), once the client has read the earlier responses. */
#ifndef UW_HTTP1_HTTP1_DETACH_H
#define UW_HTTP1_HTTP1_DETACH_H

#include "http1/http1.h"

/* The wait for a client to read the responses before a hijack. Most clients have read them already. The wait may stop a
 * thread, or in mode inline every client. The limit counts checks, not time, because the loop's thread may be busy. */
#define UW_DETACH_LOOKS 10
#define UW_DETACH_STALL_NS (20 * UW_NS_PER_MS) /* between two checks whether the client reads its responses */
#define UW_DETACH_RETRY_NS (5 * UW_NS_PER_MS)  /* between two checks whether a head fits into the kernel's buffer */

/* Starts to detach the connection for the handler. */
void uw_http1_detach(struct uw_connection *connection, struct uw_detached *detached);

/* Hands the connection over if the handler wants it and nothing is pending on it. */
void uw_http1_try_detach(struct uw_connection *connection);

/* Checks the progress after a time-out. Returns whether the server stops the detach: the connection remains the
 * server's. */
bool uw_http1_look_after_detaching(struct uw_connection *connection);

/* Refuses to detach the connection. */
void uw_http1_refuse_detaching(struct uw_connection *connection);

#endif
