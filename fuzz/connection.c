/* A whole connection over a transport in memory: any bytes, cut anywhere, read and sent at any pace by an unruly
 * client, answered at any time by an unruly handler. What the client has received must be responses, framed as they
 * say, each with the content that the handler gave it, and nothing after one that closes; and nothing is left behind.
 */
#include "http/response_writer.h"
#include "server_fixture.h"

#define REQUESTS_MAX 512
#define CONTENT_BYTES_MAX 600
#define STATUS_AT (sizeof "HTTP/1.1 " - 1) /* in a response */

enum act {
    ACT_STEP, /* the transport notifies of one event */
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

/* One response, as the handler makes it and as the client shall have it. */
struct given {
    bool head, sized;
    size_t length; /* of content */
};

static struct given all[REQUESTS_MAX];
static size_t count;               /* requests so far */
static struct uw_request *current; /* not answered, or not completely */
static struct uw_http_response response;
static size_t content_left;

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
    case ACT_COUNT:
        break;
    }
}

static void answer_at_last(int step)
{
    (void)step;
    way = (uint8_t)(way * 5 + 1);
    answer(CONTENT_BYTES_MAX);
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
    static const char resume[] = "HTTP/1.1 100 Continue\r\n\r\n";
    size_t length = sizeof resume - 1;

    while (output->left >= length && memcmp(output->bytes, resume, length) == 0)
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
    struct fake fake;
    struct input input;

    if (!read_input(&input, &fake, data, size))
        return 0;
    count = 0;
    current = NULL;
    open_server();
    fake_connect(&server.server_context, &uw_protocol_http1, &fake);
    for (size_t i = 0; i < input.acts_length; i++) {
        way = (uint8_t)(way + input.acts[i]);
        act(&fake, input.acts[i] % ACT_COUNT);
    }
    run_to_the_end(&fake, answer_at_last);
    must(!current, "no request is left with the handler");
    check_nothing_is_left();
    check_output(&fake);
    fake_free(&fake);
    return 0;
}
