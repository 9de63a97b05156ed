#include "transport/tls_handshake_queue.h"

static bool queue_is_empty(const struct uw_tls_handshake_queue *queue)
{
    return uw_list_empty(&queue->answered) && uw_list_empty(&queue->unanswered);
}

static struct uw_tls_queued_handshake *remove_first(struct uw_tls_handshake_queue *queue)
{
    struct uw_list *list = uw_list_empty(&queue->answered) ? &queue->unanswered : &queue->answered;
    struct uw_tls_queued_handshake *first = uw_container_of(list->next, struct uw_tls_queued_handshake, link);

    uw_list_remove(&first->link);
    return first;
}

static bool turn_has_time(struct uw_tls_handshake_queue *queue)
{
    if (queue->turn != queue->loop->turns) {
        queue->turn = queue->loop->turns;
        queue->spent_ns = 0;
    }
    return queue->spent_ns < UW_TLS_HANDSHAKES_NS;
}

/* An operation without a descriptor fails, and the next turn reports the failure. */
static void schedule_next_turn(struct uw_tls_handshake_queue *queue)
{
    if (!queue->next_turn.pending && !queue_is_empty(queue))
        uw_submit(queue->loop, &queue->next_turn);
}

static void run_queued(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_tls_handshake_queue *queue = uw_container_of(operation, struct uw_tls_handshake_queue, next_turn);

    (void)loop;
    (void)result;
    while (turn_has_time(queue) && !queue_is_empty(queue)) {
        struct uw_tls_queued_handshake *first = remove_first(queue);

        first->run(first);
    }
    schedule_next_turn(queue);
}

void uw_tls_handshake_queue_init(struct uw_tls_handshake_queue *queue, struct uw_loop *loop)
{
    *queue = (struct uw_tls_handshake_queue){.loop = loop,
                                             .next_turn = {.opcode = UW_POLL, .fd = -1, .complete = run_queued}};
    uw_list_init(&queue->answered);
    uw_list_init(&queue->unanswered);
}

void uw_tls_handshake_queue_close(struct uw_tls_handshake_queue *queue)
{
    while (!queue_is_empty(queue))
        (void)remove_first(queue);
}

void uw_tls_queued_handshake_init(struct uw_tls_queued_handshake *queued,
                                  void (*run)(struct uw_tls_queued_handshake *queued))
{
    queued->run = run;
    uw_list_init(&queued->link);
}

bool uw_tls_handshake_queue_may_run(struct uw_tls_handshake_queue *queue, bool answered)
{
    return turn_has_time(queue) && uw_list_empty(&queue->answered) && (answered || uw_list_empty(&queue->unanswered));
}

void uw_tls_handshake_queue_add(struct uw_tls_handshake_queue *queue, struct uw_tls_queued_handshake *queued,
                                bool answered)
{
    uw_list_append(answered ? &queue->answered : &queue->unanswered, &queued->link);
    schedule_next_turn(queue);
}

void uw_tls_handshake_queue_count_time(struct uw_tls_handshake_queue *queue, int64_t begun_ns)
{
    if (turn_has_time(queue))
        queue->spent_ns += uw_clock_ns() - begun_ns;
}

void uw_tls_handshake_queue_remove(struct uw_tls_queued_handshake *queued)
{
    uw_list_remove(&queued->link);
}
