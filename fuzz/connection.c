/* A whole connection over a transport in memory: any bytes, cut anywhere, read and sent at any pace by an unruly
 * client, answered at any time by an unruly handler. What the client has received must be responses, framed as they
 * say, each with the content that the handler gave it, and nothing after one that closes; and nothing is left behind.
 *
 * The input: how the client reads and writes (3 bytes), how many acts there are, the acts, then what the client
 * sends. */
#include <stdio.h>

#include "http/response_writer.h"
#include "http1/http1.h"
#include "server/fake_transport.h"
#include "server/server.h"

#define SETTINGS_BYTES 4
#define ACTS_MAX 64
#define STEPS_MAX 100000
#define REQUESTS_MAX 512
#define CONTENT_BYTES_MAX 600
#define STATUS_AT (sizeof "HTTP/1.1 " - 1) /* in a response */
#define LONG_NS (60 * UW_NS_PER_SECOND)

enum act {
    ACT_STEP, /* the transport tells one thing */
    ACT_TURN,
    ACT_ANSWER,
    ACT_ANSWER_A_PIECE,
    ACT_ABORT,
    ACT_DISCONNECT,
    ACT_DRAIN,
    ACT_TIME_OUT,
    ACT_SENDS_FAIL,
    ACT_CLIENT_RESETS,
    ACT_COUNT,
};

static const struct uw_server_settings settings = {
    .http = {.head_bytes_max = 2048, .target_bytes_max = 1024, .headers_max = UW_HTTP_HEADERS_MAX},
    .body_bytes_max = 4096,
    .body_memory_bytes_max = 4096,
    .connections_max = 10,
    .head_timeout_ns = LONG_NS,
    .body_timeout_ns = LONG_NS,
    .keep_alive_timeout_ns = LONG_NS,
    .write_timeout_ns = LONG_NS,
};

/* One response, as the handler makes it and as the client shall have it. */
struct given {
    bool head, sized;
    size_t length; /* of content */
};

static struct uw_server server;
static bool answers_at_once;
static uint8_t way; /* the next answer's */
static struct given all[REQUESTS_MAX];
static size_t count;               /* requests so far */
static struct uw_request *current; /* not answered, or not completely */
static struct uw_http_response response;
static size_t content_left;

static void must(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "connection: not so: %s\n", what);
    abort();
}

static void fails(const char *what)
{
    must(false, what);
}

static void write_head(struct uw_chunk **chunk)
{
    const struct uw_response_writer *writer = current->writer;

    must(!writer->status(chunk, &response) && !writer->date(chunk) && !writer->framing(chunk, &response) &&
             !writer->connection(chunk, &response) && !writer->end_head(chunk),
         "a head can be written");
}

/* As an application would: content of a length that is told or not. */
static void begin_answer(struct uw_chunk **chunk)
{
    struct given *given = &all[count - 1];

    *given = (struct given){.head = current->head.method == UW_METHOD_HEAD,
                            .sized = way & 1,
                            .length = (size_t)(way >> 1) * 5 % CONTENT_BYTES_MAX};
    must(uw_http_response_begin(&response, &current->head, 200) == 0, "a response can be begun");
    if (given->sized)
        must(uw_http_response_set_length(&response, given->length) == 0, "a length can be told");
    uw_http_frame(&response, uw_request_keeps_alive(current));
    content_left = given->length;
    write_head(chunk);
}

static void write_content(struct uw_chunk **chunk, size_t length)
{
    char content[CONTENT_BYTES_MAX];

    memset(content, 'a' + (int)(count % 26), length);
    must(current->writer->piece(chunk, &response, content, length) == 0, "content can be written");
    content_left -= length;
}

static void hand_over(struct uw_chunk *chunk, unsigned flags)
{
    struct uw_request *request = current;

    if (response.framing == UW_FRAMING_TO_CLOSE)
        flags |= UW_CHUNK_TO_CLOSE;
    if (flags & UW_CHUNK_FINISH)
        current = NULL; /* the next request may come from within */
    if (flags & UW_CHUNK_FINISH && !response.keep_alive)
        flags |= UW_CHUNK_CLOSE;
    chunk->flags = flags;
    if (way & 2)
        uw_request_post(request, chunk);
    else
        uw_request_send(request, chunk);
}

