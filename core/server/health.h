/* Health checks: the server answers them itself, on the loop's thread, so they need neither a handler nor its threads.
 */
#ifndef UW_SERVER_HEALTH_H
#define UW_SERVER_HEALTH_H

#include <stdbool.h>

struct uw_request;
struct uw_server_settings;

/* Whether the settings have a path of health checks. */
bool uw_health_is_on(const struct uw_server_settings *settings);

/* Answers a GET or HEAD of a health check's path and returns true. Otherwise returns false, and the caller still owns
 * the request. */
bool uw_health_try(struct uw_request *request);

#endif
