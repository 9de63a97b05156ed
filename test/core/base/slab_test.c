#include "base/slab.h"

#include "check.h"

#define COUNT 1000

TEST(objects_are_distinct_and_memory_goes_back)
{
    static unsigned char *objects[COUNT];
    struct uw_slab slab;

    uw_slab_init(&slab, 100);
    for (int i = 0; i < COUNT; i++) {
        objects[i] = uw_slab_take(&slab);
        CHECK(objects[i] && (size_t)objects[i] % UW_SLAB_ALIGNMENT == 0);
        memset(objects[i], i & 0xff, 100);
    }
    CHECK_EQUAL(COUNT, slab.taken);
    for (int i = 0; i < COUNT; i++)
        CHECK(objects[i][0] == (i & 0xff) && objects[i][99] == (i & 0xff));
    for (int i = 0; i < COUNT; i++)
        uw_slab_give(&slab, objects[(i * 7) % COUNT]);
    CHECK_EQUAL(0, slab.taken);
    CHECK_EQUAL(1, slab.blocks);
    uw_slab_free(&slab);
}

TEST(a_freed_object_is_taken_again)
{
    struct uw_slab slab;
    void *first;

    uw_slab_init(&slab, 5000);
    first = uw_slab_take(&slab);
    uw_slab_give(&slab, first);
    CHECK(uw_slab_take(&slab) == first);
    uw_slab_free(&slab);
}

TEST_MAIN
