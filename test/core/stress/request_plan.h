/* What is asked and answered: a number, the request's path, determines both, so that the client knows every byte that
 * is its own. */
#ifndef UW_STRESS_REQUEST_PLAN_H
#define UW_STRESS_REQUEST_PLAN_H

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "seeded_random.h"

#define PIECES_MAX 6
#define HINTS_MAX 2
#define PIECE_BYTES_MAX (400 * 1024) /* more than UW_OUTGOING_HIGH_BYTES */
#define CONTENT_BYTES_MAX 20000      /* of a request */
#define AHEAD_BYTES_MAX 30000        /* what the client of a hijacked connection sends */
#define ANSWER_BYTES_MAX (PIECES_MAX * PIECE_BYTES_MAX + AHEAD_BYTES_MAX + 1024)

enum ending {
    ENDS_OPEN,     /* the connection goes on */
    ENDS_CLOSED,   /* it is closed in an orderly way */
    ENDS_ABORTED,  /* it is closed at once: UW_CHUNK_ABORT, or uw_request_abort */
    ENDS_HIJACKED, /* the handler has the descriptor in the end, and echoes what comes */
};

struct plan {
    uint64_t mark;
    unsigned hints, pieces;
    size_t piece_bytes[PIECES_MAX];
    size_t content_bytes, ahead_bytes;
    enum ending ending;
};

static inline size_t size_below(struct dice *dice, size_t bound)
{
    return (size_t)(roll(dice) % bound);
}

static inline enum ending plan_ending(struct dice *dice)
{
    static const enum ending endings[] = {ENDS_CLOSED, ENDS_ABORTED, ENDS_HIJACKED};

    return one_in(dice, 3) ? endings[below(dice, 3)] : ENDS_OPEN;
}

/* Most pieces are small, some need several packets, a few more than may be outgoing. */
static inline size_t plan_piece(struct dice *dice)
{
    static const size_t bounds[] = {60, 60, 60, 3000, 3000, 50000, PIECE_BYTES_MAX};

    return 1 + size_below(dice, bounds[below(dice, sizeof bounds / sizeof *bounds)]);
}

static inline struct plan plan_of(uint64_t mark)
{
    struct dice dice = {mark};
    struct plan plan = {.mark = mark, .hints = below(&dice, HINTS_MAX + 1), .pieces = below(&dice, PIECES_MAX + 1)};

    for (unsigned i = 0; i < plan.pieces; i++)
        plan.piece_bytes[i] = plan_piece(&dice);
    plan.content_bytes = one_in(&dice, 2) ? 0 : size_below(&dice, CONTENT_BYTES_MAX);
    plan.ending = plan_ending(&dice);
    plan.ahead_bytes = plan.ending == ENDS_HIJACKED ? size_below(&dice, AHEAD_BYTES_MAX) : 0;
    return plan;
}

/* Bytes `from` on of a stream of this mark; no two streams, and no two places in one, have the same. */
static inline void fill(char *bytes, size_t length, uint64_t mark, size_t from)
{
    while (length) {
        struct dice dice = {mark + from / sizeof(uint64_t)};
        uint64_t word = roll(&dice);
        size_t skip = from % sizeof word, count = sizeof word - skip;

        count = count < length ? count : length;
        memcpy(bytes, (const char *)&word + skip, count);
        bytes += count;
        from += count;
        length -= count;
    }
}

static inline size_t body_bytes(const struct plan *plan)
{
    size_t sum = 0;

    for (unsigned i = 0; i < plan->pieces; i++)
        sum += plan->piece_bytes[i];
    return sum;
}

#define HEAD_TEXT_BYTES 128

static inline size_t hint_text(char text[HEAD_TEXT_BYTES], const struct plan *plan, unsigned index)
{
    return (size_t)snprintf(text, HEAD_TEXT_BYTES, "HTTP/1.1 103 Early Hints\r\nX-Mark: %016" PRIx64 "-%u\r\n\r\n",
                            plan->mark, index);
}

/* An answer that is aborted never has all that it promised. */
static inline size_t head_text(char text[HEAD_TEXT_BYTES], const struct plan *plan)
{
    return (size_t)snprintf(text, HEAD_TEXT_BYTES,
                            "HTTP/1.1 200 OK\r\nX-Mark: %016" PRIx64 "\r\nContent-Length: %zu\r\n\r\n", plan->mark,
                            body_bytes(plan) + (plan->ending == ENDS_ABORTED));
}

/* What the client sends ahead of a hijack, and gets back. */
static inline void fill_ahead(char *bytes, size_t length, uint64_t mark)
{
    fill(bytes, length, ~mark, 0);
}

/* The content of the request. */
static inline void fill_content(char *bytes, size_t length, uint64_t mark)
{
    fill(bytes, length, ~mark, PIECE_BYTES_MAX);
}

/* The whole answer; returns its length, at most ANSWER_BYTES_MAX. */
static inline size_t answer_text(char *answer, const struct plan *plan)
{
    size_t length = 0;

    for (unsigned i = 0; i < plan->hints; i++)
        length += hint_text(answer + length, plan, i);
    length += head_text(answer + length, plan);
    fill(answer + length, body_bytes(plan), plan->mark, 0);
    length += body_bytes(plan);
    fill_ahead(answer + length, plan->ahead_bytes, plan->mark);
    return length + plan->ahead_bytes;
}

/* The whole request, with what is sent ahead; returns its length, at most REQUEST_BYTES_MAX. */
#define REQUEST_BYTES_MAX (HEAD_TEXT_BYTES + CONTENT_BYTES_MAX + AHEAD_BYTES_MAX)

static inline size_t request_text(char *request, const struct plan *plan)
{
    size_t length = (size_t)snprintf(request, HEAD_TEXT_BYTES,
                                     "POST /%016" PRIx64 " HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n",
                                     plan->mark, plan->content_bytes);

    fill_content(request + length, plan->content_bytes, plan->mark);
    length += plan->content_bytes;
    fill_ahead(request + length, plan->ahead_bytes, plan->mark);
    return length + plan->ahead_bytes;
}

#endif
