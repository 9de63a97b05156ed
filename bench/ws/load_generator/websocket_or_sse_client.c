#include "websocket_or_sse_client.h"

#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_stream_reader.h"
#include "websocket_message.h"
#include "opening_handshake.h"
#include "load_run.h"

void kept_append(struct kept *kept, const char *bytes, size_t length)
{
    if (kept->length + length > kept->room) {
        kept->room = 2 * (kept->length + length);
        kept->bytes = realloc(kept->bytes, kept->room);
        if (!kept->bytes)
            abort();
    }
    memcpy(kept->bytes + kept->length, bytes, length);
    kept->length += length;
}

void kept_drop(struct kept *kept, size_t length)
{
    kept->length -= length;
    memmove(kept->bytes, kept->bytes + length, kept->length);
}

/* The operations first, and what is read of it just now. */
static void end(struct peer *peer)
{
    struct uw_operation *all[] = {&peer->connect, &peer->receive, &peer->send};
    bool pending = peer->reading;

    peer->state = PEER_ENDING;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->pending) {
            pending = true;
            if (!all[i]->cancelled)
                uw_cancel(&peer->run->loop, all[i]);
        }
    if (pending)
        return;
    uw_close(&peer->run->loop, peer->fd);
    peer->state = PEER_CLOSED;
    peer->kept.length = peer->parts.length = peer->chunk_left = peer->next_length = 0;
    peer->kind->closed(peer);
}

void peer_end(struct peer *peer)
{
    if (peer->state != PEER_CLOSED)
        end(peer);
}

void peer_fail(struct peer *peer, const char *failure)
{
    run_fail(peer->run, failure);
    peer_end(peer);
}

static void sent(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct peer *peer = uw_container_of(operation, struct peer, send);

    (void)loop;
    if (peer->state == PEER_ENDING)
        end(peer);
    else if (result < 0)
        peer_fail(peer, strerror(-result));
    else if (peer->next_length) {
        size_t length = peer->next_length;

        peer->next_length = 0;
        peer_send(peer, peer->next, length);
    } else if (peer->state == PEER_OPEN && peer->kind->sent)
        peer->kind->sent(peer);
}

void peer_send(struct peer *peer, const char *bytes, size_t length)
{
    if (peer->send.pending) {
        peer->next = bytes;
        peer->next_length = length;
        return;
    }
    peer->send.data = (char *)bytes;
    peer->send.length = (uint32_t)length;
    uw_submit(&peer->run->loop, &peer->send);
}

/* Returns how many of the bytes were whole. */
static size_t read_whole(struct peer *peer, const char *bytes, size_t length)
{
    size_t head = 0;

    if (peer->state == PEER_SHAKING_HANDS) {
        head = opening_read_answer(peer, bytes, length);
        if (!head || peer->state == PEER_ENDING)
            return head;
        peer->state = PEER_OPEN;
        peer->kind->opened(peer);
    }
    if (peer->state != PEER_OPEN)
        return length;
    return head + (peer->event_stream ? event_stream_read(peer, bytes + head, length - head)
                                      : messages_read(peer, bytes + head, length - head));
}

/* What is not whole yet is kept; most comes whole, and is read where it is. */
static void take(struct peer *peer, const char *bytes, size_t length)
{
    size_t whole;

    peer->reading = true;
    if (!peer->kept.length) {
        whole = read_whole(peer, bytes, length);
        kept_append(&peer->kept, bytes + whole, length - whole);
    } else {
        kept_append(&peer->kept, bytes, length);
        kept_drop(&peer->kept, read_whole(peer, peer->kept.bytes, peer->kept.length));
    }
    peer->reading = false;
}

static void received(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct peer *peer = uw_container_of(operation, struct peer, receive);

    peer->run->bytes += result > 0 ? (uint64_t)result : 0;
    if (result > 0 && peer->state != PEER_ENDING)
        take(peer, operation->data, (size_t)result);
    else if (peer->state != PEER_ENDING && !peer->closing)
        peer_fail(peer, result < 0 ? strerror(-result) : "the server has closed a connection");
    if (peer->state == PEER_ENDING || (result <= 0 && peer->closing))
        end(peer);
    else if (result > 0 && !operation->pending)
        uw_submit(loop, operation);
}

static void connected(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct peer *peer = uw_container_of(operation, struct peer, connect);
    const char *request;
    size_t length;

    if (peer->state == PEER_ENDING) {
        end(peer);
        return;
    }
    if (result < 0) {
        peer_fail(peer, strerror(-result));
        return;
    }
    peer->state = PEER_SHAKING_HANDS;
    uw_submit(loop, &peer->receive);
    request = opening_request(peer, &length);
    peer_send(peer, request, length);
}

static int socket_of(const struct peer *peer)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;

    if (fd < 0 || setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes) ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) ||
        bind(fd, (const struct sockaddr *)&peer->address, sizeof peer->address)) {
        perror("ws-load");
        exit(EXIT_FAILURE);
    }
    return fd;
}

void peer_open(struct peer *peer)
{
    static struct sockaddr_in server;

    server = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(peer->run->options.port)};
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    peer->fd = socket_of(peer);
    peer->state = PEER_CONNECTING;
    peer->closing = false;
    peer->since_ns = uw_clock_ns();
    peer->connect = (struct uw_operation){
        .opcode = UW_CONNECT, .fd = peer->fd, .data = &server, .length = sizeof server, .complete = connected};
    peer->receive = (struct uw_operation){.opcode = UW_RECEIVE, .fd = peer->fd, .complete = received};
    peer->send = (struct uw_operation){.opcode = UW_SEND, .fd = peer->fd, .complete = sent};
    uw_submit(&peer->run->loop, &peer->connect);
}

void peer_close(struct peer *peer)
{
    peer->closing = true;
    peer_send(peer, peer->control, message_of_close(peer->control));
}

void peer_prepare(struct peer *peer, struct run *run, unsigned index, const struct peer_kind *kind, const char *path,
                  bool event_stream)
{
    *peer = (struct peer){.run = run, .kind = kind, .path = path, .event_stream = event_stream};
    peer->address = (struct sockaddr_in){.sin_family = AF_INET};
    peer->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + index);
}
