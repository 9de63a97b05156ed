#include "rack/client_events.h"

#include <ruby/encoding.h>

#include "base/module.h"
#include "base/process_exceptions.h"
#include "pub_sub/process_subscriber.h"
#include "rack/client_channels.h"
#include "rack/client_class.h"
#include "rack/client_handler.h"
#include "rack/client_registry.h"
#include "rack/exchange.h"

static ID callbacks[UW_PUSH_CLOSED + 1];

void rb_uw_init_client_events(void)
{
    callbacks[UW_PUSH_OPENED] = rb_intern("on_open");
    callbacks[UW_PUSH_TEXT] = callbacks[UW_PUSH_BINARY] = rb_intern("on_message");
    callbacks[UW_PUSH_DRAINED] = rb_intern("on_drained");
    callbacks[UW_PUSH_SHUTDOWN] = rb_intern("on_shutdown");
    callbacks[UW_PUSH_CLOSED] = rb_intern("on_close");
}

/* Returns an exchange for the event. */
struct telling {
    struct rb_uw_exchange exchange;
    struct rb_uw_push_client *client;
    VALUE self; /* the client's */
    enum uw_push_client_event event;
    bool served;
};

static struct telling *telling_of(VALUE argument)
{
    return uw_container_of((struct rb_uw_exchange *)argument, struct telling, exchange);
}

/* It is valid: the protocol has seen to that. Ruby need not look again. */
static VALUE text_of(const struct uw_request *request)
{
    VALUE text = rb_utf8_str_new(request->bytes, request->bytes_length);

    ENC_CODERANGE_SET(text, request->ascii ? ENC_CODERANGE_7BIT : ENC_CODERANGE_VALID);
    return text;
}

static VALUE content_of(const struct uw_request *request)
{
    if (request->client_event == UW_PUSH_TEXT)
        return text_of(request);
    return rb_str_new(request->bytes, request->bytes_length);
}

static void tell_handler(const struct telling *telling)
{
    bool message = telling->event == UW_PUSH_TEXT || telling->event == UW_PUSH_BINARY;
    VALUE handler = telling->client->handler, arguments[2] = {telling->self, Qnil};

    if (!rb_respond_to(handler, callbacks[telling->event]))
        return;
    if (message)
        arguments[1] = content_of(telling->exchange.delivery.core);
    rb_funcallv_public(handler, callbacks[telling->event], message ? 2 : 1, arguments);
}

static void tell_event(const struct telling *telling)
{
    switch (telling->event) {
    case UW_PUSH_WOKEN: /* reports handler changes */
        break;
    case UW_PUSH_REFUSED:
        rb_raise(rb_eUpwellError,
                 "cannot subscribe: this process already has %d patterns, the maximum, or memory is exhausted; "
                 "unsubscribe from one first",
                 UW_PATTERNS_MAX);
    case UW_PUSH_PUBLISHED:
        rb_uw_push_client_tell_published(telling->client, telling->exchange.delivery.core);
        break;
    default:
        tell_handler(telling);
    }
}

static VALUE tell(VALUE argument)
{
    struct telling *telling = telling_of(argument);
    struct rb_uw_push_client *client = telling->client;

    telling->exchange.interruptible = true;
    client->served = true;
    rb_uw_push_client_tell_changes(client);
    client->ended = telling->event == UW_PUSH_CLOSED;
    tell_event(telling);
    rb_uw_push_client_tell_changes(client);
    client->served = false;
    telling->served = true;
    return Qnil;
}

static VALUE fail(VALUE argument, VALUE error)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    if (rb_uw_rack_context_is_copy(exchange->rack_context))
        rb_exc_raise(error);
    exchange->error = error;
    rb_uw_end_interrupts(exchange); /* no other exception shall end this */
    if (rb_uw_ends_process(error))
        rb_exc_raise(error);
    rb_uw_exchange_report(exchange);
    return Qnil;
}

static VALUE finish(VALUE argument)
{
    struct telling *telling = telling_of(argument);
    bool failed = !telling->served && !uw_push_client_is_process_subscriber(telling->client->core);

    if (!telling->served)
        telling->client->served = false;
    rb_uw_hand_over(&telling->exchange.delivery, uw_push_client_event_end(telling->exchange.delivery.core, failed));
    return Qnil;
}

static VALUE report_end(VALUE argument)
{
    struct telling *telling = telling_of(argument);

    if (!telling->served && NIL_P(telling->exchange.error))
        rb_uw_exchange_report_end(&telling->exchange);
    return Qnil;
}

static VALUE finish_and_report(VALUE argument)
{
    finish(argument);
    return report_end(argument);
}

static VALUE forget(VALUE argument)
{
    struct telling *telling = telling_of(argument);

    if (telling->event == UW_PUSH_CLOSED)
        rb_uw_push_client_end(telling->client);
    rb_uw_exchange_end(&telling->exchange);
    RB_GC_GUARD(telling->self);
    return Qnil;
}

static VALUE give_back(VALUE argument)
{
    return rb_ensure(finish_and_report, argument, forget, argument);
}

static VALUE complete(VALUE argument)
{
    return rb_uw_exchange_complete(argument, give_back);
}

/* The last event is delivered even if a change fails. */
static VALUE tell_or_fail(VALUE argument)
{
    const struct telling *telling = telling_of(argument);

    do
        rb_rescue2(tell, argument, fail, argument, rb_eException, (VALUE)0);
    while (telling->event == UW_PUSH_CLOSED && !telling->client->ended);
    return Qnil;
}

static VALUE tell_and_complete(VALUE argument)
{
    return rb_ensure(tell_or_fail, argument, complete, argument);
}

int rb_uw_serve_event(struct rb_uw_rack_context *rack_context, struct uw_request *core)
{
    struct rb_uw_push_client *client = core->client->user;
    struct telling telling = {.client = client, .self = client->self, .event = core->client_event};

    rb_uw_exchange_init(&telling.exchange, rack_context, core);
    if (!uw_push_client_is_process_subscriber(client->core))
        telling.exchange.request.env = client->env;
    return rb_uw_exchange_run(&telling.exchange, tell_and_complete);
}
