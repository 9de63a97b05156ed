/* The value of Sec-WebSocket-Accept for a client's key (RFC 6455, section 4.2.2, item 5.4). */
#ifndef UW_WEBSOCKET_ACCEPT_KEY_H
#define UW_WEBSOCKET_ACCEPT_KEY_H

#include <stdbool.h>

#define UW_WEBSOCKET_KEY_BYTES 24
#define UW_WEBSOCKET_ACCEPT_BYTES 28

/* Whether a library offers SHA-1. */
bool uw_accept_key_is_possible(void);

/* Returns 0, or -1 when that fails. */
int uw_accept_key(const char key[UW_WEBSOCKET_KEY_BYTES], char accept[UW_WEBSOCKET_ACCEPT_BYTES]);

#endif
