#include "websocket/websocket_protocol.h"

#include <errno.h>
#include <string.h>

#include "base/invariant.h"
#include "base/pipelined_input.h"
#include "base/utf8.h"
#include "compression/deflate.h"
#include "push/push_client_end.h"
#include "websocket/frame.h"
#include "websocket/handshake.h"

#define RESERVED_BYTES_MAX ((uint64_t)64 * 1024) /* for a frame's announced length; more as bytes arrive */

struct uw_websocket {
    struct uw_frame frame; /* of the payload being read */
    uint64_t left;         /* of it */
    struct uw_request *message;
    struct uw_utf8 utf8;
    bool in_frame, compressed;
    bool close_sent;
    bool paused;      /* the client is not read from */
    bool end_arrived; /* the client sends no more bytes */
    uint16_t failure; /* the close code to send once earlier messages have been served */
    struct uw_pipelined_input pending;
};

static struct uw_websocket *websocket_of(const struct uw_push_client *client)
{
    return (struct uw_websocket *)client->state;
}

/* Sending */

/* Replaces the chunk's content; the chunk has space for the frame. */
static void put_frame(struct uw_chunk *chunk, enum uw_opcode opcode, bool compressed, const char *bytes, size_t length)
{
    chunk->length = uw_frame_write_head(chunk->bytes, opcode, compressed, length);
    memcpy(chunk->bytes + chunk->length, bytes, length);
    chunk->length += length;
}

static void send_frame(struct uw_push_client *client, enum uw_opcode opcode, const char *bytes, size_t length)
{
    struct uw_chunk *chunk = uw_chunk_take(&client->server_context->chunks);

    if (!chunk) {
        uw_stream_close(&client->stream);
        return;
    }
    put_frame(chunk, opcode, false, bytes, length);
    uw_stream_enqueue(&client->stream, chunk);
}

static void send_close(struct uw_push_client *client, unsigned code, const char *reason, size_t length)
{
    char payload[UW_FRAME_CONTROL_BYTES_MAX];

    payload[0] = (char)(code >> 8);
    payload[1] = (char)code;
    memcpy(payload + 2, reason, length);
    websocket_of(client)->close_sent = true;
    atomic_store(&client->ending, true);
    send_frame(client, UW_OPCODE_CLOSE, payload, code == UW_CLOSE_NO_STATUS ? 0 : length + 2);
}

/* Both sides have said all they had to say, or one of them may not be listened to any more. */
static void end(struct uw_push_client *client)
{
    uw_pipelined_input_free(&websocket_of(client)->pending);
    uw_push_client_end_stream(client);
}

/* Fails the connection (section 7.1.7). */
static void fail_now(struct uw_push_client *client, unsigned code)
{
    if (!websocket_of(client)->close_sent)
        send_close(client, code, "", 0);
    if (uw_stream_is_open(&client->stream))
        end(client);
}

static void fail(struct uw_push_client *client, unsigned code)
{
    websocket_of(client)->failure = (uint16_t)code;
    if (uw_push_client_is_served(client)) {
        fail_now(client, code);
        return;
    }
    client->held_back = true;
    uw_push_client_end_input(client);
}

/* Receiving */

static uint64_t message_bytes(const struct uw_websocket *websocket)
{
    return websocket->message ? websocket->message->bytes_length : 0;
}

/* Reserves memory once for the whole frame. */
static unsigned reserve(struct uw_websocket *websocket)
{
    uint64_t left = websocket->left < RESERVED_BYTES_MAX ? websocket->left : RESERVED_BYTES_MAX;

    return uw_request_reserve(websocket->message, (size_t)(message_bytes(websocket) + left)) ? UW_CLOSE_INTERNAL_ERROR
                                                                                             : 0;
}

