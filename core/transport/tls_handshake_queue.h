/* The queue of TLS handshakes of one loop. A signature takes up to a millisecond, so many new clients could delay all
 * other clients. Handshakes get a part of each turn, and then wait for the next turn. Handshakes that the server has
 * answered have priority, because their clients have proved their presence. */
#ifndef UW_TRANSPORT_TLS_HANDSHAKE_QUEUE_H
#define UW_TRANSPORT_TLS_HANDSHAKE_QUEUE_H

#include "io/loop.h"

#define UW_TLS_HANDSHAKES_NS (4 * UW_NS_PER_MS) /* time for handshakes in a turn. The last handshake may exceed it */

struct uw_tls_handshake_queue {
    struct uw_loop *loop;
    struct uw_list answered, unanswered; /* queued handshakes */
    struct uw_operation next_turn;
    uint64_t turn;    /* turn to which `spent_ns` belongs */
    int64_t spent_ns; /* time spent on handshakes in this turn */
};

/* Entry of one handshake. It must not move while it is queued. */
struct uw_tls_queued_handshake {
    struct uw_list link;
    void (*run)(struct uw_tls_queued_handshake *queued);
};

void uw_tls_handshake_queue_init(struct uw_tls_handshake_queue *queue, struct uw_loop *loop);

/* Drops all entries without running them. The loop must be closed before. */
void uw_tls_handshake_queue_close(struct uw_tls_handshake_queue *queue);

void uw_tls_queued_handshake_init(struct uw_tls_queued_handshake *queued,
                                  void (*run)(struct uw_tls_queued_handshake *queued));

/* Returns true if a handshake may continue at once, in this turn. */
bool uw_tls_handshake_queue_may_run(struct uw_tls_handshake_queue *queue, bool answered);

/* Queues the entry. A later turn removes it and calls `run`. */
void uw_tls_handshake_queue_add(struct uw_tls_handshake_queue *queue, struct uw_tls_queued_handshake *queued,
                                bool answered);

/* Counts the time since `begun_ns` as time for handshakes. */
void uw_tls_handshake_queue_count_time(struct uw_tls_handshake_queue *queue, int64_t begun_ns);

/* Does nothing if the entry is not queued. */
void uw_tls_handshake_queue_remove(struct uw_tls_queued_handshake *queued);

#endif
