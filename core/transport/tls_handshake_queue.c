#include "transport/tls_handshake_queue.h"

static bool is_empty(const struct uw_tls_handshake_queue *line)
{
    return uw_list_empty(&line->answered) && uw_list_empty(&line->fresh);
}

static struct uw_tls_place *take_first(struct uw_tls_handshake_queue *line)
{
    struct uw_list *list = uw_list_empty(&line->answered) ? &line->fresh : &line->answered;
    struct uw_tls_place *first = uw_container_of(list->next, struct uw_tls_place, link);

    uw_list_remove(&first->link);
    return first;
}

static bool has_time(struct uw_tls_handshake_queue *line)
{
    if (line->turn != line->loop->turns) {
        line->turn = line->loop->turns;
        line->spent_ns = 0;
    }
    return line->spent_ns < UW_TLS_LINE_NS;
}

/* An operation without a descriptor fails, and the next turn reports the failure. */
static void call_in_next_turn(struct uw_tls_handshake_queue *line)
{
    if (!line->next_turn.pending && !is_empty(line))
        uw_submit(line->loop, &line->next_turn);
}

static void call(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_tls_handshake_queue *line = uw_container_of(operation, struct uw_tls_handshake_queue, next_turn);

    (void)loop;
    (void)result;
    while (has_time(line) && !is_empty(line)) {
        struct uw_tls_place *first = take_first(line);

        first->called(first);
    }
    call_in_next_turn(line);
}

void uw_tls_handshake_queue_init(struct uw_tls_handshake_queue *line, struct uw_loop *loop)
{
    *line = (struct uw_tls_handshake_queue){.loop = loop, .next_turn = {.opcode = UW_POLL, .fd = -1, .complete = call}};
    uw_list_init(&line->answered);
    uw_list_init(&line->fresh);
}

void uw_tls_handshake_queue_close(struct uw_tls_handshake_queue *line)
{
    while (!is_empty(line))
        (void)take_first(line);
}

void uw_tls_place_init(struct uw_tls_place *place, void (*called)(struct uw_tls_place *place))
{
    place->called = called;
    uw_list_init(&place->link);
}

bool uw_tls_handshake_queue_lets_in(struct uw_tls_handshake_queue *line, bool answered)
{
    return has_time(line) && uw_list_empty(&line->answered) && (answered || uw_list_empty(&line->fresh));
}

void uw_tls_handshake_queue_wait(struct uw_tls_handshake_queue *line, struct uw_tls_place *place, bool answered)
{
    uw_list_append(answered ? &line->answered : &line->fresh, &place->link);
    call_in_next_turn(line);
}

void uw_tls_handshake_queue_note(struct uw_tls_handshake_queue *line, int64_t begun_ns)
{
    if (has_time(line))
        line->spent_ns += uw_clock_ns() - begun_ns;
}

void uw_tls_handshake_queue_leave(struct uw_tls_place *place)
{
    uw_list_remove(&place->link);
}
