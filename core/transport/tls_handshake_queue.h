/* The queue of handshakes on one loop. A signature takes up to a millisecond, so many new clients could delay all
 * others. Handshakes get a share of each turn; the rest of them wait for the next turn. Handshakes that the server has
 * answered go first, because their clients have proved to be present. */
#ifndef UW_TRANSPORT_TLS_HANDSHAKE_QUEUE_H
#define UW_TRANSPORT_TLS_HANDSHAKE_QUEUE_H

#include "io/loop.h"

#define UW_TLS_LINE_NS (4 * UW_NS_PER_MS) /* share of a turn; the last handshake may exceed it */

struct uw_tls_handshake_queue {
    struct uw_loop *loop;
    struct uw_list answered, fresh; /* places that wait */
    struct uw_operation next_turn;
    uint64_t turn;    /* the turn in which `spent_ns` was spent */
    int64_t spent_ns; /* time spent on handshakes */
};

/* The entry of one handshake. It must not move while it waits. */
struct uw_tls_place {
    struct uw_list link;
    void (*called)(struct uw_tls_place *place);
};

void uw_tls_handshake_queue_init(struct uw_tls_handshake_queue *line, struct uw_loop *loop);

/* Drops all places without calling them. Call this after the loop is closed. */
void uw_tls_handshake_queue_close(struct uw_tls_handshake_queue *line);

void uw_tls_place_init(struct uw_tls_place *place, void (*called)(struct uw_tls_place *place));

/* Returns whether a handshake may continue at once, in this turn. */
bool uw_tls_handshake_queue_lets_in(struct uw_tls_handshake_queue *line, bool answered);

/* Calls the entry in a later turn. */
void uw_tls_handshake_queue_wait(struct uw_tls_handshake_queue *line, struct uw_tls_place *place, bool answered);

/* Counts the time since `begun_ns` for a handshake. */
void uw_tls_handshake_queue_note(struct uw_tls_handshake_queue *line, int64_t begun_ns);

/* Does nothing for an entry that does not wait. */
void uw_tls_handshake_queue_leave(struct uw_tls_place *place);

#endif
