#include "pub_sub/process_subscriber.h"

#include "pub_sub/subscriptions.h"
#include "server/protocol.h"

static void discard_subscriber(struct uw_push_client *subscriber)
{
    if (uw_list_empty(&subscriber->process_subscribers))
        return;
    uw_list_remove(&subscriber->process_subscribers);
    uw_push_client_discard(subscriber);
}

/* The last event of a subscriber may have been served during another subscriber's event. */
static void handle_chunk(struct uw_request *request, struct uw_chunk *chunk)
{
    struct uw_push_client *subscriber = request->client;

    uw_push_client_retain(subscriber);
    uw_push_client_take_over(request, chunk);
    if (subscriber->end_notified && uw_push_client_is_served(subscriber))
        discard_subscriber(subscriber);
    uw_push_client_release(subscriber);
}

static const struct uw_request_calls event_calls = {
    .outgoing = uw_push_client_outgoing,
    .disconnect = uw_push_client_disconnect,
    .take_over = handle_chunk,
    .abort = uw_push_client_abort,
    .detach = uw_push_client_detach,
};

const struct uw_push_client_kind uw_push_client_process_subscriber = {.event_calls = &event_calls};

struct uw_push_client *uw_process_subscriber_new(struct uw_server_context *server_context, void *user)
{
    struct uw_push_client *subscriber = uw_push_client_new(server_context, &uw_push_client_process_subscriber, user);

    if (subscriber)
        subscriber->opened = true;
    return subscriber;
}

int uw_process_subscriber_open(struct uw_push_client *subscriber, const struct uw_topic *topic, uint64_t number)
{
    int error;

    UW_ASSERT_OWNER(&subscriber->server_context->loop);
    uw_push_client_retain(subscriber);
    uw_list_append(&subscriber->server_context->channels->process_subscribers, &subscriber->process_subscribers);
    (void)uw_push_client_may_subscribe(subscriber);
    error = uw_push_client_subscribe(subscriber, topic, UW_SUBSCRIBED_EVENT, number);
    if (error) {
        uw_report_refused(subscriber->server_context->channels, topic);
        uw_push_client_notify_refused(subscriber);
        uw_process_subscriber_close(subscriber);
    }
    return error;
}

void uw_process_subscriber_close(struct uw_push_client *subscriber)
{
    UW_ASSERT_OWNER(&subscriber->server_context->loop);
    if (subscriber->end_notified || uw_list_empty(&subscriber->process_subscribers))
        return;
    uw_push_client_retain(subscriber);
    subscriber->end_notified = true;
    uw_push_client_closed(subscriber);
    if (!uw_push_client_notify_plain(subscriber, UW_PUSH_CLOSED) && uw_push_client_is_served(subscriber))
        discard_subscriber(subscriber);
    uw_push_client_release(subscriber);
}

void uw_process_subscribers_discard(struct uw_channels *channels)
{
    while (!uw_list_empty(&channels->process_subscribers))
        discard_subscriber(
            uw_container_of(channels->process_subscribers.next, struct uw_push_client, process_subscribers));
}
