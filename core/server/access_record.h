/* A request and its response, for the access log. */
#ifndef UW_SERVER_ACCESS_RECORD_H
#define UW_SERVER_ACCESS_RECORD_H

#include "log/access_line.h"
#include "server/request.h"

/* The status of a request whose client has gone before the response was complete, as in nginx. */
#define UW_STATUS_CLIENT_GONE 499

/* The texts point into the request. On the loop's thread, before the request is finished. */
struct uw_access_record uw_access_record(const struct uw_request *request);

#endif
