#include "scheduler/scheduler_io.h"

#include <errno.h>
#include <poll.h>
#include <ruby.h>
#include <ruby/debug.h>
#include <ruby/fiber/scheduler.h>
#include <ruby/io.h>
#include <ruby/io/buffer.h>
#include <ruby/version.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/module.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_fiber_wait.h"
#include "scheduler/scheduler_root_fiber.h"
#include "scheduler/scheduler_wait_record.h"

#define MISSES_MAX 4                  /* reads in a row that had to wait, as far as they are counted */
#define FRAMES_MAX 16                 /* of a hook and its callers */
#define OPERATION_BYTES_MAX (1 << 30) /* of one read or write; the kernel's own limit is just under 2 GiB */

_Static_assert((int)RUBY_IO_READABLE == POLLIN && (int)RUBY_IO_PRIORITY == POLLPRI && (int)RUBY_IO_WRITABLE == POLLOUT,
               "Ruby's events are those of poll");

static VALUE cBasicSocket, cIPSocket;

/* Ruby passes on the caller's object, such as a Tempfile. */
static VALUE real_io(VALUE io)
{
    return RB_TYPE_P(io, T_FILE) ? io : rb_io_get_io(io);
}

/* Returns the value of IO#timeout=; nil before Ruby 3.2. */
static VALUE io_timeout(VALUE io)
{
#if RB_UW_RUBY(3, 2)
    return rb_io_timeout(io);
#else
    (void)io;
    return Qnil;
#endif
}

static void raise_io_timeout(VALUE io)
{
#if RB_UW_RUBY(3, 2)
    rb_raise(rb_eIOTimeoutError, "%+" PRIsVALUE " was not ready within its timeout of %" PRIsVALUE " seconds", io,
             rb_io_timeout(io));
#else
    (void)io;
#endif
}

/*
 * For IO#wait, and for other calls on an IO that is not ready.
 *
 * @param io [IO]
 * @param events [Integer] of IO::READABLE, IO::PRIORITY, IO::WRITABLE
 * @param timeout [Numeric, nil] seconds; nil means io.timeout
 * @return [Integer, false] the events that occurred; false after the time-out
 * @raise [IO::TimeoutError] after io.timeout
 * @raise [IOError] when another fiber closes the IO
 */
static VALUE scheduler_io_wait(VALUE self, VALUE io, VALUE events, VALUE timeout)
{
    struct rb_uw_scheduler *scheduler = rb_uw_scheduler_use(self);
    int wanted = NUM2INT(events) & (POLLIN | POLLPRI | POLLOUT), fd;
    struct rb_uw_wait wait;
    int64_t timeout_ns;
    int32_t result;

    io = real_io(io);
    fd = rb_io_descriptor(io);
    timeout_ns = rb_uw_nanoseconds(NIL_P(timeout) ? io_timeout(io) : timeout);
    rb_uw_wait_init(&wait, scheduler);
    wait.on_io.operation.opcode = UW_POLL;
    wait.on_io.operation.fd = fd;
    wait.on_io.operation.length = (uint32_t)wanted;
    result = rb_uw_wait_operation(&wait, io, timeout_ns);
    if (result < 0 && wait.timed_out) {
        if (NIL_P(timeout))
            raise_io_timeout(io);
        return Qfalse;
    }
    if (result < 0)
        rb_syserr_fail(-result, "cannot wait for an IO");
    /* The next call on the IO finds an error or a hang-up. */
    return INT2NUM(result & wanted ? result & wanted : wanted);
}

/* One hook's transfer: from `base`, at least `least` bytes of at most `size`. */
struct transfer {
    struct rb_uw_scheduler *scheduler;
    VALUE io, buffer;
    int opcode; /* UW_READ or UW_WRITE */
    int fd;
    char *base;
    size_t size, least, done;
    int64_t from; /* of a file, or -1 */
    bool socket;
    bool pollable; /* a try has said so, now or a few reads ago: see struct uw_operation */
};

/* A send over the network wakes a waiting receiver, which costs the sender more than the send itself. So when other
 * fibers are ready, too, all sends go out in one call: most of the receivers are awake by then. */
static bool sends_with_others(const struct transfer *transfer)
{
    return transfer->socket && rb_uw_scheduler_others_ready(transfer->scheduler) &&
           uw_loop_queues(transfer->scheduler->loop) && RTEST(rb_obj_is_kind_of(transfer->io, cIPSocket));
}

static struct rb_uw_reads *reads_of(const struct transfer *transfer)
{
    return &transfer->scheduler->reads[(unsigned)transfer->fd % RB_UW_DESCRIPTOR_BUCKETS];
}

