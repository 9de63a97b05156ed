#include "push/ear.h"

#include "push/subscriptions.h"

static void forget(struct uw_client *ear)
{
    if (uw_list_empty(&ear->ears))
        return;
    uw_list_remove(&ear->ears);
    uw_client_discard(ear);
}

/* Its last event may have been served within another's. */
static void take_over(struct uw_request *request, struct uw_chunk *chunk)
{
    struct uw_client *ear = request->client;

    uw_client_hold(ear);
    uw_client_take_over(request, chunk);
    if (ear->end_told && uw_client_is_served(ear))
        forget(ear);
    uw_client_release(ear);
}

static const struct uw_protocol protocol = {
    .name = "ear",
    .take_over = take_over,
    .abort = uw_client_abort,
    .detach = uw_client_detach,
};

const struct uw_client_kind uw_client_ear = {.protocol = &protocol};

struct uw_client *uw_ear_new(struct uw_service *service, void *user)
{
    struct uw_client *ear = uw_client_new(service, &uw_client_ear, user);

    if (ear)
        ear->opened = true;
    return ear;
}

int uw_ear_open(struct uw_client *ear, const struct uw_topic *topic, uint64_t number)
{
    int error;

    UW_ASSERT_OWNER(&ear->service->loop);
    uw_client_hold(ear);
    uw_list_append(&ear->service->channels->ears, &ear->ears);
    (void)uw_client_may_subscribe(ear);
    error = uw_client_subscribe(ear, topic, UW_SUBSCRIBED_EVENT, number);
    if (error) {
        uw_tell_refused(ear->service->channels, topic);
        uw_client_tell_refused(ear);
        uw_ear_close(ear);
    }
    return error;
}

void uw_ear_close(struct uw_client *ear)
{
    UW_ASSERT_OWNER(&ear->service->loop);
    if (ear->end_told || uw_list_empty(&ear->ears))
        return;
    uw_client_hold(ear);
    ear->end_told = true;
    uw_client_closed(ear);
    if (!uw_client_tell_simply(ear, UW_CLIENT_CLOSED) && uw_client_is_served(ear))
        forget(ear);
    uw_client_release(ear);
}

void uw_ears_discard(struct uw_channels *channels)
{
    while (!uw_list_empty(&channels->ears))
        forget(uw_owner(channels->ears.next, struct uw_client, ears));
}
