/* The settings that every kind of server has, out of a Hash. */
#include "server/server_settings.h"

VALUE rb_uw_setting(VALUE settings, const char *name)
{
    return rb_hash_fetch(settings, ID2SYM(rb_intern(name)));
}

static int64_t seconds(VALUE settings, const char *name)
{
    double value = NUM2DBL(rb_uw_setting(settings, name));

    if (!(value > 0) || value > 1e9)
        rb_raise(rb_eArgError, "%s must be a number of seconds above 0, not %g", name, value);
    return (int64_t)(value * (double)UW_NS_PER_SECOND);
}

static uint64_t number(VALUE settings, const char *name)
{
    return NUM2ULL(rb_uw_setting(settings, name));
}

static void read_limits(struct uw_server_settings *core, VALUE settings)
{
    core->http = (struct uw_http_limits){
        .head_bytes_max = (uint32_t)NUM2UINT(rb_uw_setting(settings, "head_bytes_max")),
        .target_bytes_max = (uint32_t)NUM2UINT(rb_uw_setting(settings, "target_bytes_max")),
        .headers_max = (uint32_t)NUM2UINT(rb_uw_setting(settings, "headers_max")),
    };
    if (core->http.headers_max > UW_HTTP_HEADERS_MAX)
        rb_raise(rb_eArgError, "headers_max must be at most %d, not %u", UW_HTTP_HEADERS_MAX, core->http.headers_max);
    core->body_bytes_max = number(settings, "body_bytes_max");
    core->body_memory_bytes_max = number(settings, "body_memory_bytes_max");
    core->connections_max = number(settings, "connections_max");
}

static void read_timeouts(struct uw_server_settings *core, VALUE settings)
{
    core->head_timeout_ns = seconds(settings, "head_timeout");
    core->body_timeout_ns = seconds(settings, "body_timeout");
    core->keep_alive_timeout_ns = seconds(settings, "keep_alive_timeout");
    core->write_timeout_ns = seconds(settings, "write_timeout");
}

void rb_uw_read_server_settings(struct uw_server_settings *core, VALUE settings)
{
    Check_Type(settings, T_HASH);
    read_limits(core, settings);
    read_timeouts(core, settings);
}

void rb_uw_read_client_settings(struct uw_server_settings *core, VALUE settings)
{
    double silence = NUM2DBL(rb_uw_setting(settings, "client_timeout"));

    core->message_bytes_max = number(settings, "message_bytes_max");
    if (core->message_bytes_max > UW_MESSAGE_BYTES_MAX)
        rb_raise(rb_eArgError, "message_bytes_max must be at most %d, not %llu", UW_MESSAGE_BYTES_MAX,
                 (unsigned long long)core->message_bytes_max);
    core->client_bytes_max = number(settings, "client_bytes_max");
    if (!(silence >= 0) || silence > 1e9)
        rb_raise(rb_eArgError, "client_timeout must be a number of seconds, 0 or more, not %g", silence);
    core->idle_timeout_ns = (int64_t)(silence * (double)UW_NS_PER_SECOND);
}
