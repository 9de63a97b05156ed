#include "server/tls_context_class.h"

#include <string.h>

#include "base/module.h"
#include "server/server_settings.h"

struct tls_context {
    struct uw_tls_context *core; /* NULL until initialized */
};

static VALUE cTLSContext, eCertificateError;

static void context_free(void *data)
{
    struct tls_context *context = data;

    uw_tls_context_release(context->core);
    xfree(context);
}

static size_t context_memsize(const void *data)
{
    (void)data;
    return sizeof(struct tls_context);
}

static const rb_data_type_t context_type = {
    .wrap_struct_name = "Upwell::TLSContext",
    .function = {.dfree = context_free, .dsize = context_memsize},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

struct uw_tls_context *rb_uw_tls_context(VALUE self)
{
    struct tls_context *context;

    if (NIL_P(self))
        return NULL;
    TypedData_Get_Struct(self, struct tls_context, &context_type, context);
    if (!context->core)
        rb_raise(rb_eUpwellError, "this TLS context is not initialized: a subclass must call super in initialize");
    return context->core;
}

static VALUE context_allocate(VALUE class)
{
    struct tls_context *context;

    return TypedData_Make_Struct(class, struct tls_context, &context_type, context);
}

/* Strings on the stack, where the collector neither frees nor moves them. */
struct paths {
    VALUE ca, certificates[UW_TLS_CERTIFICATES_MAX][3]; /* of the certificate, its key, and its OCSP response */
    long count;
};

static VALUE string_or_nil(VALUE path)
{
    if (!NIL_P(path))
        StringValueCStr(path); /* raises when it is no path */
    return path;
}

static void read_paths(struct paths *paths, VALUE settings)
{
    VALUE lists = rb_convert_type(rb_uw_setting(settings, "certificates"), T_ARRAY, "Array", "to_ary");

    paths->count = RARRAY_LEN(lists);
    if (paths->count < 1 || paths->count > UW_TLS_CERTIFICATES_MAX)
        rb_raise(rb_eArgError, "an address takes 1 to %d certificates, not %ld; remove some", UW_TLS_CERTIFICATES_MAX,
                 paths->count);
    for (long i = 0; i < paths->count; i++) {
        VALUE list = rb_ary_entry(lists, i);

        Check_Type(list, T_ARRAY);
        for (long j = 0; j < 3; j++)
            paths->certificates[i][j] = string_or_nil(rb_ary_entry(list, j));
    }
    paths->ca = string_or_nil(rb_uw_setting(settings, "ca"));
}

static const char *bytes_of(VALUE path)
{
    return NIL_P(path) ? NULL : RSTRING_PTR(path);
}

static void fill_certificates(struct uw_tls_certificate *certificates, const struct paths *paths)
{
    for (long i = 0; i < paths->count; i++)
        certificates[i] = (struct uw_tls_certificate){
            .certificate_path = bytes_of(paths->certificates[i][0]),
            .key_path = bytes_of(paths->certificates[i][1]),
            .ocsp_path = bytes_of(paths->certificates[i][2]),
        };
}

static enum uw_tls_clients read_clients(VALUE word)
{
    static const char *const words[] = {
        [UW_TLS_CLIENTS_UNASKED] = "unasked",
        [UW_TLS_CLIENTS_OPTIONAL] = "optional",
        [UW_TLS_CLIENTS_REQUIRED] = "required",
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word == ID2SYM(rb_intern(words[i])))
            return (enum uw_tls_clients)i;
    rb_raise(rb_eArgError, "clients must be :unasked, :optional or :required, not %+" PRIsVALUE, word);
}

static void read_secret(struct uw_tls_settings *core, VALUE settings)
{
    VALUE secret = rb_uw_setting(settings, "ticket_secret");

    StringValue(secret);
    core->ticket_secret_since = NUM2LL(rb_uw_setting(settings, "ticket_secret_since"));
    if (RSTRING_LEN(secret) != sizeof core->ticket_secret)
        rb_raise(rb_eArgError, "ticket_secret must have %d bytes, not %ld", UW_TLS_TICKET_SECRET_BYTES,
                 RSTRING_LEN(secret));
    memcpy(core->ticket_secret, RSTRING_PTR(secret), sizeof core->ticket_secret);
}

NORETURN(static void refuse(int error, const char *message));

static void refuse(int error, const char *message)
{
    VALUE exception = rb_exc_new_str(eCertificateError, rb_utf8_str_new_cstr(message));

    rb_ivar_set(exception, rb_intern("@errno"), INT2NUM(-error));
    rb_exc_raise(exception);
}

/*
 * Reads the files. The context does not change later: renewed files need a new context.
 *
 * @param settings [Hash{Symbol => Object}] certificates (Array of [path, path of the key or nil, path of the OCSP
 *   response or nil]), ca (String or nil), clients (:unasked, :optional or :required), ticket_secret (String of 32
 *   bytes), ticket_secret_since (Integer, Unix seconds): the secret's creation time
 * @raise [KeyError] when one is missing
 * @raise [ArgumentError, TypeError] when one is wrong
 * @raise [Upwell::CertificateError] for an invalid file; the message names the file and the fault
 */
static VALUE context_initialize(VALUE self, VALUE settings)
{
    struct tls_context *context;
    struct paths paths;
    struct uw_tls_certificate certificates[UW_TLS_CERTIFICATES_MAX];
    struct uw_tls_settings core = {.certificates = certificates};
    char message[UW_TLS_MESSAGE_BYTES_MAX] = "";
    int error;

    TypedData_Get_Struct(self, struct tls_context, &context_type, context);
    if (context->core)
        rb_raise(rb_eUpwellError, "this TLS context is already initialized; create a new one");
    Check_Type(settings, T_HASH);
    read_paths(&paths, settings);
    core.clients = read_clients(rb_uw_setting(settings, "clients"));
    read_secret(&core, settings);
    fill_certificates(certificates, &paths);
    core.certificate_count = (size_t)paths.count;
    core.ca_path = bytes_of(paths.ca);
    error = uw_tls_context_new(&context->core, &core, message);
    explicit_bzero(core.ticket_secret, sizeof core.ticket_secret);
    RB_GC_GUARD(paths.ca);
    if (error)
        refuse(error, message);
    rb_ivar_set(self, rb_intern("@warning"), message[0] ? rb_utf8_str_new_cstr(message) : Qnil);
    return self;
}

/*
 * The warning about the files, if any.
 *
 * @return [String, nil] a sentence about an OCSP response that is not valid now; nil: all is well
 */
static VALUE context_warning(VALUE self)
{
    return rb_ivar_get(self, rb_intern("@warning"));
}

/*
 * The kind of the error.
 *
 * @return [Integer] see Errno
 */
static VALUE error_errno(VALUE self)
{
    return rb_ivar_get(self, rb_intern("@errno"));
}

void rb_uw_init_tls_context(void)
{
    /* Document-class: Upwell::TLSContext
     * The certificates, keys and trusted CAs of a listening socket. */
    cTLSContext = rb_define_class_under(rb_mUpwell, "TLSContext", rb_cObject);
    /* Document-class: Upwell::CertificateError
     * A certificate, a key or a related file is invalid or unavailable, or OpenSSL is missing. `errno` shows the kind
     * of error: ENOSYS, EKEYEXPIRED, EBADMSG (the file contains something else), ENODATA (an OCSP response does not say
     * that the certificate is good), EINVAL (the files do not match), or the reason why a file cannot be read. */
    eCertificateError = rb_define_class_under(rb_mUpwell, "CertificateError", rb_eUpwellError);
    rb_define_method(eCertificateError, "errno", error_errno, 0);
    rb_define_alloc_func(cTLSContext, context_allocate);
    rb_define_method(cTLSContext, "initialize", context_initialize, 1);
    rb_define_method(cTLSContext, "warning", context_warning, 0);
}
