/* A subscriber of the process that is no client, and whose messages are served by the handler all the same: as the
 * events of a client without a connection, UW_CLIENT_PUBLISHED each, and UW_CLIENT_CLOSED at last. Has one
 * subscription. */
#ifndef UW_PUSH_EAR_H
#define UW_PUSH_EAR_H

#include "push/channels.h"
#include "push/client.h"

extern const struct uw_client_kind uw_client_ear;

/* As uw_client_new. Any thread, also before the server is open. */
struct uw_client *uw_ear_new(struct uw_service *service, void *user);

/* On the loop's thread, as what follows: subscribes. Returns what uw_client_subscribe does; after a failure it is
 * closed. */
int uw_ear_open(struct uw_client *ear, const struct uw_topic *topic, uint64_t number);

/* It gets no more, and what waits for the handler is dropped. May be called again. */
void uw_ear_close(struct uw_client *ear);

/* For the server: frees what the handler had, when the loop has been closed. */
void uw_ears_discard(struct uw_channels *channels);

static inline bool uw_client_is_ear(const struct uw_client *client)
{
    return client->kind == &uw_client_ear;
}

#endif
