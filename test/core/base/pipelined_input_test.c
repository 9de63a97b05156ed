#include "base/pipelined_input.h"

#include <stdbool.h>

#include "check.h"

static void append(struct uw_pipelined_input *pending, const char *text)
{
    CHECK_EQUAL(0, uw_pipelined_input_append(pending, text, strlen(text)));
}

static bool holds(const struct uw_pipelined_input *pending, const char *text)
{
    return pending->length == strlen(text) && !memcmp(uw_pipelined_input_bytes(pending), text, pending->length);
}

TEST(what_comes_in_at_the_end_leaves_at_the_front)
{
    struct uw_pipelined_input pending = {0};

    append(&pending, "one two");
    uw_pipelined_input_take(&pending, 4);
    append(&pending, " three");
    CHECK(holds(&pending, "two three"));
    uw_pipelined_input_take(&pending, pending.length);
    CHECK(!pending.memory && !pending.length);
}

TEST(room_at_the_front_is_used_again)
{
    struct uw_pipelined_input pending = {0};
    size_t capacity;

    append(&pending, "0123456789");
    capacity = pending.capacity;
    for (size_t i = 0; i < 10 * capacity; i++) {
        append(&pending, &"0123456789"[i % 10]);
        uw_pipelined_input_take(&pending, 10 - i % 10);
    }
    CHECK_EQUAL(10, pending.length);
    CHECK_EQUAL(capacity, pending.capacity);
    uw_pipelined_input_free(&pending);
}

TEST(what_is_given_away_begins_with_the_first_byte)
{
    struct uw_pipelined_input pending = {0};
    size_t length;
    char *bytes;

    append(&pending, "0123456789");
    uw_pipelined_input_take(&pending, 3);
    bytes = uw_pipelined_input_give(&pending, &length);
    CHECK(length == 7 && !memcmp(bytes, "3456789", 7));
    CHECK(!pending.memory && !pending.length && !pending.capacity);
    free(bytes);
}

TEST(what_is_dropped_is_forgotten)
{
    struct uw_pipelined_input pending = {0};

    append(&pending, "old");
    uw_pipelined_input_take(&pending, 1);
    uw_pipelined_input_drop(&pending);
    append(&pending, "new");
    CHECK(holds(&pending, "new"));
    uw_pipelined_input_free(&pending);
}

TEST_MAIN
