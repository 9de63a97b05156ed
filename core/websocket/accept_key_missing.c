/* Without OpenSSL there is no SHA-1, and so are no WebSockets but those that the application makes of a hijacked
 * connection. */
#include "websocket/accept_key.h"

bool uw_accept_key_is_possible(void)
{
    return false;
}

int uw_accept_key(const char key[UW_WEBSOCKET_KEY_BYTES], char accept[UW_WEBSOCKET_ACCEPT_BYTES])
{
    (void)key, (void)accept;
    return -1;
}
