/* The metrics of a server's loop. The loop writes them after each iteration, before the application gets its requests.
 */
#ifndef UW_SERVER_SERVER_METRICS_H
#define UW_SERVER_SERVER_METRICS_H

struct uw_server_context;

/* Writes counts and current numbers to server_context->metrics. On the loop's thread. */
void uw_server_measure(struct uw_server_context *server_context);

#endif
