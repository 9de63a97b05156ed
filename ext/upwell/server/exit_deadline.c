/* A thread outside Ruby waits for the deadline. A C extension may keep the interpreter's lock until then, so that
 * neither a trap handler nor a thread of Ruby's can run. Nothing here takes that lock once the thread has started. */
#include "server/exit_deadline.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/after_fork.h"
#include "base/clock.h"
#include "base/module.h"
#include "base/system.h"
#include "base/thread.h"
#include "io/loop.h"
#include "log/server_line.h"

#define LOG_PATIENCE_MS 100 /* for a log pipe that is not being read */
#define STATUS 1            /* of the process */
#define SIGNALS_MAX 65      /* signal numbers are below */

struct text {
    char bytes[UW_LOG_LINE_BYTES_MAX / 2]; /* without time, process and newline */
};

/* The process has one deadline. */
static struct {
    bool started;
    unsigned forks; /* when it was started */
    enum uw_log_form form;
    struct uw_wakeup wakeup;
    pthread_mutex_t lock; /* for the members below, up to the atomic one */
    int64_t deadline_ns;
    struct text text;
    int64_t allowed_ns; /* from a watched signal to the end */
    struct text watched_text;
    _Atomic(int64_t) signalled_ns; /* when the first watched signal came; 0: none has */
    struct sigaction before[SIGNALS_MAX];
} guard = {.wakeup = {-1, -1}, .lock = PTHREAD_MUTEX_INITIALIZER, .deadline_ns = UW_FOREVER};

static void write_line(const char *text)
{
    char line[UW_LOG_LINE_BYTES_MAX];
    struct pollfd log = {.fd = STDERR_FILENO, .events = POLLOUT};
    size_t length = uw_server_line(line, guard.form, time(NULL), text);

    if (poll(&log, 1, LOG_PATIENCE_MS) <= 0)
        return;
    if (write(STDERR_FILENO, line, length) < 0)
        return; /* no other report is possible */
}

static void end_process(void)
{
    write_line(guard.text.bytes);
    _exit(STATUS);
}

/* Sets the deadline for a watched signal that Ruby has not handled yet. The caller holds the lock. */
static void heed_signal(void)
{
    int64_t signalled_ns = atomic_load(&guard.signalled_ns);

    if (!signalled_ns || guard.deadline_ns != UW_FOREVER || guard.allowed_ns <= 0)
        return;
    guard.deadline_ns = signalled_ns + guard.allowed_ns;
    guard.text = guard.watched_text;
}

static int wait_ms(void)
{
    int64_t left_ns = guard.deadline_ns - uw_clock_ns();

    if (guard.deadline_ns == UW_FOREVER)
        return -1;
    if (left_ns <= 0)
        return 0;
    return left_ns / UW_NS_PER_MS >= INT32_MAX ? INT32_MAX : (int)(left_ns / UW_NS_PER_MS) + 1;
}

static void *await_deadline(void *unused)
{
    struct pollfd polled = {.fd = guard.wakeup.fd, .events = POLLIN};
    int milliseconds;

    for (;;) {
        pthread_mutex_lock(&guard.lock);
        heed_signal();
        milliseconds = wait_ms();
        if (milliseconds == 0)
            end_process();
        pthread_mutex_unlock(&guard.lock);
        if (poll(&polled, 1, milliseconds) > 0)
            uw_wakeup_clear(&guard.wakeup);
    }
    return unused;
}

/* A child process has a copy without the thread. Its descriptors may be other files' by now: they are not closed. */
static void start(void)
{
    pthread_t thread;
    int error;

    if (guard.started && !rb_uw_forked_since(guard.forks))
        return;
    if (!guard.started)
        uw_wakeup_close(&guard.wakeup); /* of an attempt that failed */
    pthread_mutex_init(&guard.lock, NULL);
    guard.deadline_ns = UW_FOREVER;
    guard.allowed_ns = 0;
    atomic_store(&guard.signalled_ns, 0);
    error = uw_wakeup_open(&guard.wakeup);
    if (!error)
        error = uw_thread_start(&thread, await_deadline, NULL);
    if (error)
        rb_syserr_fail(-error, "cannot start the thread that ends the process at --drain-timeout; "
                               "raise the limits (ulimit -u, ulimit -n) or free memory");
    pthread_detach(thread);
    guard.forks = rb_uw_forks_now();
    guard.started = true;
}

static void copy_text(struct text *text, VALUE string)
{
    snprintf(text->bytes, sizeof text->bytes, "%.*s", (int)RSTRING_LEN(string), RSTRING_PTR(string));
}

static int64_t nanoseconds(VALUE seconds)
{
    double ns = NUM2DBL(seconds) * (double)UW_NS_PER_SECOND;

    return ns < (double)(UW_FOREVER / 2) ? (int64_t)ns : UW_FOREVER / 2;
}