/* Begins or continues a message (section 5.4). Returns 0, or the close code of an error. */
static unsigned begin_frame(struct uw_push_client *client)
{
    struct uw_websocket *websocket = websocket_of(client);
    const struct uw_frame *frame = &websocket->frame;
    bool continues = frame->opcode == UW_OPCODE_CONTINUATION, text = frame->opcode == UW_OPCODE_TEXT;

    if (continues == !websocket->message)
        return UW_CLOSE_PROTOCOL_ERROR;
    if (frame->length > client->server_context->settings.message_bytes_max - message_bytes(websocket))
        return UW_CLOSE_TOO_BIG;
    websocket->in_frame = true;
    websocket->left = frame->length;
    if (continues)
        return reserve(websocket);
    websocket->message = uw_push_client_event_new(client, text ? UW_PUSH_TEXT : UW_PUSH_BINARY);
    websocket->compressed = frame->compressed;
    websocket->utf8 = (struct uw_utf8){0};
    return websocket->message ? reserve(websocket) : UW_CLOSE_INTERNAL_ERROR;
}

static bool is_text(const struct uw_websocket *websocket)
{
    return websocket->message->client_event == UW_PUSH_TEXT;
}

static unsigned take_payload(struct uw_websocket *websocket, const char *bytes, size_t length)
{
    char *room = uw_request_extend(websocket->message, length);

    if (!room)
        return UW_CLOSE_INTERNAL_ERROR;
    uw_frame_mask(room, bytes, length, websocket->frame.mask, websocket->frame.length - websocket->left);
    websocket->left -= length;
    if (is_text(websocket) && !websocket->compressed && !uw_utf8_feed(&websocket->utf8, room, length))
        return UW_CLOSE_INVALID_DATA;
    return 0;
}

static unsigned close_code_of(long error)
{
    return error == -E2BIG ? UW_CLOSE_TOO_BIG : error == -EBADMSG ? UW_CLOSE_INVALID_DATA : UW_CLOSE_INTERNAL_ERROR;
}

/* Decompresses the message. Without budget the client waits, and the call is repeated later. Returns 0, or the close
 * code of an error. */
static unsigned decompress(struct uw_push_client *client)
{
    struct uw_websocket *websocket = websocket_of(client);
    struct uw_server_context *server_context = client->server_context;
    struct uw_request *message = websocket->message;
    size_t allowed = server_context->settings.message_bytes_max;
    size_t most =
        uw_push_client_has_inflate_budget(client) || allowed < UW_INBOX_BYTES_MAX ? allowed : UW_INBOX_BYTES_MAX;
    char *result;
    long length = uw_deflate_decompress(server_context->deflate, message->bytes, message->bytes_length, most, &result);

    if (length == -E2BIG && most < allowed) {
        uw_push_client_await_inflate_budget(client);
        return 0;
    }
    if (length < 0)
        return close_code_of(length);
    message->bytes_length = 0;
    if (uw_request_keep(message, result, (size_t)length))
        return UW_CLOSE_INTERNAL_ERROR;
    if (is_text(websocket) && !uw_utf8_feed(&websocket->utf8, message->bytes, message->bytes_length))
        return UW_CLOSE_INVALID_DATA;
    return 0;
}

static unsigned end_frame(struct uw_push_client *client)
{
    struct uw_websocket *websocket = websocket_of(client);
    struct uw_request *message = websocket->message;
    unsigned wrong = 0;

    if (websocket->frame.fin && websocket->compressed)
        wrong = decompress(client);
    websocket->in_frame = uw_push_client_awaits_inflate_budget(client);
    if (!websocket->frame.fin || websocket->in_frame)
        return 0;
    if (!wrong && is_text(websocket) && !uw_utf8_is_whole(&websocket->utf8))
        wrong = UW_CLOSE_INVALID_DATA;
    if (wrong)
        return wrong;
    message->ascii = is_text(websocket) && !websocket->utf8.beyond_ascii;
    websocket->message = NULL;
    if (websocket->close_sent) {
        uw_request_free(message); /* the application has said that it is over */
        return 0;
    }
    if (websocket->compressed)
        uw_push_client_take_inflate_budget(client, message);
    uw_push_client_notify(client, message);
    return 0;
}

