#include "server/request_queue.h"

#include <unistd.h>

#include "check.h"
#include "server/request.h"

struct house {
    struct uw_queue queue;
    struct uw_worker one, other;
    struct uw_request requests[3];
};

/* Two workers, of whom each is known to compute if it is `told`; the other one waits. */
static void open_house(struct house *house, bool told)
{
    memset(house, 0, sizeof *house);
    CHECK_EQUAL(0, uw_queue_init(&house->queue));
    CHECK_EQUAL(0, uw_queue_join(&house->queue, &house->one));
    CHECK_EQUAL(0, uw_queue_join(&house->queue, &house->other));
    if (told)
        uw_worker_computes(&house->one);
    if (told)
        uw_worker_computes(&house->other);
    CHECK(!uw_queue_take(&house->queue, &house->other));
}

static void close_house(struct house *house)
{
    uw_queue_retire(&house->queue, &house->one);
    uw_queue_retire(&house->queue, &house->other);
    CHECK_EQUAL(0, atomic_load(&house->queue.computing));
    uw_queue_free(&house->queue);
}

static struct uw_request *take(struct house *house, struct uw_worker *worker)
{
    return uw_queue_take(&house->queue, worker);
}

/* One has the first request. */
static void give_one(struct house *house)
{
    uw_queue_push(&house->queue, &house->requests[0]);
    CHECK(take(house, &house->one) == &house->requests[0]);
    CHECK(!take(house, &house->other));
    CHECK(!house->other.called);
}

/* However long this machine takes from here on. */
static void has_only_begun(struct uw_worker *worker)
{
    atomic_store(&worker->began_ns, INT64_MAX);
}

TEST(requests_leave_in_the_order_in_which_they_came)
{
    struct house house;

    open_house(&house, false);
    for (int i = 0; i < 3; i++)
        uw_queue_push(&house.queue, &house.requests[i]);
    for (int i = 0; i < 3; i++)
        CHECK(take(&house, &house.one) == &house.requests[i]);
    CHECK(!take(&house, &house.one));
    close_house(&house);
}

TEST(nobody_is_called_while_somebody_computes)
{
    struct house house;

    open_house(&house, true);
    give_one(&house);
    has_only_begun(&house.one);
    uw_queue_push(&house.queue, &house.requests[1]);
    CHECK(!house.other.called);
    CHECK(!take(&house, &house.other));
    CHECK(take(&house, &house.one) == &house.requests[1]);
    close_house(&house);
}

TEST(of_whom_nothing_is_known_nobody_relies_on)
{
    struct house house;

    open_house(&house, false);
    give_one(&house);
    uw_queue_push(&house.queue, &house.requests[1]);
    CHECK(house.other.called);
    CHECK(take(&house, &house.other) == &house.requests[1]);
    close_house(&house);
}

TEST(another_is_called_while_one_waits)
{
    struct house house;

    open_house(&house, true);
    give_one(&house);
    uw_worker_leaves(&house.one);
    uw_queue_push(&house.queue, &house.requests[1]);
    CHECK(house.other.called);
    CHECK(take(&house, &house.other) == &house.requests[1]);
    uw_worker_computes(&house.one);
    close_house(&house);
}

TEST(another_is_called_while_one_computes_for_long)
{
    struct house house;

    open_house(&house, true);
    give_one(&house);
    usleep(2 * UW_SOON_NS / UW_NS_PER_US);
    uw_queue_push(&house.queue, &house.requests[1]);
    CHECK(house.other.called);
    close_house(&house);
}

TEST(who_waited_for_long_will_do_so_in_its_next_request)
{
    struct house house;

    open_house(&house, true);
    give_one(&house);
    uw_worker_leaves(&house.one);
    usleep(2 * UW_WAIT_NS / UW_NS_PER_US);
    uw_worker_computes(&house.one);
    CHECK(!take(&house, &house.one));
    uw_queue_push(&house.queue, &house.requests[1]);
    CHECK(take(&house, &house.one) == &house.requests[1]);
    CHECK(!house.other.called);
    uw_queue_push(&house.queue, &house.requests[2]);
    CHECK(house.other.called);
    CHECK(take(&house, &house.other) == &house.requests[2]);
    has_only_begun(&house.other);
    CHECK(!take(&house, &house.one)); /* it has done without */
    uw_queue_push(&house.queue, &house.requests[0]);
    CHECK(!house.one.called);
    close_house(&house);
}

TEST(who_waited_while_others_computed_is_relied_on)
{
    struct house house;

    open_house(&house, true);
    give_one(&house);
    has_only_begun(&house.one);
    uw_worker_leaves(&house.one);
    uw_queue_push(&house.queue, &house.requests[1]);
    CHECK(take(&house, &house.other) == &house.requests[1]);
    usleep(2 * UW_WAIT_NS / UW_NS_PER_US);
    uw_worker_computes(&house.one);
    uw_queue_push(&house.queue, &house.requests[2]);
    CHECK(!take(&house, &house.other));
    CHECK(take(&house, &house.one) == &house.requests[2]);
    close_house(&house);
}

static void *wait_and_take(void *argument)
{
    struct house *house = argument;

    uw_queue_wait(&house->queue, &house->other);
    return take(house, &house->other);
}

static struct uw_request *joined(pthread_t thread)
{
    void *request;

    CHECK_EQUAL(0, pthread_join(thread, &request));
    return request;
}

/* Nothing comes that could tell it. */
TEST(who_waits_sees_that_nobody_computes_any_more)
{
    struct house house;
    pthread_t thread;

    open_house(&house, true);
    give_one(&house);
    uw_queue_push(&house.queue, &house.requests[1]);
    CHECK_EQUAL(0, pthread_create(&thread, NULL, wait_and_take, &house));
    usleep(2 * UW_LOOK_NS / UW_NS_PER_US);
    uw_worker_leaves(&house.one);
    CHECK(joined(thread) == &house.requests[1]);
    uw_worker_computes(&house.one);
    close_house(&house);
}

TEST(who_waits_goes_on_when_it_is_interrupted_or_the_queue_closed)
{
    struct house house;
    pthread_t thread;

    open_house(&house, true);
    CHECK_EQUAL(0, pthread_create(&thread, NULL, wait_and_take, &house));
    uw_queue_interrupt(&house.queue, &house.other);
    CHECK(!joined(thread));
    CHECK_EQUAL(0, pthread_create(&thread, NULL, wait_and_take, &house));
    uw_queue_close(&house.queue);
    CHECK(!joined(thread));
    close_house(&house);
}

TEST(whoever_retires_hands_on_the_call)
{
    struct house house;
    pthread_t thread;

    open_house(&house, true);
    CHECK(!take(&house, &house.one));
    uw_queue_push(&house.queue, &house.requests[0]);
    CHECK(house.one.called && !house.other.called); /* the last to come */
    CHECK_EQUAL(0, pthread_create(&thread, NULL, wait_and_take, &house));
    uw_queue_retire(&house.queue, &house.one);
    CHECK(joined(thread) == &house.requests[0]);
    CHECK_EQUAL(0, uw_queue_join(&house.queue, &house.one));
    close_house(&house);
}

TEST_MAIN
