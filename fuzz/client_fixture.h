/* A long-lived, unruly client with an unruly handler that answers each message with itself. The handler is notified of
 * the beginning first and of the end last, once each. Nothing leaks. The target says how it upgrades. */
#ifndef UW_FUZZ_CLIENT_FIXTURE_H
#define UW_FUZZ_CLIENT_FIXTURE_H

#include "push/push_client.h"
#include "server_fixture.h"

enum act {
    ACT_STEP, /* the transport notifies of one event */
    ACT_TURN,
    ACT_SERVE,
    ACT_SERVE_FROM_AFAR,
    ACT_FAIL,
    ACT_WRITE,
    ACT_POST,
    ACT_END,
    ACT_END_FROM_AFAR,
    ACT_DISCONNECT,
    ACT_DRAIN,
    ACT_TIME_OUT,
    ACT_SENDS_FAIL,
    ACT_CLIENT_RESETS,
    ACT_COUNT,
};

static struct uw_push_client *client;
static struct uw_request *current; /* the event that the handler has */
static bool opened, closed;
static unsigned code;      /* of the next end */
static const char *posted; /* what is written without being asked for */
static size_t posted_length;

/* Sets `client`, and answers. */
static void upgrade(struct uw_request *request);

static inline void hand_over(struct uw_request *request, struct uw_chunk *chunk, unsigned flags, bool from_other_thread)
{
    must(chunk != NULL, "there is memory");
    chunk->flags = UW_CHUNK_FINISH | flags;
    (from_other_thread ? uw_request_post : uw_request_send)(request, chunk);
}

static inline void make_client(struct uw_request *request, const struct uw_push_client_kind *kind, const char *head)
{
    client = request->client = uw_push_client_new(&server.server_context, kind, NULL);
    must(client != NULL, "there is memory");
    atomic_store(&client->wants_drained, way & 1);
    hand_over(request, uw_chunk_copy(head, strlen(head)), UW_CHUNK_UPGRADE, !answers_at_once);
}

static inline void write_message(bool text, const char *bytes, size_t length, bool from_other_thread)
{
    struct uw_chunk *chunk = client->kind->frame(NULL, text, bytes, length);

    must(chunk != NULL, "there is memory");
    if (from_other_thread)
        uw_push_client_post(client, chunk);
    else
        (void)uw_push_client_send(client, chunk);
}

static inline void serve(bool failed, bool from_other_thread)
{
    struct uw_request *request = current;
    bool text = request && request->client_event == UW_PUSH_TEXT;

    if (!request || atomic_load(&request->posted))
        return;
    current = NULL; /* the next event may come from within */
    if (text || request->client_event == UW_PUSH_BINARY)
        write_message(text, request->bytes, request->bytes_length, from_other_thread);
    (from_other_thread ? uw_request_post : uw_request_send)(request, uw_push_client_event_end(request, failed));
}

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    (void)context;
    must(event == (request->client ? UW_EVENT_PUSH : UW_EVENT_REQUEST) && !current, "one event at a time");
    if (!request->client) {
        must(!client, "one request");
        upgrade(request);
        return;
    }
    must(!closed, "nothing is told after the end");
    must(opened || request->client_event == UW_PUSH_OPENED || request->client_event == UW_PUSH_CLOSED,
         "the beginning is told first");
    must(!opened || request->client_event != UW_PUSH_OPENED, "the beginning is told once");
    opened |= request->client_event == UW_PUSH_OPENED;
    closed = request->client_event == UW_PUSH_CLOSED;
    current = request;
    if (answers_at_once)
        serve(false, false);
}

static inline void act_on_client(enum act what)
{
    if (!client)
        return;
    if (what == ACT_WRITE || what == ACT_POST)
        write_message(what == ACT_WRITE, posted, posted_length, what == ACT_POST);
    else if (what == ACT_END)
        uw_push_client_end(client, code, "ended", 5);
    else
        uw_push_client_post_end(client, code, "ended", 5);
}

static inline void act(struct fake *fake, enum act what)
{
    switch (what) {
    case ACT_STEP:
        (void)fake_step(fake);
        break;
    case ACT_TURN:
        turn();
        break;
    case ACT_SERVE:
        serve(false, false);
        break;
    case ACT_SERVE_FROM_AFAR:
        serve(false, true);
        break;
    case ACT_FAIL:
        serve(true, false);
        break;
    case ACT_DISCONNECT:
        if (fake->endpoint)
            uw_connection_close(connection_of(fake));
        break;
    case ACT_DRAIN:
        drain();
        break;
    case ACT_TIME_OUT:
        time_out(fake);
        break;
    case ACT_SENDS_FAIL:
        fake->sends_fail_after = 0;
        break;
    case ACT_CLIENT_RESETS:
        fake->input_ends = -ECONNRESET;
        break;
    default:
        act_on_client(what);
    }
}

static inline void serve_at_last(int step)
{
    serve(false, step % 2);
}

static inline void check_end(void)
{
    must(!current, "no event is left with the handler");
    must(!client || closed, "the end is told");
    if (client) {
        must(atomic_load(&client->references) == 1 && !uw_push_client_is_open(client), "nobody else has the client");
        uw_push_client_release(client);
    }
    check_nothing_is_left();
}

/* `request` comes before what the client sends. */
static inline void run(struct fake *fake, const struct input *input, const char *request)
{
    size_t head = strlen(request);
    char *bytes = malloc(head + input->sent_length);

    must(bytes != NULL, "there is memory");
    memcpy(bytes, request, head);
    memcpy(bytes + head, input->sent, input->sent_length);
    fake->input = bytes;
    fake->input_length = head + input->sent_length;
    client = NULL;
    current = NULL;
    opened = closed = false;
    open_server();
    fake_connect(&server.server_context, &uw_protocol_http1, fake);
    for (size_t i = 0; i < input->acts_length; i++) {
        code = 990 + input->acts[i];
        act(fake, input->acts[i] % ACT_COUNT);
    }
    run_to_the_end(fake, serve_at_last);
    check_end();
    free(bytes);
}

#endif