/* Returns the code that answers a close frame (section 5.5.1). */
static unsigned answer_to_close(const char *payload, size_t length)
{
    unsigned code = length >= 2 ? (unsigned)(unsigned char)payload[0] << 8 | (unsigned char)payload[1] : 0;

    if (length == 0)
        return UW_CLOSE_NO_STATUS;
    if (length == 1 || !uw_close_code_is_valid(code))
        return UW_CLOSE_PROTOCOL_ERROR;
    return uw_utf8_is_text(payload + 2, length - 2) ? code : UW_CLOSE_INVALID_DATA;
}

static void take_control(struct uw_push_client *client, const struct uw_frame *frame, const char *bytes)
{
    char payload[UW_FRAME_CONTROL_BYTES_MAX];
    size_t length = (size_t)frame->length;

    uw_frame_mask(payload, bytes, length, frame->mask, 0);
    if (frame->opcode == UW_OPCODE_PING && !websocket_of(client)->close_sent)
        send_frame(client, UW_OPCODE_PONG, payload, length);
    else if (frame->opcode == UW_OPCODE_CLOSE)
        fail_now(client, answer_to_close(payload, length));
}

/* The application has its say before a close is answered, and a client that does not read has its frames wait. */
static bool may_read(const struct uw_push_client *client)
{
    const struct uw_websocket *websocket = websocket_of(client);

    return uw_stream_is_open(&client->stream) && !websocket->failure && !uw_push_client_is_full(client) &&
           !uw_push_client_awaits_inflate_budget(client) &&
           uw_stream_queued_bytes(&client->stream) <= UW_OUTGOING_HIGH_BYTES;
}

/* Returns the bytes consumed. Returns 0 when a head or a control frame is incomplete, or a close frame has to wait. */
static size_t read_head(struct uw_push_client *client, const char *bytes, size_t length)
{
    struct uw_websocket *websocket = websocket_of(client);
    struct uw_frame *frame = &websocket->frame, next;
    int result = uw_frame_read(&next, bytes, length, client->window_bits > 0);
    unsigned wrong;

    if (result < 0)
        fail(client, (unsigned)-result);
    if (result <= 0)
        return 0;
    if (uw_frame_is_control(&next)) {
        bool waits = next.opcode == UW_OPCODE_CLOSE && !uw_push_client_is_served(client);

        if (waits)
            uw_push_client_end_input(client);
        if (waits || length < next.head_bytes + next.length)
            return 0;
        take_control(client, &next, bytes + next.head_bytes);
        return next.head_bytes + (size_t)next.length;
    }
    *frame = next;
    wrong = begin_frame(client);
    if (wrong)
        fail(client, wrong);
    return next.head_bytes;
}

static size_t read_payload(struct uw_push_client *client, const char *bytes, size_t length)
{
    struct uw_websocket *websocket = websocket_of(client);
    size_t count = length < websocket->left ? length : (size_t)websocket->left;
    unsigned wrong = take_payload(websocket, bytes, count);

    if (!wrong && !websocket->left)
        wrong = end_frame(client);
    if (wrong)
        fail(client, wrong);
    return count;
}

static bool has_more(const struct uw_websocket *websocket, size_t left)
{
    return left > 0 || (websocket->in_frame && websocket->left == 0);
}

/* Returns the bytes consumed. */
static size_t process(struct uw_push_client *client, const char *bytes, size_t length)
{
    struct uw_websocket *websocket = websocket_of(client);
    size_t used = 0, count = 1;

    while (count > 0 && has_more(websocket, length - used) && may_read(client)) {
        bool payload = websocket->in_frame;

        count = (payload ? read_payload : read_head)(client, bytes + used, length - used);
        used += count;
        count += payload;
    }
    return used;
}

static void hold_back(struct uw_push_client *client)
{
    struct uw_websocket *websocket = websocket_of(client);

    client->held_back = true;
    if (websocket->pending.length < UW_INBOX_BYTES_MAX)
        return;
    websocket->paused = true;
    uw_stream_pause_input(&client->stream);
}