/* `most` bytes of content; all of it ends the response. */
static void answer(size_t most)
{
    struct uw_chunk *chunk = NULL;

    if (!current)
        return;
    if (!current->user)
        begin_answer(&chunk);
    current->user = &server; /* begun */
    if (content_left)
        write_content(&chunk, content_left < most ? content_left : most);
    if (content_left) {
        if (chunk) /* of an answer to HEAD there may be nothing */
            hand_over(chunk, 0);
        return;
    }
    must(current->writer->end(&chunk, &response) == 0, "content can be ended");
    must(chunk || (chunk = uw_chunk_new(0)), "there is memory");
    hand_over(chunk, UW_CHUNK_FINISH);
}

static void give_up(void)
{
    struct uw_request *request = current;

    if (!request || atomic_load(&request->posted))
        return;
    current = NULL;
    uw_request_abort(request);
}

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    (void)context;
    must(event == UW_EVENT_REQUEST && !current && count < REQUESTS_MAX, "one request at a time");
    count++;
    current = request;
    if (answers_at_once)
        answer(CONTENT_BYTES_MAX);
}

/* Many connections have one server, until it drains. */
static void open_server(void)
{
    static bool is_open;

    if (is_open && !atomic_load(&server.service.draining))
        return;
    if (is_open)
        uw_server_close(&server);
    is_open = true;
    must(uw_server_open(&server, &settings, "poll", (struct uw_handler){.notify = notify}) == 0, "a server opens");
}

static struct uw_connection *connection_of(const struct fake *fake)
{
    return fake->endpoint ? uw_owner(fake->endpoint, struct uw_connection, endpoint) : NULL;
}

static void turn(void)
{
    must(uw_server_turn(&server, 0) == 0, "a turn succeeds");
}

/* All that a connection waits for has taken too long. */
static void time_out(struct uw_connection *connection)
{
    if (!connection || uw_connection_is_closed(connection))
        return;
    server.service.loop.now_ns += 2 * LONG_NS;
    uw_connection_timeout(connection);
}

static void act(struct fake *fake, enum act what)
{
    switch (what) {
    case ACT_STEP:
        (void)fake_step(fake);
        break;
    case ACT_TURN:
        turn();
        break;
    case ACT_ANSWER:
        answer(CONTENT_BYTES_MAX);
        break;
    case ACT_ANSWER_A_PIECE:
        answer(7);
        break;
    case ACT_ABORT:
        give_up();
        break;
    case ACT_DISCONNECT:
        if (current)
            uw_request_disconnect(current);
        break;
    case ACT_DRAIN:
        if (!atomic_load(&server.service.draining))
            uw_server_drain(&server);
        break;
    case ACT_TIME_OUT:
        time_out(connection_of(fake));
        break;
    case ACT_SENDS_FAIL:
        fake->sends_fail_after = 0;
        break;
    case ACT_CLIENT_RESETS:
        fake->input_ends = -ECONNRESET;
        break;
    case ACT_COUNT:
        break;
    }
}

/* The client reads what there is, and closes. */
static void run_to_the_end(struct fake *fake)
{
    int steps = 0;

    if (fake->input_ends == FAKE_CLIENT_GOES_ON)
        fake->input_ends = 0;
    while (steps++ < STEPS_MAX && fake->endpoint) {
        (void)fake_step(fake);
        turn();
        way = (uint8_t)(way * 5 + 1);
        answer(CONTENT_BYTES_MAX);
        turn();
    }
    must(!fake->endpoint && fake->released, "the connection ends with its client");
    must(!current, "no request is left with the handler");
    must(!server.service.connections.taken && !server.service.requests.taken && !server.service.chunks.taken &&
             server.service.loop.timers.count == server.accept_retry.active,
         "nothing is left behind");
}

/* What the client has. */
struct output {
    const char *bytes;
    size_t left;
    bool cut; /* there may be less than there should be */
};

static const char *find(const char *bytes, size_t length, const char *text)
{
    return memmem(bytes, length, text, strlen(text));
}

static void skip(struct output *output, size_t length)
{
    must(length <= output->left, "no more than there is");
    output->bytes += length;
    output->left -= length;
}

/* Whether it has all of it; what it has must be right. */
static bool take_content(struct output *output, size_t length, char expected)
{
    size_t there = length < output->left ? length : output->left;

    for (size_t i = 0; i < there; i++)
        must(output->bytes[i] == expected, "the content is the handler's");
    skip(output, there);
    must(there == length || output->cut, "the content is whole");
    return there == length;
}

/* A line, without its end; or NULL when it is not whole. */
static const char *take_line(struct output *output)
{
    const char *line = output->bytes, *end = find(line, output->left, "\r\n");

    must(end || output->cut, "a line is whole");
    if (!end) {
        skip(output, output->left);
        return NULL;
    }
    skip(output, (size_t)(end - line) + 2);
    return line;
}

