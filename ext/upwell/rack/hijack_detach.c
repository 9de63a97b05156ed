#include "rack/hijack_detach.h"

#include <ruby/io.h>

#include "base/unwinding.h"
#include "io/shutdown_and_close.h"
#include "scheduler/scheduler_wait_record.h"

static ID id_for_fd, id_handle_interrupt, id_is_closed, id_ungetbyte, id_client;

void rb_uw_init_detach(void)
{
    rb_require("socket");
    id_for_fd = rb_intern("for_fd");
    id_handle_interrupt = rb_intern("handle_interrupt");
    id_is_closed = rb_intern("closed?");
    id_ungetbyte = rb_intern("ungetbyte");
    id_client = rb_intern("@client");
}

static void detached(struct uw_detached *detached)
{
    struct rb_uw_detachment *detachment = uw_container_of(detached, struct rb_uw_detachment, detached);
    struct rb_uw_rack_context *rack_context = detachment->rack_context;

    if (detachment->wait)
        rb_uw_wait_end(detachment->wait); /* on this thread, like the loop */
    pthread_mutex_lock(&rack_context->lock);
    detachment->done = true;
    pthread_cond_broadcast(&rack_context->changed);
    pthread_mutex_unlock(&rack_context->lock);
}

static VALUE socket_class(const struct uw_request *request, int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;

    if (uw_request_peer(request)) /* one end of a pair */
        return rb_path2class("Upwell::TLS::HijackedSocket");
    if (getsockname(fd, (struct sockaddr *)&address, &size) == 0 && address.ss_family == AF_UNIX)
        return rb_path2class("UNIXSocket");
    return rb_path2class("TCPSocket");
}

static VALUE ruby_socket(const struct uw_request *request, int fd)
{
    rb_update_max_fd(fd);
    return rb_funcall(socket_class(request, fd), id_for_fd, 1, INT2NUM(fd));
}

static VALUE client_of(const struct uw_request *request)
{
    return rb_assoc_new(rb_str_new_cstr(uw_request_remote(request)), INT2NUM(uw_request_remote_port(request)));
}

struct making {
    struct rb_uw_detachment *detachment;
    VALUE io; /* the IO, once it exists: then it owns the descriptor */
};

static VALUE make_io(RB_BLOCK_CALL_FUNC_ARGLIST(unused, argument))
{
    struct making *making = (struct making *)argument;
    struct uw_detached *detached = &making->detachment->detached;
    const struct uw_request *request = making->detachment->request;
    VALUE sent_ahead = rb_str_new(detached->bytes, (long)detached->length);

    (void)unused, (void)argc, (void)argv, (void)blockarg;
    making->io = ruby_socket(request, detached->fd);
    detached->fd = -1;
    if (uw_request_peer(request))
        rb_ivar_set(making->io, id_client, client_of(request));
    if (RSTRING_LEN(sent_ahead))
        rb_funcall(making->io, id_ungetbyte, 1, sent_ahead);
    return Qnil;
}

/* An exception from another thread could arrive between the creation of the socket and its ownership. So such
 * exceptions are raised afterwards. */
static VALUE make_io_uninterrupted(VALUE making)
{
    VALUE mask = rb_hash_new();

    rb_hash_aset(mask, rb_cObject, ID2SYM(rb_intern("never")));
    return rb_block_call(rb_cThread, id_handle_interrupt, 1, &mask, make_io, making);
}

/* Detaches the connection from the server, and waits until that is done. */
static void detach(struct rb_uw_detachment *detachment)
{
    rb_uw_refuse_copy(detachment->rack_context);
    rb_uw_rack_context_calls(detachment->rack_context)->detach(detachment);
}

/* The wait is not interruptible while the loop refers to this stack; it ends soon, see UW_DETACH_LOOKS. A trap handler
 * may have forked meanwhile. */
static VALUE take_out(VALUE argument)
{
    struct making *making = (struct making *)argument;

    detach(making->detachment);
    if (making->detachment->detached.fd >= 0)
        make_io_uninterrupted(argument);
    rb_uw_refuse_copy(making->detachment->rack_context);
    return making->io;
}

/* close alone would not end the connection when a child process has the descriptor, too. An exception of close must not
 * replace the current unwinding. */
static VALUE shut_down_and_close(VALUE io)
{
    if (RTEST(rb_funcall(io, id_is_closed, 0)))
        return Qnil;
    (void)shutdown(rb_io_descriptor(io), SHUT_RDWR); /* fails when the client has gone */
    return rb_io_close(io);
}

void rb_uw_detached_close(const struct rb_uw_rack_context *rack_context, VALUE io)
{
    int ignored;

    rb_protect(rb_uw_rack_context_is_copy(rack_context) ? rb_io_close : shut_down_and_close, io, &ignored);
}

/* In a forked child the connection belongs to the parent. */
static void close_unowned(const struct making *making)
{
    const struct rb_uw_rack_context *rack_context = making->detachment->rack_context;
    int fd = making->detachment->detached.fd;

    if (fd >= 0 && rb_uw_rack_context_is_copy(rack_context))
        close(fd);
    else if (fd >= 0)
        uw_shutdown_and_close(fd);
    if (!NIL_P(making->io))
        rb_uw_detached_close(rack_context, making->io);
}

void rb_uw_refuse_hijack(void)
{
    rb_raise(rb_eIOError, "the connection cannot be hijacked: the client disconnected, or has not read the "
                          "responses to its earlier requests");
}

/* An exception raised during the handover would leave the connection without an owner. */
VALUE rb_uw_detach(struct rb_uw_delivery *delivery, struct uw_chunk *head)
{
    struct rb_uw_detachment detachment = {
        .detached = {.done = detached, .head = head, .fd = -1},
        .rack_context = delivery->rack_context,
        .request = delivery->core,
    };
    struct making making = {&detachment, Qnil};
    int state;

    delivery->head_sent = head != NULL; /* no other output may precede it */
    rb_protect(take_out, (VALUE)&making, &state);
    free(detachment.detached.bytes);
    if (detachment.detached.head) {
        uw_chunk_free(detachment.detached.head);
        delivery->head_sent = false;
    }
    if (state) {
        VALUE error = rb_errinfo();

        close_unowned(&making);
        rb_uw_unwind(state, error);
    }
    return making.io;
}