static bool read_untried(struct transfer *transfer)
{
    struct rb_uw_reads *reads = reads_of(transfer);

    if (reads->untried == 0)
        return false;
    reads->untried--;
    transfer->pollable = true;
    return true;
}

/* Whether a read of `fd` should be tried before a wait. */
static bool worth_trying(struct transfer *transfer)
{
    if (transfer->from >= 0)
        return true;
    return transfer->opcode == UW_WRITE ? !sends_with_others(transfer) : !read_untried(transfer);
}

/* After one read without data the next is still tried; after two in a row 2 are not, then 6, then 14. A conversation
 * waits for nearly every answer, while a steady stream is soon tried again. */
static void note_try(struct transfer *transfer, ssize_t result)
{
    struct rb_uw_reads *reads = reads_of(transfer);

    transfer->pollable = result == -EAGAIN;
    if (transfer->opcode != UW_READ)
        return;
    if (result != -EAGAIN)
        reads->misses = 0;
    else if (reads->misses < MISSES_MAX)
        reads->misses++;
    reads->untried = reads->misses ? (uint8_t)((1U << reads->misses) - 2) : 0;
}

static ssize_t try_socket(const struct transfer *transfer, size_t length)
{
    char *data = transfer->base + transfer->done;

    return transfer->opcode == UW_READ ? recv(transfer->fd, data, length, MSG_DONTWAIT)
                                       : uw_send_now(transfer->fd, data, length, false);
}

static ssize_t try_file(const struct transfer *transfer, size_t length)
{
    char *data = transfer->base + transfer->done;

    return transfer->opcode == UW_READ ? uw_read_now(transfer->fd, data, length, transfer->from)
                                       : uw_write_now(transfer->fd, data, length, transfer->from);
}

static ssize_t try_now(const struct transfer *transfer, size_t length)
{
    ssize_t count = transfer->socket ? try_socket(transfer, length) : try_file(transfer, length);

    return count < 0 ? -errno : count;
}

/* For read_nonblock, which has made the descriptor non-blocking: this works on terminals, too. */
static ssize_t read_now(const struct transfer *transfer, size_t length)
{
    ssize_t count = read(transfer->fd, transfer->base + transfer->done, length);

    return count < 0 ? -errno : count;
}

/* Some kinds of files do not support the attempt. */
static bool must_wait(ssize_t result)
{
    return result == -EAGAIN || result == -EOPNOTSUPP || result == -ENOSYS || result == -EINVAL || result == -ESPIPE;
}

/* Methods that share a hook with other methods, and must not wait in it. Ruby calls the same hook for IO#read_nonblock
 * as for IO#readpartial; only the calling method tells them apart. (Sockets' own read_nonblock calls no hook.) And for
 * `autoload` Ruby 3.1 treats all fibers of a thread as one: while one waited for the file, the others would not find
 * the constant. */
static const char *const never_waiting[] = {
    "read_nonblock",
#if RUBY_API_VERSION_CODE < 30200
    "require",       "gem_original_require", "require_relative", "load",
#endif
};

static bool same_name(VALUE method, const char *name)
{
    return (size_t)RSTRING_LEN(method) == strlen(name) && memcmp(RSTRING_PTR(method), name, strlen(name)) == 0;
}

static bool never_waits(VALUE method)
{
    for (size_t i = 0; i < sizeof never_waiting / sizeof *never_waiting; i++) {
        if (same_name(method, never_waiting[i]))
            return true;
    }
    return false;
}

/* Returns the method that made Ruby call this hook, or Qundef. A subclass may have its own hook, which calls `super`.
 */
static VALUE asking_method(void)
{
    VALUE frames[FRAMES_MAX], asking = Qundef;
    int count = rb_profile_frames(0, FRAMES_MAX, frames, NULL);
    bool above_hook = true;

    for (int i = 0; i < count; i++) {
        VALUE method = rb_profile_frame_method_name(frames[i]);
        bool is_hook = RB_TYPE_P(method, T_STRING) && same_name(method, "io_read");

        if (above_hook && !is_hook)
            asking = method;
        above_hook = is_hook;
    }
    return asking;
}

static bool asked_by_one_that_never_waits(void)
{
    VALUE method = asking_method();

    return RB_TYPE_P(method, T_STRING) && never_waits(method);
}

static bool must_not_wait(const struct transfer *transfer)
{
    return transfer->opcode == UW_READ && transfer->least == 0 && !transfer->socket && asked_by_one_that_never_waits();
}