/*
 * Starts the thread that waits for deadlines, so that later calls need not start it.
 *
 * @param json [Boolean] whether the line in the log is a JSON object
 * @return [nil]
 * @raise [SystemCallError] when no thread can be started, or descriptors have run out
 */
static VALUE exit_deadline_prepare(VALUE self, VALUE json)
{
    (void)self;
    guard.form = RTEST(json) ? UW_LOG_JSON : UW_LOG_TEXT; /* before the thread reads it */
    start();
    return Qnil;
}

/*
 * Sets the deadline after which the process exits with status 1 and a line in the log. Replaces an earlier deadline.
 *
 * @param seconds [Numeric]
 * @param text [String] of one line
 * @return [nil]
 * @raise [SystemCallError] when no thread can be started, or descriptors have run out
 */
static VALUE exit_deadline_set(VALUE self, VALUE seconds, VALUE text)
{
    int64_t deadline_ns = uw_clock_ns() + nanoseconds(seconds);

    (void)self;
    StringValue(text);
    start();
    pthread_mutex_lock(&guard.lock);
    guard.deadline_ns = deadline_ns;
    copy_text(&guard.text, text);
    pthread_mutex_unlock(&guard.lock);
    uw_wakeup_tell(&guard.wakeup);
    return Qnil;
}

/*
 * Removes the deadline.
 *
 * @return [nil]
 */
static VALUE exit_deadline_clear(VALUE self)
{
    (void)self;
    if (!guard.started || rb_uw_forked_since(guard.forks))
        return Qnil;
    pthread_mutex_lock(&guard.lock);
    guard.deadline_ns = UW_FOREVER;
    guard.allowed_ns = 0;
    atomic_store(&guard.signalled_ns, 0);
    pthread_mutex_unlock(&guard.lock);
    return Qnil;
}

/* Watching signals */

static void note(int signal, siginfo_t *info, void *context)
{
    const struct sigaction *before = &guard.before[signal];
    int64_t never = 0;

    /* In a child process the descriptor may be another file's by now. */
    if (!rb_uw_forked_since(guard.forks) && atomic_compare_exchange_strong(&guard.signalled_ns, &never, uw_clock_ns()))
        uw_wakeup_tell(&guard.wakeup);
    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(signal, info, context);
    else if (before->sa_handler != SIG_IGN && before->sa_handler != SIG_DFL)
        before->sa_handler(signal);
}

/* Installs a handler in front of Ruby's own; a later Signal.trap puts Ruby's handler back. */
static void watch(int signal)
{
    struct sigaction action, *before;

    if (signal <= 0 || signal >= SIGNALS_MAX)
        rb_raise(rb_eArgError, "%d is not a signal number", signal);
    before = &guard.before[signal];
    if (sigaction(signal, NULL, &action))
        rb_sys_fail_str(rb_sprintf("cannot handle signal %d", signal));
    if ((action.sa_flags & SA_SIGINFO) && action.sa_sigaction == note)
        return;
    *before = action;
    action.sa_sigaction = note;
    action.sa_flags |= SA_SIGINFO;
    if (sigaction(signal, &action, NULL))
        rb_sys_fail_str(rb_sprintf("cannot handle signal %d", signal));
}

/*
 * The process exits the given time after the first of these signals, unless the program sets another deadline by then.
 * For trapped signals, whose handlers Ruby calls only once it has its lock.
 *
 * @param signals [Array<Integer>]
 * @param seconds [Numeric]
 * @param text [String] of one line
 * @return [nil]
 * @raise [SystemCallError] when no thread can be started, or descriptors have run out
 */
static VALUE exit_deadline_watch(VALUE self, VALUE signals, VALUE seconds, VALUE text)
{
    int64_t allowed_ns = nanoseconds(seconds);

    (void)self;
    StringValue(text);
    Check_Type(signals, T_ARRAY);
    start();
    pthread_mutex_lock(&guard.lock);
    guard.allowed_ns = allowed_ns;
    copy_text(&guard.watched_text, text);
    pthread_mutex_unlock(&guard.lock);
    for (long i = 0; i < RARRAY_LEN(signals); i++)
        watch(NUM2INT(rb_ary_entry(signals, i)));
    return Qnil;
}

void rb_uw_init_exit_deadline(void)
{
    /* Document-module: Upwell::ExitDeadline
     * Ends the process by a deadline, even while a C extension keeps Ruby's lock. */
    VALUE mExitDeadline = rb_define_module_under(rb_mUpwell, "ExitDeadline");

    rb_define_singleton_method(mExitDeadline, "prepare", exit_deadline_prepare, 1);
    rb_define_singleton_method(mExitDeadline, "set", exit_deadline_set, 2);
    rb_define_singleton_method(mExitDeadline, "clear", exit_deadline_clear, 0);
    rb_define_singleton_method(mExitDeadline, "watch", exit_deadline_watch, 3);
}
