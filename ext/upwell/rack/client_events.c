/* An event of a client that stays, served like a request: whatever the handler does, the event is given back, and the
 * client is closed where it has failed. */
#include "push/ear.h"
#include "rack/client_class.h"

static ID callbacks[UW_CLIENT_CLOSED + 1];

void rb_uw_init_client_events(void)
{
    callbacks[UW_CLIENT_OPENED] = rb_intern("on_open");
    callbacks[UW_CLIENT_TEXT] = callbacks[UW_CLIENT_BINARY] = rb_intern("on_message");
    callbacks[UW_CLIENT_DRAINED] = rb_intern("on_drained");
    callbacks[UW_CLIENT_SHUTDOWN] = rb_intern("on_shutdown");
    callbacks[UW_CLIENT_CLOSED] = rb_intern("on_close");
}

/* An exchange whose request is the event. */
struct telling {
    struct rb_uw_exchange exchange;
    struct rb_uw_client *client;
    VALUE self; /* the client's */
    enum uw_client_event event;
    bool served;
};

static struct telling *telling_of(VALUE argument)
{
    return uw_owner((struct rb_uw_exchange *)argument, struct telling, exchange);
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
    if (request->client_event == UW_CLIENT_TEXT)
        return text_of(request);
    return rb_str_new(request->bytes, request->bytes_length);
}

static VALUE tell(VALUE argument)
{
    struct telling *telling = telling_of(argument);
    struct rb_uw_exchange *exchange = &telling->exchange;
    bool message = telling->event == UW_CLIENT_TEXT || telling->event == UW_CLIENT_BINARY;
    VALUE handler = telling->client->handler, arguments[2] = {telling->self, Qnil};

    exchange->interruptible = true;
    if (telling->event == UW_CLIENT_REFUSED)
        rb_raise(rb_eUpwellError, "a subscription is refused: there are %d patterns already, or no memory",
                 UW_PATTERNS_MAX);
    else if (telling->event == UW_CLIENT_PUBLISHED)
        rb_uw_client_tell_published(telling->client, exchange->request);
    else if (rb_respond_to(handler, callbacks[telling->event])) {
        if (message)
            arguments[1] = content_of(exchange->request);
        rb_funcallv_public(handler, callbacks[telling->event], message ? 2 : 1, arguments);
    }
    telling->served = true;
    return Qnil;
}

static VALUE fail(VALUE argument, VALUE error)
{
    struct rb_uw_exchange *exchange = (struct rb_uw_exchange *)argument;

    if (rb_uw_host_is_copy(exchange->host))
        rb_exc_raise(error);
    exchange->error = error;
    rb_uw_end_strikes(exchange); /* no other exception shall end this */
    if (rb_uw_ends_thread(error))
        rb_exc_raise(error);
    rb_uw_exchange_report(exchange);
    return Qnil;
}

static VALUE finish(VALUE argument)
{
    struct telling *telling = telling_of(argument);
    bool failed = !telling->served && !uw_client_is_ear(telling->client->core);

    rb_uw_hand_over(&telling->exchange, uw_client_event_end(telling->exchange.request, failed));
    return Qnil;
}

static VALUE forget(VALUE argument)
{
    struct telling *telling = telling_of(argument);

    if (telling->event == UW_CLIENT_CLOSED)
        rb_uw_client_end(telling->client);
    rb_uw_exchange_end(&telling->exchange);
    RB_GC_GUARD(telling->self);
    return Qnil;
}

static VALUE give_back(VALUE argument)
{
    return rb_ensure(finish, argument, forget, argument);
}

static VALUE complete(VALUE argument)
{
    return rb_uw_exchange_complete(argument, give_back);
}

static VALUE tell_or_fail(VALUE argument)
{
    return rb_rescue2(tell, argument, fail, argument, rb_eException, (VALUE)0);
}

static VALUE tell_and_complete(VALUE argument)
{
    return rb_ensure(tell_or_fail, argument, complete, argument);
}

int rb_uw_serve_event(struct rb_uw_host *host, struct uw_request *request)
{
    struct rb_uw_client *client = request->client->user;
    struct telling telling = {
        .exchange = rb_uw_exchange_of_request(host, request),
        .client = client,
        .self = client->self,
        .event = request->client_event,
    };

    if (!uw_client_is_ear(client->core))
        telling.exchange.env = client->env;
    return rb_uw_exchange_run(&telling.exchange, tell_and_complete);
}