static ssize_t wait_for(struct transfer *transfer, size_t length)
{
    VALUE timeout = io_timeout(transfer->io);
    int64_t timeout_ns = rb_uw_nanoseconds(timeout);
    struct rb_uw_wait wait;
    int32_t result;

    rb_uw_wait_init(&wait, transfer->scheduler);
    wait.on_io.operation.opcode = (uint8_t)transfer->opcode;
    wait.on_io.operation.fd = transfer->fd;
    wait.on_io.operation.data = transfer->base + transfer->done;
    wait.on_io.operation.length = (uint32_t)length;
    wait.on_io.operation.offset = transfer->from;
    wait.on_io.operation.socket = transfer->socket;
    wait.on_io.operation.pollable = transfer->pollable;
    result = rb_uw_wait_operation(&wait, transfer->io, timeout_ns);
    transfer->socket = wait.on_io.operation.socket; /* or not any more: it may have been reopened */
    if (result < 0 && wait.timed_out)
        raise_io_timeout(transfer->io);
    return result;
}

static ssize_t transfer_some(struct transfer *transfer)
{
    size_t left = transfer->size - transfer->done, length = left < OPERATION_BYTES_MAX ? left : OPERATION_BYTES_MAX;

    if (worth_trying(transfer)) {
        ssize_t count = try_now(transfer, length);

        note_try(transfer, count);
        if (!must_wait(count))
            return count;
    }
    if (must_not_wait(transfer))
        return read_now(transfer, length);
    return wait_for(transfer, length);
}

static VALUE transfer_all(VALUE argument)
{
    struct transfer *transfer = (struct transfer *)argument;
    ssize_t count = 0;

    while (transfer->size > transfer->done) {
        count = transfer_some(transfer);
        if (count <= 0)
            break;
        transfer->done += (size_t)count;
        if (transfer->from >= 0)
            transfer->from += count;
        if (transfer->done >= transfer->least)
            break;
    }
    RB_GC_GUARD(transfer->buffer);
    return transfer->done || count == 0 ? SIZET2NUM(transfer->done) : LL2NUM(count);
}

static VALUE unlock(VALUE argument)
{
    rb_io_buffer_unlock(((struct transfer *)argument)->buffer);
    return Qnil;
}

/* The part of the buffer from `offset` on. */
static void take_buffer(struct transfer *transfer, size_t offset)
{
    size_t size;
    void *base;

    if (transfer->opcode == UW_READ)
        rb_io_buffer_get_bytes_for_writing(transfer->buffer, &base, &size);
    else
        rb_io_buffer_get_bytes_for_reading(transfer->buffer, (const void **)&base, &size);
    if (offset > size || transfer->least > size - offset)
        rb_raise(rb_eArgError, "the buffer has %zu bytes, too few for %zu bytes at offset %zu", size, transfer->least,
                 offset);
    transfer->base = (char *)base + offset;
    transfer->size = size - offset;
}

/* The buffer must not move while the kernel uses it; Ruby's own buffer is locked already. */
static VALUE run_transfer(struct transfer *transfer, size_t offset)
{
    void *base;
    size_t size;

    transfer->fd = rb_io_descriptor(transfer->io);
    transfer->socket = RTEST(rb_obj_is_kind_of(transfer->io, cBasicSocket)) && transfer->from < 0;
    take_buffer(transfer, offset);
    if (rb_io_buffer_get_bytes(transfer->buffer, &base, &size) & RB_IO_BUFFER_LOCKED)
        return transfer_all((VALUE)transfer);
    rb_io_buffer_lock(transfer->buffer);
    return rb_ensure(transfer_all, (VALUE)transfer, unlock, (VALUE)transfer);
}

/* io, buffer, length, and since Ruby 3.2 offset */
static VALUE stream(VALUE self, int opcode, int argc, const VALUE *argv)
{
    struct transfer transfer = {.scheduler = rb_uw_scheduler_use(self), .opcode = opcode, .from = -1};

    rb_check_arity(argc, 3, 4);
    transfer.io = real_io(argv[0]);
    transfer.buffer = argv[1];
    transfer.least = NUM2SIZET(argv[2]);
    return run_transfer(&transfer, argc > 3 ? NUM2SIZET(argv[3]) : 0);
}

