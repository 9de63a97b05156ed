/* A stream of server-sent events over a transport in memory, read at any pace by an unruly client, which may send any
 * bytes. What it has received must be events with the data that was written, comments, and at the very end a time to
 * come back. What the client sends is what the handler writes, too. */
#include "push/event_stream.h"

#include "client_fixture.h"

#define WRITTEN_BYTES_MAX 200

static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n";
static const char accepted[] = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";

static void upgrade(struct uw_request *event)
{
    make_client(event, &uw_push_client_event_stream, accepted);
}

/* The data as a client has it, of which CR, LF and both are one line's end. Returns its length. */
static size_t as_received(char *data)
{
    size_t length = 0;

    for (size_t i = 0; i < posted_length; i++) {
        bool pair = posted[i] == '\r' && i + 1 < posted_length && posted[i + 1] == '\n';

        if (!pair)
            data[length++] = posted[i] == '\r' ? '\n' : posted[i];
    }
    return length;
}

/* The lines of an event, up to the empty one, have its data; of a whole stream they are all there. Returns their
 * length.
 */
static size_t check_data(const char *bytes, size_t length, bool whole)
{
    static const char field[] = "data: ";
    char data[WRITTEN_BYTES_MAX];
    size_t left = as_received(data), used = 0, at = 0;
    const char *end;

    for (;;) {
        size_t prefix = sizeof field - 1 < length - at ? sizeof field - 1 : length - at, line;

        must(memcmp(bytes + at, field, prefix) == 0, "each line is of data");
        at += prefix;
        end = memchr(bytes + at, '\n', length - at);
        must(end || !whole, "a line ends");
        line = end ? (size_t)(end - bytes) - at : length - at;
        must(line <= left - used && memcmp(bytes + at, data + used, line) == 0, "the data is what was written");
        if (!end)
            return length;
        at += line + 1;
        used += line;
        if (at == length || bytes[at] == '\n')
            break;
        must(used < left && data[used] == '\n', "a line for each");
        used++;
    }
    must(at == length ? !whole : used == left, "an event has all of its data, and ends");
    return at == length ? at : at + 1;
}

static size_t check_retry(const char *bytes, size_t length, bool whole)
{
    static const char sample[] = "retry: 0000\n\n";

    must(length <= sizeof sample - 1, "nothing comes behind it");
    for (size_t i = 0; i < length; i++)
        must(sample[i] == '0' ? bytes[i] >= '0' && bytes[i] <= '9' : bytes[i] == sample[i], "a time to come back");
    must(length == sizeof sample - 1 || !whole, "it is whole");
    return length;
}

static size_t check_comment(const char *bytes, size_t length, bool whole)
{
    static const char comment[] = ":\n\n";
    size_t there = length < sizeof comment - 1 ? length : sizeof comment - 1;

    must(memcmp(bytes, comment, there) == 0 && (there == sizeof comment - 1 || !whole), "a comment");
    return there;
}

static void check_output(const struct fake *fake)
{
    size_t at = sizeof accepted - 1;

    if (fake->output_length < at)
        return;
    if (memcmp(fake->output, accepted, at) != 0) {
        must(!client, "the answer comes first"); /* or it was refused */
        return;
    }
    while (at < fake->output_length) {
        char first = fake->output[at];

        at += (first == ':'   ? check_comment
               : first == 'r' ? check_retry
                              : check_data)(fake->output + at, fake->output_length - at, fake->shut);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fake fake;
    struct input input;

    if (!read_input(&input, &fake, data, size))
        return 0;
    posted = input.sent;
    posted_length = input.sent_length < WRITTEN_BYTES_MAX ? input.sent_length : WRITTEN_BYTES_MAX;
    run(&fake, &input, request);
    check_output(&fake);
    fake_free(&fake);
    return 0;
}
