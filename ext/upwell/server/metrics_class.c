#include "server/metrics_class.h"

#include <ruby/thread.h>

#include "base/after_fork.h"
#include "base/module.h"
#include "control/control_server.h"

struct metrics {
    struct uw_metrics *core; /* NULL: not initialized */
    struct uw_control_server control;
    VALUE socket; /* of `control` */
    bool serving; /* `control` has a thread, in the process that was forked so often: */
    unsigned forks;
};

static VALUE cMetrics;

static void metrics_mark(void *data)
{
    rb_gc_mark(((struct metrics *)data)->socket);
}

/* A thread that still serves uses the memory until the process exits. */
static void metrics_free(void *data)
{
    struct metrics *metrics = data;

    if (metrics->serving && !rb_uw_forked_since(metrics->forks))
        return;
    if (metrics->core)
        uw_metrics_free(metrics->core);
    xfree(metrics);
}

static size_t metrics_memsize(const void *data)
{
    (void)data;
    return sizeof(struct metrics);
}

static const rb_data_type_t metrics_type = {
    .wrap_struct_name = "Upwell::Metrics",
    .function = {.dmark = metrics_mark, .dfree = metrics_free, .dsize = metrics_memsize},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static struct metrics *get(VALUE self)
{
    struct metrics *metrics;

    TypedData_Get_Struct(self, struct metrics, &metrics_type, metrics);
    return metrics;
}

struct uw_metrics *rb_uw_metrics(VALUE self)
{
    struct metrics *metrics = get(self);

    if (!metrics->core)
        rb_raise(rb_eUpwellError, "these metrics are not initialized: a subclass must call super in initialize");
    return metrics->core;
}

static VALUE metrics_allocate(VALUE class)
{
    struct metrics *metrics;
    VALUE self = TypedData_Make_Struct(class, struct metrics, &metrics_type, metrics);

    metrics->socket = Qnil;
    return self;
}

static int add_info(VALUE name, VALUE value, VALUE metrics)
{
    if (!uw_metrics_add_info((struct uw_metrics *)metrics, StringValueCStr(name), StringValueCStr(value)))
        rb_raise(rb_eArgError, "the labels of upwell_info are too long");
    return ST_CONTINUE;
}

/*
 * Processes that are forked later share the metrics.
 *
 * @param workers [Integer] number of worker processes; 0: one process without a supervisor
 * @param info [Hash{String => String}] labels of the metric upwell_info
 * @raise [ArgumentError] for too many workers or too long labels
 * @raise [NoMemoryError]
 */
static VALUE metrics_initialize(VALUE self, VALUE workers, VALUE info)
{
    struct metrics *metrics = get(self);
    unsigned count = NUM2UINT(workers);

    Check_Type(info, T_HASH);
    if (metrics->core)
        rb_raise(rb_eUpwellError, "these metrics are already initialized; create new ones");
    if (count > UW_METRICS_WORKERS_MAX)
        rb_raise(rb_eArgError, "metrics have at most %d workers, not %u", UW_METRICS_WORKERS_MAX, count);
    metrics->core = uw_metrics_new(count);
    if (!metrics->core)
        rb_memerror();
    rb_hash_foreach(info, add_info, (VALUE)metrics->core);
    return self;
}

/*
 * Answers GET /metrics on a thread without Ruby's lock. The socket is not closed.
 *
 * @param socket [TCPServer, Socket] a listening socket
 * @return [self]
 * @raise [SystemCallError] when the thread cannot start
 * @raise [Upwell::Error] when it serves already
 */
static VALUE metrics_serve(VALUE self, VALUE socket)
{
    struct uw_metrics *core = rb_uw_metrics(self);
    struct metrics *metrics = get(self);
    int fd = NUM2INT(rb_funcall(socket, rb_intern("fileno"), 0)), error;

    if (metrics->serving)
        rb_raise(rb_eUpwellError, "these metrics are served already");
    error = uw_control_server_start(&metrics->control, core, fd);
    if (error)
        rb_syserr_fail(-error, "cannot serve the metrics");
    metrics->socket = socket;
    metrics->forks = rb_uw_forks_now();
    metrics->serving = true;
    return self;
}

static void *stop_control(void *control)
{
    uw_control_server_stop(control);
    return NULL;
}

/*
 * Ends the thread. Does nothing in a forked process, which has no such thread.
 *
 * @return [nil]
 */
static VALUE metrics_stop(VALUE self)
{
    struct metrics *metrics = get(self);

    if (!metrics->serving || rb_uw_forked_since(metrics->forks))
        return Qnil;
    metrics->serving = false;
    rb_nogvl(stop_control, &metrics->control, NULL, NULL, 0);
    metrics->socket = Qnil;
    return Qnil;
}

static unsigned read_label(enum uw_metric_label_id label, VALUE value)
{
    int index = uw_metric_label_index(label, StringValueCStr(value));

    if (index < 0)
        rb_raise(rb_eArgError, "the metric has no label value %" PRIsVALUE, value);
    return (unsigned)index;
}

/*
 * Counts the end or the replacement of a worker process. In the supervisor.
 *
 * @param worker [Integer] its number
 * @param reason [String] a value of the label reason
 * @return [nil]
 * @raise [ArgumentError] for another worker or reason
 */
static VALUE metrics_count_restart(VALUE self, VALUE worker, VALUE reason)
{
    struct uw_metrics *core = rb_uw_metrics(self);
    unsigned number = NUM2UINT(worker), index = read_label(UW_LABEL_RESTART, reason);

    if (number >= core->workers)
        rb_raise(rb_eArgError, "these metrics have no worker %u", number);
    uw_metrics_add(uw_metrics_of_supervisor(core, number), UW_METRIC_WORKER_RESTARTS_FIRST + index, 1);
    return Qnil;
}

/*
 * Sets the number of workers in a state. In the supervisor.
 *
 * @param state [String] a value of the label state
 * @param count [Integer]
 * @return [nil]
 * @raise [ArgumentError] for another state
 */
static VALUE metrics_set_workers(VALUE self, VALUE state, VALUE count)
{
    struct uw_metrics *core = rb_uw_metrics(self);

    uw_metrics_set(uw_metrics_of_supervisor(core, 0),
                   UW_METRIC_WORKERS_FIRST + read_label(UW_LABEL_WORKER_STATE, state), NUM2UINT(count));
    return Qnil;
}

static VALUE describe(const struct uw_metric *metric)
{
    static const char *const types[] = {"counter", "gauge", "histogram", "info"};
    VALUE labels = rb_ary_new();

    if (metric->scope != UW_METRIC_SERVER)
        rb_ary_push(labels, rb_str_new_cstr("worker"));
    for (int i = 0; i < 2; i++)
        if (*metric->labels[i]->name)
            rb_ary_push(labels, rb_str_new_cstr(metric->labels[i]->name));
    return rb_ary_new_from_args(4, rb_str_new_cstr(metric->name), rb_str_new_cstr(types[metric->type]), labels,
                                rb_str_new_cstr(metric->help));
}

/*
 * @return [Array<Array(String, String, Array<String>, String)>] of each metric its name, type, labels and help
 */
static VALUE metrics_table(VALUE class)
{
    VALUE table = rb_ary_new();

    (void)class;
    for (unsigned i = 0; i < uw_metrics_count; i++)
        rb_ary_push(table, describe(&uw_metrics[i]));
    return table;
}

void rb_uw_init_metrics(void)
{
    /* Document-class: Upwell::Metrics
     * Metrics of a server's processes, in memory that they share, and the thread that answers them. */
    cMetrics = rb_define_class_under(rb_mUpwell, "Metrics", rb_cObject);
    rb_define_alloc_func(cMetrics, metrics_allocate);
    rb_define_singleton_method(cMetrics, "table", metrics_table, 0);
    rb_define_method(cMetrics, "initialize", metrics_initialize, 2);
    rb_define_method(cMetrics, "serve", metrics_serve, 1);
    rb_define_method(cMetrics, "stop", metrics_stop, 0);
    rb_define_method(cMetrics, "count_restart", metrics_count_restart, 2);
    rb_define_method(cMetrics, "set_workers", metrics_set_workers, 2);
}