/* io, buffer, length, from in Ruby 3.1; io, buffer, from, length, offset since */
static VALUE positioned(VALUE self, int opcode, int argc, const VALUE *argv)
{
    struct transfer transfer = {.scheduler = rb_uw_scheduler_use(self), .opcode = opcode};

    rb_check_arity(argc, 4, 5);
    transfer.io = real_io(argv[0]);
    transfer.buffer = argv[1];
    transfer.from = NUM2LL(argv[argc == 4 ? 3 : 2]);
    transfer.least = NUM2SIZET(argv[argc == 4 ? 2 : 3]);
    if (transfer.from < 0)
        return LL2NUM(-EINVAL);
    return run_transfer(&transfer, argc > 4 ? NUM2SIZET(argv[4]) : 0);
}

/*
 * For IO#read and IO::Buffer#read: fills the buffer with at least `length` bytes; with 0, by one read.
 *
 * @param io [IO]
 * @param buffer [IO::Buffer]
 * @param length [Integer] bytes
 * @param offset [Integer] in the buffer; since Ruby 3.2
 * @return [Integer] bytes read, fewer than `length` only at the end of the file; or a negative error number
 * @raise [IO::TimeoutError] after io.timeout
 * @raise [IOError] when another fiber closes the IO
 */
static VALUE scheduler_io_read(int argc, VALUE *argv, VALUE self)
{
    return stream(self, UW_READ, argc, argv);
}

/*
 * For IO#write and IO::Buffer#write: writes at least `length` bytes of the buffer; with 0, by one write.
 *
 * @param io [IO]
 * @param buffer [IO::Buffer]
 * @param length [Integer] bytes
 * @param offset [Integer] in the buffer
 * @return [Integer] bytes written, or a negative error number
 * @raise [IO::TimeoutError] after io.timeout
 * @raise [IOError] when another fiber closes the IO
 */
static VALUE scheduler_io_write(int argc, VALUE *argv, VALUE self)
{
    return stream(self, UW_WRITE, argc, argv);
}

/*
 * For IO#pread and IO::Buffer#pread: as #io_read, from an offset in a file.
 *
 * @param io [IO]
 * @param buffer [IO::Buffer]
 * @param from [Integer] in the file; in Ruby 3.1 the last of four arguments
 * @param length [Integer] bytes
 * @param offset [Integer] in the buffer
 * @return [Integer] bytes read, or a negative error number
 */
static VALUE scheduler_io_pread(int argc, VALUE *argv, VALUE self)
{
    return positioned(self, UW_READ, argc, argv);
}

/*
 * For IO#pwrite and IO::Buffer#pwrite: as #io_write, at an offset in a file.
 *
 * @param io [IO]
 * @param buffer [IO::Buffer]
 * @param from [Integer] in the file
 * @param length [Integer] bytes
 * @param offset [Integer] in the buffer
 * @return [Integer] bytes written, or a negative error number
 */
static VALUE scheduler_io_pwrite(int argc, VALUE *argv, VALUE self)
{
    return positioned(self, UW_WRITE, argc, argv);
}

/* From 3.2 to 3.3.0, Ruby may fail with an internal error when a scheduler writes the empty string of a `puts`. */
static bool ruby_writes_well(void)
{
    VALUE version = rb_const_get(rb_cObject, rb_intern("RUBY_VERSION"));

    return !RB_UW_RUBY(3, 2) || (RB_UW_RUBY(3, 3) && strcmp(StringValueCStr(version), "3.3.0") != 0);
}

/* Version 4 of the interface, in Ruby 4.1, swaps offset and length, and length becomes a maximum. Without these hooks,
 * Ruby reads and writes itself and calls io_wait. */
static bool transfers_are_asked_for(void)
{
#ifdef RUBY_FIBER_SCHEDULER_VERSION
    return RUBY_FIBER_SCHEDULER_VERSION < 4;
#else
    return true;
#endif
}

void rb_uw_init_scheduler_io(void)
{
    cBasicSocket = rb_path2class("BasicSocket");
    cIPSocket = rb_path2class("IPSocket");
    rb_define_method(rb_uw_cScheduler, "io_wait", scheduler_io_wait, 3);
    if (!transfers_are_asked_for())
        return;
    rb_define_method(rb_uw_cScheduler, "io_read", scheduler_io_read, -1);
    rb_define_method(rb_uw_cScheduler, "io_pread", scheduler_io_pread, -1);
    if (ruby_writes_well())
        rb_define_method(rb_uw_cScheduler, "io_write", scheduler_io_write, -1);
#if RB_UW_RUBY(4, 0)
    /* Ruby 3.1 passes a wrong offset, and until 3.4 IO#pwrite calls the hook without the interpreter's lock. */
    rb_define_method(rb_uw_cScheduler, "io_pwrite", scheduler_io_pwrite, -1);
#else
    (void)scheduler_io_pwrite;
#endif
}