static bool take_chunks(struct output *output, size_t length, char expected)
{
    for (;;) {
        const char *line = take_line(output);
        size_t size = line ? strtoul(line, NULL, 16) : 0;

        if (!line)
            return false;
        must(size <= length, "chunks bring no more than the content");
        if (!take_content(output, size, expected))
            return false;
        line = take_line(output);
        if (!line)
            return false;
        must(line[0] == '\r', "a chunk ends with an empty line");
        length -= size;
        if (size == 0) {
            must(length == 0, "chunks bring all of the content");
            return true;
        }
    }
}

/* One response to a request, or, when `given` is NULL, of the server's own. Returns whether another may follow. */
static bool take_response(struct output *output, const struct given *given, char expected)
{
    const char *head = output->bytes, *end = find(head, output->left, "\r\n\r\n"), *length;
    bool closes, chunked;
    size_t head_length;

    must(end || output->cut, "a head is whole");
    if (!end) {
        skip(output, output->left);
        return false;
    }
    head_length = (size_t)(end - head) + 4;
    skip(output, head_length);
    must(head_length > 15 && memcmp(head, "HTTP/1.1 ", STATUS_AT) == 0, "a response begins with its version");
    closes = find(head, head_length, "\r\nConnection: close\r\n");
    chunked = find(head, head_length, "\r\nTransfer-Encoding: chunked\r\n");
    length = find(head, head_length, "\r\nContent-Length: ");
    must(!(chunked && length), "one framing");
    must(given ? memcmp(head + STATUS_AT, "200", 3) == 0 : head[STATUS_AT] >= '4', "the status is whose answer it is");
    must(given || closes, "a refusal closes");
    if (given && given->head)
        return !closes;
    if (!given)
        skip(output,
             length && strtoul(length + 18, NULL, 10) < output->left ? strtoul(length + 18, NULL, 10) : output->left);
    else if (length) {
        must(strtoul(length + 18, NULL, 10) == given->length, "Content-Length is that of the content");
        if (!take_content(output, given->length, expected))
            return false;
    } else if (chunked) {
        if (!take_chunks(output, given->length, expected))
            return false;
    } else {
        must(closes, "content without a length ends with the connection");
        (void)take_content(output, given->length, expected);
    }
    return !closes;
}

static void skip_informational(struct output *output)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    size_t length = sizeof go_on - 1;

    while (output->left >= length && memcmp(output->bytes, go_on, length) == 0)
        skip(output, length);
}

static bool is_refusal(const struct output *output)
{
    char class = output->left > STATUS_AT ? output->bytes[STATUS_AT] : 0;

    return class == '4' || class == '5';
}

static void check_output(const struct fake *fake)
{
    struct output output = {.bytes = fake->output, .left = fake->output_length, .cut = !fake->shut};
    bool another = true;
    size_t answers = 0;

    for (; another; answers++) {
        skip_informational(&output);
        if (output.left <= STATUS_AT && output.cut)
            return; /* before it tells whose it is */
        if (!output.left)
            break;
        if (is_refusal(&output)) {
            must(!take_response(&output, NULL, 0), "a refusal is the last");
            break;
        }
        must(answers < count, "no more answers than requests");
        another = take_response(&output, &all[answers], (char)('a' + (int)((answers + 1) % 26)));
    }
    must(output.left == 0 || output.cut, "nothing after the answer that closes");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fake fake = {.input_ends = FAKE_CLIENT_GOES_ON, .sends_fail_after = FAKE_NEVER, .fails = fails};
    size_t acts;

    if (size < SETTINGS_BYTES)
        return 0;
    acts = data[3] % ACTS_MAX;
    if (size < SETTINGS_BYTES + acts)
        return 0;
    answers_at_once = data[0] & 1;
    fake.gathers = data[0] & 2;
    fake.settles_at_once = data[0] & 4;
    fake.shut_error = data[0] & 8 ? -ENOTCONN : 0;
    fake.send_error = data[0] & 16 ? -EPIPE : 0;
    fake.piece = data[1];
    fake.send_most = data[2];
    fake.input = (const char *)data + SETTINGS_BYTES + acts;
    fake.input_length = size - SETTINGS_BYTES - acts;
    way = data[0] >> 5;
    count = 0;
    current = NULL;
    open_server();
    fake_connect(&server.service, &uw_protocol_http1, &fake);
    for (size_t i = 0; i < acts; i++) {
        way = (uint8_t)(way + data[SETTINGS_BYTES + i]);
        act(&fake, data[SETTINGS_BYTES + i] % ACT_COUNT);
    }
    run_to_the_end(&fake);
    check_output(&fake);
    fake_free(&fake);
    return 0;
}
