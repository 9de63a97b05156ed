/* Messages of WebSockets, as a client sends and receives them (RFC 6455, section 5). */
#ifndef BENCH_WEBSOCKET_MESSAGE_H
#define BENCH_WEBSOCKET_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#define MESSAGE_OVERHEAD 14

struct peer;
struct run;

/* Write a masked frame, and return its length. `at` has room for MESSAGE_OVERHEAD bytes more than the message; that of
 * a compressed one is not longer. */
size_t message_of_text(char *at, const char *bytes, size_t length);
size_t message_of_deflated_text(char *at, const char *bytes, size_t length);
size_t message_of_close(char *at);

/* Hands each whole message to the peer's kind. Returns how many bytes were whole frames. */
size_t messages_read(struct peer *peer, const char *bytes, size_t length);

#endif
