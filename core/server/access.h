/* A request and what it was answered with: for a log. */
#ifndef UW_SERVER_ACCESS_H
#define UW_SERVER_ACCESS_H

#include "log/access_line.h"
#include "server/request.h"

/* The texts point into the request. On the loop's thread, before the request is finished. */
struct uw_access uw_access(const struct uw_request *request, int status, int64_t bytes);

#endif
