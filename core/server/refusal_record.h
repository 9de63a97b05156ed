/* A request that the server refuses by itself, as far as it came: for a log. */
#ifndef UW_SERVER_REFUSAL_RECORD_H
#define UW_SERVER_REFUSAL_RECORD_H

#include "log/access_line.h"
#include "server/request.h"

/* Returns the log data of a refused request. The texts are the client's, unchecked, and point into the request. */
struct uw_access_record uw_refusal_record(const struct uw_request *request, int status, int64_t bytes);

#endif
