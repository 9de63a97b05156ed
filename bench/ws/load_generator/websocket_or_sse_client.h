/* A client of the server under load: a WebSocket or an event stream. */
#ifndef BENCH_WEBSOCKET_OR_SSE_CLIENT_H
#define BENCH_WEBSOCKET_OR_SSE_CLIENT_H

#include <arpa/inet.h>

#include "io/loop.h"

struct peer;
struct run;

struct peer_kind {
    void (*opened)(struct peer *peer);
    void (*received)(struct peer *peer, const char *bytes, size_t length); /* a message, or an event's data */
    void (*sent)(struct peer *peer);                                       /* or NULL */
    void (*closed)(struct peer *peer); /* its connection has ended: it may be opened anew */
};

enum peer_state { PEER_CLOSED, PEER_CONNECTING, PEER_SHAKING_HANDS, PEER_OPEN, PEER_ENDING };

/* Bytes of which the end has not come. */
struct kept {
    char *bytes;
    size_t length, room;
};

struct peer {
    struct run *run;
    const struct peer_kind *kind;
    const char *path;
    bool event_stream;
    bool chunked;    /* of an event stream */
    bool compressed; /* the message whose parts come */
    bool closing;    /* has said so */
    bool reading;
    enum peer_state state;
    int fd;
    struct sockaddr_in address; /* of its own, or ports would run out */
    struct uw_operation connect, receive, send;
    struct kept kept;
    struct kept parts; /* of a message, or of an event stream: its chunks without their sizes */
    size_t chunk_left; /* of it */
    const char *next;  /* to be sent once that is done which is on its way */
    size_t next_length;
    int64_t since_ns;  /* when it began to connect, or sent what is to be answered */
    char control[256]; /* a frame of its own to be sent */
};

void peer_prepare(struct peer *peer, struct run *run, unsigned index, const struct peer_kind *kind, const char *path,
                  bool event_stream);
void peer_open(struct peer *peer);

/* `bytes` must stay until they are sent; one more may wait while they are on their way. */
void peer_send(struct peer *peer, const char *bytes, size_t length);

/* Of a WebSocket: says so, and ends it once the server has answered; then `closed` is called. */
void peer_close(struct peer *peer);
void peer_end(struct peer *peer);

/* Has failed: counts that, and ends it. */
void peer_fail(struct peer *peer, const char *failure);

void kept_append(struct kept *kept, const char *bytes, size_t length);
void kept_drop(struct kept *kept, size_t length); /* from its beginning */

#endif
