#include "base/slab.h"

#include "check.h"

#define COUNT 2000
#define OBJECT_BYTES 100

static struct uw_slab slab;
static unsigned char *objects[COUNT];

/* Each object is filled with its number, so that two which overlap show. */
static void take(int i)
{
    objects[i] = uw_slab_alloc(&slab);
    CHECK(objects[i] && (size_t)objects[i] % UW_SLAB_ALIGNMENT == 0);
    memset(objects[i], i % 251, OBJECT_BYTES);
}

static void give(int i)
{
    CHECK(objects[i][0] == i % 251 && objects[i][OBJECT_BYTES - 1] == i % 251);
    uw_slab_free(&slab, objects[i]);
    objects[i] = NULL;
}

TEST(objects_are_distinct_and_memory_goes_back)
{
    uw_slab_init(&slab, OBJECT_BYTES);
    for (int i = 0; i < COUNT; i++)
        take(i);
    CHECK_EQUAL(COUNT, slab.taken);
    CHECK_EQUAL((COUNT + slab.block_objects - 1) / slab.block_objects, slab.blocks);
    for (int i = 0; i < COUNT; i++)
        give(i * 7 % COUNT);
    CHECK_EQUAL(0, slab.taken);
    CHECK_EQUAL(UW_SLAB_SPARES_MAX, slab.blocks);
    uw_slab_destroy(&slab);
}

TEST(taking_and_giving_at_random)
{
    size_t taken = 0;

    uw_slab_init(&slab, OBJECT_BYTES);
    memset(objects, 0, sizeof objects);
    srand(1);
    for (int step = 0; step < 100000; step++) {
        int i = rand() % COUNT;

        if (objects[i]) {
            give(i);
            taken--;
        } else {
            take(i);
            taken++;
        }
        CHECK_EQUAL(taken, slab.taken);
    }
    for (int i = 0; i < COUNT; i++)
        if (objects[i])
            give(i);
    CHECK_EQUAL(UW_SLAB_SPARES_MAX, slab.blocks);
    uw_slab_destroy(&slab);
}

TEST(a_freed_object_is_taken_again)
{
    void *first;

    uw_slab_init(&slab, 5000);
    first = uw_slab_alloc(&slab);
    uw_slab_free(&slab, first);
    CHECK(uw_slab_alloc(&slab) == first);
    uw_slab_destroy(&slab);
}

TEST(no_allocation_for_bursts)
{
    int burst;

    uw_slab_init(&slab, OBJECT_BYTES);
    burst = UW_SLAB_SPARES_MAX * (int)slab.block_objects;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < burst; i++)
            take(i);
        CHECK_EQUAL(UW_SLAB_SPARES_MAX, slab.blocks);
        CHECK_EQUAL(0, slab.spares);
        for (int i = 0; i < burst; i++)
            give(i);
        CHECK_EQUAL(UW_SLAB_SPARES_MAX, slab.blocks);
        CHECK_EQUAL(UW_SLAB_SPARES_MAX, slab.spares);
    }
    uw_slab_destroy(&slab);
}

TEST(no_allocation_at_a_boundary)
{
    uw_slab_init(&slab, OBJECT_BYTES);
    for (int i = 0; i <= UW_SLAB_BLOCK_OBJECTS; i++)
        take(i);
    for (int i = 0; i < 10; i++) {
        give(UW_SLAB_BLOCK_OBJECTS);
        CHECK_EQUAL(2, slab.blocks);
        take(UW_SLAB_BLOCK_OBJECTS);
        CHECK_EQUAL(2, slab.blocks);
    }
    uw_slab_destroy(&slab);
}

TEST(a_block_is_no_larger_than_its_objects)
{
    unsigned char *held[UW_SLAB_BLOCK_OBJECTS];

    uw_slab_init(&slab, 2048);
    CHECK_EQUAL(UW_SLAB_BLOCK_OBJECTS * 2048, slab.block_bytes);
    for (int i = 0; i < UW_SLAB_BLOCK_OBJECTS; i++) {
        held[i] = uw_slab_alloc(&slab);
        memset(held[i], i, 2048);
        CHECK_EQUAL(i < UW_SLAB_BLOCK_OBJECTS - 1 ? 1 : 2, slab.blocks); /* one has the header's place */
    }
    for (int i = 0; i < UW_SLAB_BLOCK_OBJECTS; i++) {
        CHECK(held[i][0] == i && held[i][2047] == i);
        uw_slab_free(&slab, held[i]);
    }
    CHECK_EQUAL(2, slab.spares);
    uw_slab_destroy(&slab);
}

TEST(objects_of_every_size)
{
    static const size_t sizes[] = {1, 16, 17, 1000, 4096, 65536};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *first, *second;

        uw_slab_init(&slab, sizes[i]);
        first = uw_slab_alloc(&slab);
        second = uw_slab_alloc(&slab);
        CHECK(first && second && (size_t)(second - first) >= sizes[i]);
        memset(first, 1, sizes[i]);
        memset(second, 2, sizes[i]);
        CHECK(first[sizes[i] - 1] == 1);
        uw_slab_destroy(&slab);
        CHECK_EQUAL(0, slab.blocks);
    }
}

TEST_MAIN
