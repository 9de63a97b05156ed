/* Decides whose header fields about a request the server believes. */
#ifndef UW_SERVER_TRUSTED_PEER_H
#define UW_SERVER_TRUSTED_PEER_H

#include <stdbool.h>

struct uw_request;

/* Whether the request comes from a trusted proxy: from a UNIX socket or a loopback address, so from this machine. Any
 * thread. */
bool uw_request_has_trusted_peer(const struct uw_request *request);

#endif
