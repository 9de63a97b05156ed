/* Without OpenSSL the server has no SHA-1, so it offers no WebSockets. An application may still serve them on hijacked
 * connections. */
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
