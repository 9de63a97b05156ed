#include "pub_sub/pub_sub_module.h"

#include <errno.h>

#include "metrics/metrics.h"
#include "pub_sub/channels.h"
#include "pub_sub/post_quota.h"
#include "pub_sub/process_subscriber.h"
#include "server/server_context.h"

static int open_channels(struct uw_server_context *server_context)
{
    server_context->channels = uw_channels_new(server_context);
    return server_context->channels ? 0 : -ENOMEM;
}

static void own_channels(struct uw_server_context *server_context)
{
    uw_channels_own(server_context->channels);
}

static void measure_channels(struct uw_server_context *server_context)
{
    struct uw_channels *channels = server_context->channels;

    uw_metrics_add_growth(server_context->metrics, UW_METRIC_MESSAGES_PUBLISHED_FIRST,
                          atomic_load_explicit(&channels->counts.published, memory_order_relaxed),
                          &channels->published_measured);
}

static void close_quota(struct uw_server_context *server_context)
{
    uw_post_quota_close(server_context->channels->quota);
}

static void remove_callbacks(struct uw_server_context *server_context)
{
    server_context->channels->changed = NULL;
    server_context->channels->spread = NULL;
}

static void close_channels(struct uw_server_context *server_context)
{
    uw_process_subscribers_discard(server_context->channels);
    uw_channels_free(server_context->channels);
}

const struct uw_module uw_module_pub_sub = {
    .open = open_channels,
    .own = own_channels,
    .measure = measure_channels,
    .stop = close_quota,
    .mute = remove_callbacks,
    .close = close_channels,
};
