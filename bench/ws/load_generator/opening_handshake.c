#include "opening_handshake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load_run.h"

#define REQUEST_BYTES_MAX 512
#define REQUESTS_MAX 2 /* paths in a run */
#define HEAD_BYTES_MAX 4096
/* RFC 6455, section 1.3. */
#define KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
#define WEBSOCKET_FIELDS \
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " KEY "\r\n"
#define DEFLATE_FIELD \
    "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r\n"
#define EVENT_STREAM_FIELDS "Accept: text/event-stream\r\nCache-Control: no-cache\r\n"

struct request {
    const char *path;
    char text[REQUEST_BYTES_MAX];
    size_t length;
};

static void write_request(struct request *request, const struct peer *peer)
{
    const struct options *options = &peer->run->options;
    int length =
        snprintf(request->text, sizeof request->text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%s%s\r\n", peer->path,
                 (unsigned)options->port, peer->event_stream ? EVENT_STREAM_FIELDS : WEBSOCKET_FIELDS,
                 options->compressed && !peer->event_stream ? DEFLATE_FIELD : "");

    if (length < 0 || (size_t)length >= sizeof request->text)
        abort();
    request->path = peer->path;
    request->length = (size_t)length;
}

const char *opening_request(const struct peer *peer, size_t *length)
{
    static struct request requests[REQUESTS_MAX];
    struct request *request = requests;

    while (request->path && strcmp(request->path, peer->path) != 0)
        request++;
    if (!request->path)
        write_request(request, peer);
    *length = request->length;
    return request->text;
}

/* Whether a field of that name begins so. */
static bool has_field(const char *head, const char *name, const char *value)
{
    char start[HEAD_BYTES_MAX];
    const char *field;

    snprintf(start, sizeof start, "\r\n%s:", name);
    field = strcasestr(head, start);
    if (!field)
        return false;
    field += strlen(start);
    return strncasecmp(field + strspn(field, " "), value, strlen(value)) == 0;
}

static const char *deflate_objection(const struct peer *peer, const char *head)
{
    bool deflate = has_field(head, "sec-websocket-extensions", "permessage-deflate");

    if (!peer->run->options.compressed)
        return deflate ? "compresses unasked" : NULL;
    if (!deflate)
        return "does not compress";
    return strstr(head, "server_no_context_takeover") ? NULL : "compresses in another way than was asked";
}

static const char *websocket_objection(const struct peer *peer, const char *head)
{
    if (strncmp(head, "HTTP/1.1 101 ", 13) != 0)
        return "is not upgraded to a WebSocket";
    return strstr(head, ACCEPT) ? deflate_objection(peer, head) : "the server accepts another key";
}

static const char *event_stream_objection(struct peer *peer, const char *head)
{
    peer->chunked = has_field(head, "transfer-encoding", "chunked");
    return strncmp(head, "HTTP/1.1 200 ", 13) == 0 && has_field(head, "content-type", "text/event-stream")
               ? NULL
               : "does not answer by an event stream";
}

size_t opening_read_answer(struct peer *peer, const char *bytes, size_t length)
{
    const char *end = memmem(bytes, length, "\r\n\r\n", 4), *objection;
    char head[HEAD_BYTES_MAX + 1];
    size_t head_bytes = end ? (size_t)(end + 4 - bytes) : length;

    if (!end && length < HEAD_BYTES_MAX)
        return 0;
    if (!end || head_bytes > HEAD_BYTES_MAX) {
        peer_fail(peer, "the head of an answer is too long");
        return length;
    }
    memcpy(head, bytes, head_bytes);
    head[head_bytes] = '\0';
    objection = peer->event_stream ? event_stream_objection(peer, head) : websocket_objection(peer, head);
    if (objection)
        peer_fail(peer, objection);
    return head_bytes;
}
