#include "scheduler/scheduler_select.h"

#include "base/unwinding.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_closed_io.h"
#include "scheduler/scheduler_fiber_wait.h"
#include "scheduler/scheduler_timeouts.h"
#include "scheduler/scheduler_wait_record.h"

#if RB_UW_RUBY(3, 2)

#include <errno.h>
#include <poll.h>
#include <ruby/io.h>

#include "base/module.h"

#define LISTS 3

static const short list_events[LISTS] = {POLLIN, POLLOUT, POLLPRI};
static const short list_results[LISTS] = {POLLIN | POLLHUP | POLLERR, POLLOUT | POLLHUP | POLLERR, POLLPRI};

struct item {
    struct rb_uw_io_operation on_io;
    struct rb_uw_wait *wait;
    int list;
};

struct select {
    struct rb_uw_scheduler *scheduler;
    VALUE lists[LISTS];    /* copies of the caller's Arrays, which others may change meanwhile; or nil */
    struct pollfd *polled; /* for each IO of the first list, then of the second ... */
    struct item *items;
    long count;
    bool buffered; /* an IO has buffered data, and is ready whatever the kernel says */
    int64_t timeout_ns;
    struct rb_uw_wait wait;
};

static long list_length(VALUE list)
{
    return NIL_P(list) ? 0 : RARRAY_LEN(list);
}

static VALUE copy_list(VALUE list)
{
    if (NIL_P(list))
        return Qnil;
    Check_Type(list, T_ARRAY);
    return rb_ary_dup(list);
}

static bool reads_ahead(VALUE io)
{
    rb_io_t *open_file;

    GetOpenFile(io, open_file);
    return rb_io_read_pending(open_file);
}

static void completed(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct rb_uw_wait *wait = uw_container_of(operation, struct item, on_io.operation)->wait;

    (void)loop;
    if (result == -EOPNOTSUPP) /* this system does not report urgent data: the wait is in vain, as with select(2) */
        return;
    if (!wait->over)
        wait->result = result;
    rb_uw_wait_end(wait);
}

/* The descriptor and the buffer may have changed since the last check. */
static void look_at(struct select *select, long place)
{
    const struct item *item = &select->items[place];
    VALUE io = item->on_io.io;

    select->polled[place] = (struct pollfd){.fd = rb_io_descriptor(io), .events = list_events[item->list]};
    if (item->list == 0 && reads_ahead(io)) {
        select->polled[place].events = 0;
        select->polled[place].revents = POLLIN;
        select->buffered = true;
    }
}

static void fill(struct select *select, int list, long place, VALUE object)
{
    struct item *item = &select->items[place];
    VALUE io = rb_io_get_io(object);

    item->on_io.io = list == 1 ? rb_io_get_write_io(io) : io;
    item->wait = &select->wait;
    item->list = list;
    look_at(select, place);
}

static void fill_all(struct select *select)
{
    long place = 0;

    for (int list = 0; list < LISTS; list++)
        for (long i = 0; i < list_length(select->lists[list]) && place < select->count; i++)
            fill(select, list, place++, RARRAY_AREF(select->lists[list], i));
    select->count = place;
}

/* Whether anything is ready. */
static bool poll_all(struct select *select)
{
    bool ready = select->buffered;

    for (long i = 0; i < select->count; i++) {
        struct pollfd *item = &select->polled[i];
        int found = item->events ? poll(item, 1, 0) : 1;

        if (found < 0 && errno != EINTR)
            rb_sys_fail("poll");
        if (found > 0 && item->revents & POLLNVAL)
            rb_syserr_fail(EBADF, "IO.select");
        ready = ready || found > 0;
    }
    return ready;
}

static VALUE results(const struct select *select)
{
    VALUE found = rb_ary_new_capa(LISTS);
    long place = 0;

    for (int list = 0; list < LISTS; list++) {
        VALUE ready = rb_ary_new();

        for (long i = 0; i < list_length(select->lists[list]) && place < select->count; i++)
            if (select->polled[place++].revents & list_results[list])
                rb_ary_push(ready, RARRAY_AREF(select->lists[list], i));
        rb_ary_push(found, ready);
    }
    return found;
}

static void prepare(const struct select *select, long place)
{
    struct rb_uw_io_operation *on_io = &select->items[place].on_io;
    struct uw_operation *operation = &on_io->operation;
    VALUE io = on_io->io;

    rb_uw_io_operation_init(on_io, completed);
    on_io->io = io;
    operation->opcode = UW_POLL;
    operation->fd = select->polled[place].fd;
    operation->length = (uint32_t)select->polled[place].events;
    rb_uw_check_open(operation);
}