/* After bytes have been consumed, as far as they may be. */
static void read_on(struct uw_push_client *client)
{
    struct uw_websocket *websocket = websocket_of(client);

    client->held_back = false;
    if (!uw_stream_is_open(&client->stream))
        return;
    if (websocket->failure)
        client->held_back = true;
    else if (has_more(websocket, websocket->pending.length))
        hold_back(client);
    if (websocket->pending.length >= UW_INBOX_BYTES_MAX)
        return;
    websocket->paused = false;
    uw_stream_resume_input(&client->stream);
}

static void consume_pending(struct uw_push_client *client)
{
    struct uw_pipelined_input *pending = &websocket_of(client)->pending;
    size_t used = process(client, uw_pipelined_input_bytes(pending), pending->length);

    if (uw_stream_is_open(&client->stream))
        uw_pipelined_input_take(pending, used);
}

static void keep(struct uw_push_client *client, const char *bytes, size_t length)
{
    if (!websocket_of(client)->failure && uw_pipelined_input_append(&websocket_of(client)->pending, bytes, length))
        uw_stream_close(&client->stream);
}

static void received(struct uw_push_client *client, const char *bytes, size_t length)
{
    struct uw_websocket *websocket = websocket_of(client);
    bool waited = websocket->pending.length > 0;
    size_t used = waited ? 0 : process(client, bytes, length);

    if (uw_stream_is_open(&client->stream)) {
        client->asked = false;
        uw_push_client_start_idle_timeout(client, client->server_context->loop.now_ns);
        if (used < length)
            keep(client, bytes + used, length - used);
    }
    if (waited && uw_stream_is_open(&client->stream))
        consume_pending(client);
    read_on(client);
}

/* Frames received before the end of the stream are still served as far as possible, and a violation is still
 * answered. */
static bool is_over(const struct uw_push_client *client)
{
    const struct uw_websocket *websocket = websocket_of(client);
    bool served = uw_push_client_is_served(client);

    if (websocket->failure && !served)
        return false;
    return !has_more(websocket, websocket->pending.length) || (served && may_read(client));
}

static void end_of_input(struct uw_push_client *client)
{
    if (!uw_stream_is_open(&client->stream) || !is_over(client))
        return;
    uw_pipelined_input_free(&websocket_of(client)->pending);
    uw_push_client_end_of_input(client);
}

static void resume(struct uw_push_client *client)
{
    struct uw_websocket *websocket = websocket_of(client);

    if (websocket->failure && uw_push_client_is_served(client)) {
        fail_now(client, websocket->failure);
        return;
    }
    if (websocket->pending.length || websocket->in_frame)
        consume_pending(client);
    uw_push_clients_resume_inflate(client->server_context);
    read_on(client);
    if (websocket->end_arrived)
        end_of_input(client);
}

static void receive_ended(struct uw_push_client *client, int32_t result)
{
    if (result == -ECANCELED) {
        read_on(client);
    } else if (result) {
        uw_stream_close(&client->stream);
    } else {
        websocket_of(client)->end_arrived = true;
        uw_push_client_end_input(client);
        resume(client);
    }
}

static void sent(struct uw_push_client *client)
{
    uw_push_client_sent(client);
    if (uw_stream_is_open(&client->stream) && client->held_back && may_read(client))
        resume(client);
}

/* A client whose frames wait gets no ping: its pong could not be read. */
static void look_whether_there(struct uw_push_client *client)
{
    struct uw_websocket *websocket = websocket_of(client);

    if (client->asked) {
        client->server_context->counts.timeouts++;
        uw_stream_close(&client->stream);
    } else if (websocket->paused || !may_read(client) || uw_stream_queued_bytes(&client->stream) > 0 ||
               !uw_push_client_is_served(client)) {
        uw_push_client_start_idle_timeout(client, client->server_context->loop.now_ns);
    } else {
        client->asked = true;
        send_frame(client, UW_OPCODE_PING, "", 0);
        if (uw_stream_is_open(&client->stream))
            uw_stream_await_read(&client->stream, client->server_context->loop.now_ns + UW_PONG_NS);
    }
}

