/* A request that the server refuses by itself, as far as it came: for a log. */
#ifndef UW_SERVER_REFUSAL_H
#define UW_SERVER_REFUSAL_H

#include "log/access_line.h"
#include "server/request.h"

/* What there is to say of it: the texts are the client's, unchecked, and point into the request. */
struct uw_access uw_refusal(const struct uw_request *request, int status, int64_t bytes);

#endif