static VALUE wait_for_first(VALUE argument)
{
    struct select *select = (struct select *)argument;

    select->scheduler->selected += (size_t)select->count;
    for (long i = 0; i < select->count; i++)
        rb_uw_io_operation_begin(&select->items[i].on_io, select->scheduler, select->items[i].on_io.io);
    rb_uw_wait(&select->wait, select->timeout_ns);
    return Qnil;
}

static VALUE await_end(VALUE argument)
{
    struct item *item = (struct item *)argument;

    rb_uw_wait_cancel(item->wait, &item->on_io.operation);
    return Qnil;
}

static int await_all(struct select *select, VALUE *error)
{
    int state = 0;

    for (long i = 0; i < select->count; i++) {
        int raised;

        rb_protect(await_end, (VALUE)&select->items[i], &raised);
        if (raised) {
            state = raised;
            *error = rb_errinfo();
        }
    }
    return state;
}

/* The other operations are no longer needed. But the kernel may use their memory until all have ended, whatever is
 * raised meanwhile. */
static VALUE cancel_rest(VALUE argument)
{
    struct select *select = (struct select *)argument;
    VALUE error = Qnil;
    int state;

    if (rb_uw_wait_is_void(&select->wait))
        return Qnil;
    select->scheduler->selected -= (size_t)select->count;
    for (long i = 0; i < select->count; i++)
        uw_cancel(select->scheduler->loop, &select->items[i].on_io.operation);
    state = await_all(select, &error);
    for (long i = 0; i < select->count && !rb_uw_wait_is_void(&select->wait); i++)
        rb_uw_io_operation_end(&select->items[i].on_io);
    if (state)
        rb_uw_unwind(state, error);
    return Qnil;
}

/* A closed IO's descriptor may belong to another file by now. */
static void check_all(struct select *select)
{
    for (long i = 0; i < select->count; i++) {
        rb_uw_io_operation_check(&select->items[i].on_io);
        look_at(select, i);
    }
}

/* -ECANCELED also reports that an IO was reopened. */
static void check_result(const struct rb_uw_wait *wait)
{
    if (wait->result < 0 && wait->result != -ECANCELED)
        rb_syserr_fail(-wait->result, "IO.select");
}

static void wait_for_any(struct select *select)
{
    rb_uw_raise_due_timeout(select->scheduler);
    for (long i = 0; i < select->count; i++)
        prepare(select, i);
    rb_uw_wait_init(&select->wait, select->scheduler);
    rb_ensure(wait_for_first, (VALUE)select, cancel_rest, (VALUE)select);
    check_all(select);
    check_result(&select->wait);
    select->timeout_ns = rb_uw_wait_left(&select->wait, select->timeout_ns);
}

/* Another reader may have taken the data that ended the wait, and a reopened IO is another file. */
static VALUE run_select(struct select *select)
{
    fill_all(select);
    while (!poll_all(select) && select->timeout_ns > 0)
        wait_for_any(select);
    for (long i = 0; i < select->count; i++)
        if (select->polled[i].revents)
            return results(select);
    return Qnil;
}

/*
 * For IO.select.
 *
 * @param readables [Array<IO>, nil]
 * @param writables [Array<IO>, nil]
 * @param exceptables [Array<IO>, nil]
 * @param timeout [Numeric, nil] seconds
 * @return [Array(Array<IO>, Array<IO>, Array<IO>), nil] the ready IOs; nil after the time-out
 * @raise [IOError] when one of them is closed meanwhile
 */
static VALUE scheduler_io_select(int argc, VALUE *argv, VALUE self)
{
    struct select select = {.scheduler = rb_uw_scheduler_use(self)};
    VALUE polled, items, found;

    rb_check_arity(argc, 1, 4);
    for (int list = 0; list < LISTS; list++) {
        select.lists[list] = list < argc ? copy_list(argv[list]) : Qnil;
        select.count += list_length(select.lists[list]);
    }
    select.timeout_ns = rb_uw_nanoseconds(argc > 3 ? argv[3] : Qnil);
    select.polled = ALLOCV_N(struct pollfd, polled, (size_t)select.count + 1);
    select.items = ALLOCV_N(struct item, items, (size_t)select.count + 1);
    found = run_select(&select);
    for (int list = 0; list < LISTS; list++)
        RB_GC_GUARD(select.lists[list]);
    ALLOCV_END(polled);
    ALLOCV_END(items);
    return found;
}

void rb_uw_init_scheduler_select(void)
{
    rb_define_method(rb_uw_cScheduler, "io_select", scheduler_io_select, -1);
}

#else

void rb_uw_init_scheduler_select(void)
{
}

#endif