static void timed_out(struct uw_push_client *client)
{
    struct uw_websocket *websocket = websocket_of(client);

    if (websocket->close_sent) {
        end(client);
    } else if (client->leaving) {
        uw_push_client_notify_shutdown(client);
    } else {
        look_whether_there(client);
    }
}

/* Frees a message that will never be complete. */
static void released(struct uw_push_client *client)
{
    struct uw_websocket *websocket = websocket_of(client);

    if (websocket->message)
        uw_request_free(websocket->message);
    websocket->message = NULL;
    uw_pipelined_input_free(&websocket->pending);
}

/* The loop's compressor is created for the first client that needs it. */
static bool attached(struct uw_push_client *client)
{
    struct uw_server_context *server_context = client->server_context;

    if (client->window_bits && !server_context->deflate)
        server_context->deflate = uw_deflate_new();
    return !client->window_bits || server_context->deflate;
}

/* A message of the application's, whole. */
static struct uw_chunk *frame_message(struct uw_slab *slab, bool text, const char *bytes, size_t length)
{
    size_t whole = length + UW_FRAME_HEAD_BYTES_MAX;
    struct uw_chunk *chunk = slab && whole <= UW_CHUNK_SLAB_CAPACITY ? uw_chunk_take(slab) : uw_chunk_new(whole);

    if (chunk)
        put_frame(chunk, text ? UW_OPCODE_TEXT : UW_OPCODE_BINARY, false, bytes, length);
    return chunk;
}

/* Compresses the frame where that makes it shorter. */
static void prepare(struct uw_push_client *client, struct uw_chunk *chunk)
{
    size_t before = chunk->length, head = uw_frame_head_bytes(chunk->bytes);
    char *compressed;
    long length = -1;

    if (client->window_bits && before - head >= UW_DEFLATE_BYTES_MIN)
        length = uw_deflate_compress(client->server_context->deflate, client->window_bits, chunk->bytes + head,
                                     before - head, &compressed);
    if (length < 0)
        return;
    put_frame(chunk, chunk->bytes[0] & UW_FRAME_OPCODE, true, compressed, (size_t)length);
}

static void begin_closing(struct uw_push_client *client, unsigned code, const char *reason, size_t length)
{
    if (websocket_of(client)->close_sent)
        return;
    send_close(client, code, reason, length);
    if (uw_stream_is_open(&client->stream))
        uw_stream_await_read(&client->stream, client->server_context->loop.now_ns + UW_CLOSING_NS);
}

const struct uw_push_client_kind uw_push_client_websocket = {
    .state_bytes = sizeof(struct uw_websocket),
    .event_calls = &uw_push_client_event_calls,
    .attached = attached,
    .frame = frame_message,
    .prepare = prepare,
    .end = begin_closing,
    .received = received,
    .receive_ended = receive_ended,
    .sent = sent,
    .resume = resume,
    .timed_out = timed_out,
    .released = released,
};

static int accept_upgrade(const struct uw_response_writer *writer, struct uw_chunk **chunk,
                          const struct uw_http_head *head, const char *bytes, struct uw_push_client *client)
{
    struct uw_deflate_terms terms;
    int error = uw_websocket_accept(writer, chunk, head, bytes, &terms);

    if (!error)
        client->window_bits = terms.window_bits;
    return error;
}

const struct uw_upgrade_kind uw_upgrade_websocket = {
    .name = "websocket",
    .client_kind = &uw_push_client_websocket,
    .status = 101,
    .is_wanted = uw_websocket_is_wanted,
    .accept = accept_upgrade,
};

static void free_compressor(struct uw_server_context *server_context)
{
    uw_deflate_free(server_context->deflate);
}

const struct uw_module uw_module_websocket = {.close = free_compressor};
