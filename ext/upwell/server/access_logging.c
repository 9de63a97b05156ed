#include "server/access_logging.h"

#include <ruby/thread.h>
#include <stdio.h>
#include <string.h>

#include "server/server_settings.h"

static ID id_fileno;

void rb_uw_init_access_logging(void)
{
    id_fileno = rb_intern("fileno");
}

void rb_uw_access_logging_mark(const struct rb_uw_access_logging *logging)
{
    rb_gc_mark_movable(logging->io);
}

void rb_uw_access_logging_compact(struct rb_uw_access_logging *logging)
{
    logging->io = rb_gc_location(logging->io);
}

void rb_uw_access_logging_free(struct rb_uw_access_logging *logging)
{
    for (size_t i = 0; i < logging->except_count; i++)
        xfree((char *)logging->except[i].bytes);
    xfree(logging->except);
}

static enum uw_access_format read_format(VALUE settings)
{
    VALUE format = rb_uw_setting(settings, "access_log_format");

    if (format == ID2SYM(rb_intern("combined")))
        return UW_ACCESS_COMBINED;
    if (format == ID2SYM(rb_intern("json")))
        return UW_ACCESS_JSON;
    if (format == ID2SYM(rb_intern("terminal")))
        return UW_ACCESS_TERMINAL;
    rb_raise(rb_eArgError, "access_log_format must be :combined, :json or :terminal, not %+" PRIsVALUE, format);
}

static struct uw_access_text copy_text(VALUE string)
{
    char *bytes;

    StringValue(string);
    bytes = xmalloc((size_t)RSTRING_LEN(string) + 1);
    memcpy(bytes, RSTRING_PTR(string), (size_t)RSTRING_LEN(string));
    return (struct uw_access_text){bytes, (size_t)RSTRING_LEN(string)};
}

/* The loop's thread reads the copies without the interpreter's lock. */
static void read_except(struct rb_uw_access_logging *logging, VALUE paths)
{
    Check_Type(paths, T_ARRAY);
    if (RARRAY_LEN(paths) == 0)
        return;
    logging->except = xcalloc((size_t)RARRAY_LEN(paths), sizeof *logging->except);
    for (long i = 0; i < RARRAY_LEN(paths); i++)
        logging->except[logging->except_count++] = copy_text(RARRAY_AREF(paths, i));
}

static void read_worker(struct rb_uw_access_logging *logging, VALUE worker)
{
    if (!NIL_P(worker))
        (void)snprintf(logging->worker, sizeof logging->worker, "%d", NUM2INT(worker));
}

void rb_uw_access_logging_read(struct rb_uw_access_logging *logging, VALUE self, VALUE settings)
{
    logging->format = read_format(settings);
    read_except(logging, rb_uw_setting(settings, "access_log_except"));
    read_worker(logging, rb_uw_setting(settings, "worker"));
    RB_OBJ_WRITE(self, &logging->io, rb_uw_setting(settings, "access_log"));
}

void rb_uw_access_logging_open(struct rb_uw_access_logging *logging, struct uw_refusal_log *errors)
{
    int error;

    if (NIL_P(logging->io))
        return;
    error = uw_access_log_open(&logging->log, NUM2INT(rb_funcall(logging->io, id_fileno, 0)), logging->format);
    if (error) {
        logging->log = NULL;
        rb_syserr_fail(-error, "cannot start the access log");
    }
    logging->errors = errors;
}

static void add(struct rb_uw_access_logging *logging, struct uw_access_record *access)
{
    int error = uw_access_log_take_error(logging->log);

    if (error)
        uw_refusal_log_trouble(logging->errors, UW_SYSTEM_ERROR_ACCESS_LOG, NULL, -error);
    access->worker = *logging->worker ? logging->worker : NULL;
    uw_access_log_add(logging->log, access);
}

/* An absolute target without a path means "/". */
static bool is_excepted(const struct rb_uw_access_logging *logging, const struct uw_request *request)
{
    struct uw_http_slice path = request->head.path;
    const char *bytes = path.length ? uw_request_text(request, path) : "/";
    size_t length = path.length ? path.length : 1;

    for (size_t i = 0; i < logging->except_count; i++)
        if (logging->except[i].length == length && memcmp(logging->except[i].bytes, bytes, length) == 0)
            return true;
    return false;
}

void rb_uw_access_logging_add(struct rb_uw_access_logging *logging, const struct uw_request *request,
                              const struct uw_access_record *record)
{
    struct uw_access_record access = *record;

    if (!is_excepted(logging, request))
        add(logging, &access);
}

void rb_uw_access_logging_add_refusal(struct rb_uw_access_logging *logging, const struct uw_access_record *refusal)
{
    struct uw_access_record access = *refusal;

    add(logging, &access);
}

static void *close_log(void *argument)
{
    struct rb_uw_access_logging *logging = argument;

    logging->lines_lost = uw_access_log_close(logging->log);
    logging->log = NULL;
    return NULL;
}

/* Other threads run during the wait for a reader. The main thread handles signals after the wait. */
static VALUE close_without_lock(VALUE argument)
{
    rb_nogvl(close_log, (struct rb_uw_access_logging *)argument, NULL, NULL, 0);
    return Qnil;
}

/* An exception may have come before. */
static VALUE close_at_all(VALUE argument)
{
    struct rb_uw_access_logging *logging = (struct rb_uw_access_logging *)argument;

    if (logging->log)
        close_log(logging);
    return Qnil;
}

void rb_uw_access_logging_close(struct rb_uw_access_logging *logging)
{
    if (logging->log)
        rb_ensure(close_without_lock, (VALUE)logging, close_at_all, (VALUE)logging);
}
