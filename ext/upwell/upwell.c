/* The module Upwell, as far as it is in C. */
#include "base/after_fork.h"
#include "base/backend_choice.h"
#include "base/missing_libraries.h"
#include "base/module.h"
#include "base/object_counts.h"
#include "base/pending_interrupts.h"
#include "base/process_exceptions.h"
#include "base/processor_count.h"
#include "build_report.h"
#include "io/backend.h"
#include "loop/loop_class.h"
#include "loop/selector_class.h"
#include "loop/watch_wait.h"
#include "rack/rack_init.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_class.h"
#include "server/descriptor_methods.h"
#include "server/exit_deadline.h"
#include "server/loop_server_class.h"
#include "server/metrics_class.h"
#include "server/reactor_class.h"
#include "server/reactor_fibers.h"
#include "server/static_reactor_class.h"
#include "server/thread_raise.h"
#include "server/tls_context_class.h"

static VALUE symbol(const char *name)
{
    return ID2SYM(rb_intern(name));
}

/* Why a backend cannot be used, or nil when it can. */
static VALUE reason(const char *name, const struct uw_backend *backend)
{
    VALUE left_out = rb_hash_lookup(rb_const_get(rb_mUpwell, rb_intern("LEFT_OUT")), rb_str_new_cstr(name));
    int error;

    if (!backend)
        return NIL_P(left_out) ? rb_str_new_cstr("not compiled in") : left_out;
    error = uw_backend_probe(backend);
    return error ? rb_uw_backend_reason(backend, error) : Qnil;
}

/*
 * All backends in order of preference, each probed by this call.
 *
 * @return [Array<Hash>] name [String], compiled [Boolean], works [Boolean], reason [String, nil]
 */
static VALUE backends(VALUE self)
{
    VALUE list = rb_ary_new();

    (void)self;
    for (size_t i = 0; uw_backend_names[i]; i++) {
        const struct uw_backend *backend = uw_backend_find(uw_backend_names[i]);
        VALUE why = reason(uw_backend_names[i], backend), entry = rb_hash_new();

        rb_hash_aset(entry, symbol("name"), rb_str_new_cstr(uw_backend_names[i]));
        rb_hash_aset(entry, symbol("compiled"), backend ? Qtrue : Qfalse);
        rb_hash_aset(entry, symbol("works"), NIL_P(why) ? Qtrue : Qfalse);
        rb_hash_aset(entry, symbol("reason"), why);
        rb_ary_push(list, entry);
    }
    return list;
}

/*
 * @return [Integer] processors this process may use: affinity and the control group's CPU quota are respected
 */
static VALUE processors(VALUE self)
{
    (void)self;
    return INT2NUM(uw_processor_count());
}

static rb_uw_add_stats *const stats[] = {rb_uw_schedulers_add_stats, rb_uw_watches_add_stats, NULL};

RUBY_FUNC_EXPORTED void Init_upwell(void)
{
    rb_uw_init_module();
    rb_uw_define_build_report();
    rb_define_singleton_method(rb_mUpwell, "backends", backends, 0);
    rb_define_singleton_method(rb_mUpwell, "processors", processors, 0);

    rb_uw_init_missing_libraries();
    rb_uw_init_forks();
    rb_uw_init_process_exceptions();
    rb_uw_init_rack();
    rb_uw_init_tls_context();
    rb_uw_init_access_logging();
    rb_uw_init_metrics();
    rb_uw_init_loop_server();
    rb_uw_init_reactor();
    rb_uw_init_reactor_fibers();
    rb_uw_init_thread_raise();
    rb_uw_init_interrupts();
    rb_uw_init_scheduler();
    rb_uw_init_static_reactor();
    rb_uw_init_watches();
    rb_uw_init_loop();
    rb_uw_init_selector();
    rb_uw_init_stats(stats);
    rb_uw_init_descriptor();
    rb_uw_init_exit_deadline();
}
