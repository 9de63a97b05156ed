/* The queue of chunks that wait to be sent. */
#include "server/send_queue.h"

#include "check.h"
#include "server/stream.h"

#define LENT_BYTES 20

static struct uw_stream one, other;
static int given_back;
static const char lent[LENT_BYTES];

static void give_back(struct uw_chunk *chunk)
{
    CHECK(chunk->lender == &given_back);
    given_back++;
}

static struct uw_chunk *chunk_of(struct uw_stream *stream, size_t length, int64_t lent_bytes, unsigned flags)
{
    struct uw_chunk *chunk = uw_chunk_new(length);

    CHECK(chunk != NULL);
    memset(chunk->bytes, 'a', length);
    chunk->length = length;
    chunk->flags = flags;
    if (lent_bytes) {
        chunk->memory = lent;
        chunk->rest_left = lent_bytes;
        chunk->lender = &given_back;
        chunk->release = give_back;
    }
    uw_send_queue_count(stream, chunk);
    return chunk;
}

static int count_of(const struct uw_send_queue *outgoing)
{
    int count = 0;

    for (const struct uw_chunk *chunk = outgoing->first; chunk; chunk = chunk->next)
        count++;
    return count;
}

static void begin(struct uw_send_queue *outgoing)
{
    *outgoing = (struct uw_send_queue){0};
    atomic_store(&one.outgoing_bytes, 0);
    atomic_store(&other.outgoing_bytes, 0);
    given_back = 0;
}

TEST(small_answers_to_one_stream_leave_in_one_piece)
{
    struct uw_send_queue outgoing;

    begin(&outgoing);
    uw_send_queue_append(&outgoing, chunk_of(&one, 10, 0, 0), false);
    uw_send_queue_append(&outgoing, chunk_of(&one, 20, 0, 0), false);
    CHECK_EQUAL(1, count_of(&outgoing));
    CHECK_EQUAL(30, outgoing.first->length);
    CHECK_EQUAL(30, atomic_load(&one.outgoing_bytes));
    uw_send_queue_append(&outgoing, chunk_of(&one, 5, 0, UW_CHUNK_CLOSE), false);
    CHECK_EQUAL(1, count_of(&outgoing));
    CHECK(outgoing.first->flags & UW_CHUNK_CLOSE);
    uw_send_queue_drop(&outgoing);
    CHECK_EQUAL(0, atomic_load(&one.outgoing_bytes));
}

TEST(what_must_stay_apart_does)
{
    struct uw_send_queue outgoing;

    begin(&outgoing);
    uw_send_queue_append(&outgoing, chunk_of(&one, 10, 0, 0), false);
    uw_send_queue_append(&outgoing, chunk_of(&one, 10, 0, 0), true); /* the transport reads the first */
    CHECK_EQUAL(2, count_of(&outgoing));
    uw_send_queue_append(&outgoing, chunk_of(&one, 10, 0, 0), true); /* but not the second */
    CHECK_EQUAL(2, count_of(&outgoing));
    uw_send_queue_append(&outgoing, chunk_of(&other, 10, 0, 0), true);
    CHECK_EQUAL(3, count_of(&outgoing));
    uw_send_queue_append(&outgoing, chunk_of(&other, 10, LENT_BYTES, 0), true);
    CHECK_EQUAL(4, count_of(&outgoing));
    uw_send_queue_append(&outgoing, chunk_of(&other, 10, 0, 0), true); /* behind what is lent */
    CHECK_EQUAL(5, count_of(&outgoing));
    uw_send_queue_append(&outgoing, chunk_of(&other, outgoing.last->capacity, 0, 0), true); /* no room */
    CHECK_EQUAL(6, count_of(&outgoing));
    uw_send_queue_drop(&outgoing);
    CHECK_EQUAL(1, given_back);
    CHECK_EQUAL(0, atomic_load(&one.outgoing_bytes) + atomic_load(&other.outgoing_bytes));
    CHECK(!outgoing.first && !outgoing.last);
}

/* Of 10 bytes, 7 with 20 that are lent, 4 of another stream, and 6 that close: so many at once. */
static void take_in_steps_of(size_t step)
{
    static const size_t ends[] = {10, 37, 41};
    struct uw_send_queue outgoing;
    size_t taken = 0, total = 47;

    begin(&outgoing);
    uw_send_queue_append(&outgoing, chunk_of(&one, 10, 0, 0), true);
    uw_send_queue_append(&outgoing, chunk_of(&one, 7, LENT_BYTES, 0), true);
    uw_send_queue_append(&outgoing, chunk_of(&other, 4, 0, 0), true);
    uw_send_queue_append(&outgoing, chunk_of(&one, 6, 0, UW_CHUNK_CLOSE), true);
    while (taken < total) {
        size_t count = step < total - taken ? step : total - taken;
        int whole = 0;

        uw_send_queue_take(&outgoing, count);
        taken += count;
        while (whole < 3 && ends[whole] <= taken)
            whole++;
        CHECK_EQUAL(4 - whole, count_of(&outgoing));
        CHECK_EQUAL(total - taken, atomic_load(&one.outgoing_bytes) + atomic_load(&other.outgoing_bytes));
        CHECK_EQUAL(taken >= 37, given_back);
    }
    CHECK_EQUAL(0, uw_chunk_left(outgoing.first)); /* the last before the connection closes stays */
    uw_send_queue_drop(&outgoing);
    CHECK_EQUAL(0, atomic_load(&one.outgoing_bytes));
}

TEST(any_number_of_bytes_may_have_been_sent)
{
    for (size_t step = 1; step <= 47; step++)
        take_in_steps_of(step);
}

TEST(a_chunk_of_lent_memory_goes_on_where_it_was)
{
    struct uw_send_queue outgoing;

    begin(&outgoing);
    uw_send_queue_append(&outgoing, chunk_of(&one, 7, LENT_BYTES, 0), false);
    uw_send_queue_take(&outgoing, 9);
    CHECK_EQUAL(7, outgoing.first->sent);
    CHECK_EQUAL(2, outgoing.first->rest_offset);
    CHECK_EQUAL(LENT_BYTES - 2, outgoing.first->rest_left);
    uw_send_queue_take(&outgoing, LENT_BYTES - 2);
    CHECK(!outgoing.first && !outgoing.last);
    CHECK_EQUAL(1, given_back);
}

TEST(what_is_refused_counts_no_more)
{
    begin(&(struct uw_send_queue){0});
    uw_send_queue_refuse(chunk_of(&one, 7, LENT_BYTES, 0));
    CHECK_EQUAL(0, atomic_load(&one.outgoing_bytes));
    CHECK_EQUAL(1, given_back);
}

TEST_MAIN
