#include "server/trusted_peer.h"

#include <string.h>

#include "server/request.h"

#define LOOPBACK_NETWORK "127."
#define LOOPBACK_V6 "::1"

/* A client on a UNIX socket has a loopback address, too. */
bool uw_request_has_trusted_peer(const struct uw_request *request)
{
    const char *address = uw_request_remote(request);

    return !strncmp(address, LOOPBACK_NETWORK, sizeof LOOPBACK_NETWORK - 1) || !strcmp(address, LOOPBACK_V6);
}
