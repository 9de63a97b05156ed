#include "rack/rack_env.h"

#include <ruby/encoding.h>
#include <string.h>
#include <strings.h>

#include "base/module.h"
#include "base/system.h"
#include "composition/upgrade_kinds.h"
#include "rack/early_hints_class.h"
#include "rack/hijack_class.h"
#include "rack/input_class.h"
#include "rack/rack_protocol.h"
#include "rack/tls_env.h"

#define NAME_BYTES_MAX 256 /* of a header name that is remembered */
#define NAMES_MAX 512      /* cached names beyond those of http/known_fields.h; a power of two */
#define HTTP_PORT "80"

/* The keys used here, as frozen strings that are looked up without being copied. */
#define KEYS(KEY) \
    KEY(request_method, "REQUEST_METHOD") \
    KEY(script_name, "SCRIPT_NAME") \
    KEY(path_info, "PATH_INFO") \
    KEY(query_string, "QUERY_STRING") \
    KEY(server_name, "SERVER_NAME") \
    KEY(server_port, "SERVER_PORT") \
    KEY(server_protocol, "SERVER_PROTOCOL") \
    KEY(server_software, "SERVER_SOFTWARE") \
    KEY(remote_addr, "REMOTE_ADDR") \
    KEY(remote_port, "REMOTE_PORT") \
    KEY(request_uri, "REQUEST_URI") \
    KEY(http_host, "HTTP_HOST") \
    KEY(http_x_request_id, "HTTP_X_REQUEST_ID") \
    KEY(request_id, "upwell.request_id") \
    KEY(content_length, "CONTENT_LENGTH") \
    KEY(url_scheme, "rack.url_scheme") \
    KEY(input, "rack.input") \
    KEY(errors, "rack.errors") \
    KEY(hijack_p, "rack.hijack?") \
    KEY(hijack, "rack.hijack") \
    KEY(upgrade_p, "rack.upgrade?") \
    KEY(protocol, "rack.protocol") \
    KEY(early_hints, "rack.early_hints") \
    KEY(response_finished, "rack.response_finished") \
    KEY(version, "rack.version") \
    KEY(multithread, "rack.multithread") \
    KEY(multiprocess, "rack.multiprocess") \
    KEY(run_once, "rack.run_once") \
    KEY(http_1_0, "HTTP/1.0") \
    KEY(http_1_1, "HTTP/1.1") \
    KEY(http, "http") \
    KEY(empty, "") \
    KEY(slash, "/") \
    KEY(port_80, HTTP_PORT)

static struct {
#define KEY_MEMBER(name, text) VALUE name;
    KEYS(KEY_MEMBER)
#undef KEY_MEMBER
} key;

static VALUE field_keys[UW_FIELD_COUNT]; /* "HTTP_ACCEPT" for Accept, and so on */

static VALUE methods[] = {
    [UW_METHOD_OTHER] = 0,   [UW_METHOD_GET] = 0,    [UW_METHOD_HEAD] = 0,  [UW_METHOD_POST] = 0,
    [UW_METHOD_PUT] = 0,     [UW_METHOD_DELETE] = 0, [UW_METHOD_PATCH] = 0, [UW_METHOD_OPTIONS] = 0,
    [UW_METHOD_CONNECT] = 0, [UW_METHOD_TRACE] = 0,
};

static const char *const method_names[] = {NULL,     "GET",   "HEAD",    "POST",    "PUT",
                                           "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE"};

/* A cache of header names that are not in http/known_fields.h, by a hash of their bytes. A name without an entry is
 * built each time. */
static struct {
    uint16_t length;
    char bytes[NAME_BYTES_MAX];
    VALUE key;
} names[NAMES_MAX];

/* "Accept-Language" becomes "HTTP_ACCEPT_LANGUAGE". */
static size_t cgi_name(const char *name, size_t length, char *cgi)
{
    static const char prefix[] = "HTTP_";
    enum uw_http_field field = uw_http_field_find(name, length);
    bool bare = field == UW_FIELD_CONTENT_TYPE || field == UW_FIELD_CONTENT_LENGTH;
    size_t start = bare ? 0 : sizeof prefix - 1;

    memcpy(cgi, prefix, start);
    for (size_t i = 0; i < length; i++) {
        char c = name[i];

        cgi[start + i] = c == '-' ? '_' : c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    return start + length;
}

static VALUE interned(const char *text, size_t length)
{
    VALUE string = rb_interned_str(text, (long)length);

    rb_gc_register_mark_object(string);
    return string;
}

static void init_field_keys(void)
{
    for (int field = 1; field < UW_FIELD_COUNT; field++) {
        const char *name = uw_http_field_name((enum uw_http_field)field);
        char cgi[NAME_BYTES_MAX + 8];

        field_keys[field] = interned(cgi, cgi_name(name, strlen(name), cgi));
    }
}

void rb_uw_init_env(void)
{
#define KEY_INIT(name, text) key.name = interned(text, sizeof text - 1);
    KEYS(KEY_INIT)
#undef KEY_INIT
    init_field_keys();
    rb_uw_init_tls_env();
    for (size_t i = 1; i < sizeof methods / sizeof *methods; i++)
        methods[i] = interned(method_names[i], strlen(method_names[i]));
}

static VALUE server_software(void)
{
    return rb_str_freeze(rb_sprintf("Upwell/%" PRIsVALUE, rb_const_get(rb_mUpwell, rb_intern("VERSION"))));
}

/* The template has the entries of every request, so that a duplicate need not grow for them. Host and client are the
 * last request's: most requests name the same host and come from the same proxy. */
VALUE rb_uw_env_template(bool rack_2, bool logged, VALUE input)
{
    VALUE template = rb_hash_new();

    rb_hash_aset(template, key.request_method, methods[UW_METHOD_GET]);
    rb_hash_aset(template, key.path_info, key.slash);
    rb_hash_aset(template, key.query_string, key.empty);
    rb_hash_aset(template, key.script_name, key.empty);
    rb_hash_aset(template, key.server_name, key.empty);
    rb_hash_aset(template, key.server_port, key.port_80);
    rb_hash_aset(template, key.server_protocol, key.http_1_1);
    rb_hash_aset(template, key.server_software, server_software());
    rb_hash_aset(template, key.http_host, key.empty);
    rb_hash_aset(template, key.remote_addr, key.empty);
    rb_hash_aset(template, key.remote_port, key.empty);
    rb_hash_aset(template, key.request_uri, key.empty);
    rb_hash_aset(template, key.hijack, Qnil);
    rb_hash_aset(template, key.early_hints, Qnil);
    rb_hash_aset(template, key.response_finished, Qnil);
    rb_hash_aset(template, key.url_scheme, key.http);
    rb_hash_aset(template, key.input, input);
    rb_hash_aset(template, key.errors, rb_stderr);
    rb_hash_aset(template, key.hijack_p, Qtrue);
    rb_hash_aset(template, key.upgrade_p, Qnil);
    if (logged) {
        rb_hash_aset(template, key.http_x_request_id, Qnil);
        rb_hash_aset(template, key.request_id, Qnil);
    }
    if (rack_2) {
        rb_hash_aset(template, key.version, rb_ary_new_from_args(2, INT2FIX(1), INT2FIX(3)));
        rb_hash_aset(template, key.multithread, Qtrue);
        rb_hash_aset(template, key.multiprocess, Qtrue);
        rb_hash_aset(template, key.run_once, Qfalse);
    }
    return template;
}

static VALUE text(const char *bytes, struct uw_http_slice slice)
{
    return rb_str_new(bytes + slice.offset, slice.length);
}

static uint32_t hash_of(const char *bytes, size_t length)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
    return hash;
}

/* Returns the key of a header name outside the table of http/known_fields.h. */
static VALUE other_key(const char *name, size_t length)
{
    uint32_t slot = hash_of(name, length) % NAMES_MAX;
    char cgi[NAME_BYTES_MAX + 8];

    if (length > NAME_BYTES_MAX) {
        VALUE buffer, result;
        char *long_cgi = ALLOCV_N(char, buffer, length + 8);

        result = rb_str_new(long_cgi, (long)cgi_name(name, length, long_cgi));
        ALLOCV_END(buffer);
        return result;
    }
    if (names[slot].length == length && memcmp(names[slot].bytes, name, length) == 0)
        return names[slot].key;
    if (names[slot].length)
        return rb_str_new(cgi, (long)cgi_name(name, length, cgi));
    names[slot].key = interned(cgi, cgi_name(name, length, cgi));
    names[slot].length = (uint16_t)length;
    memcpy(names[slot].bytes, name, length);
    return names[slot].key;
}

VALUE rb_uw_env_key(const char *bytes, const struct uw_http_header *header)
{
    if (header->field != UW_FIELD_OTHER)
        return field_keys[header->field];
    return other_key(bytes + header->name.offset, header->name.length);
}

/* A repeated field is one list (RFC 9110, section 5.3), cookies are separated as they are within one field. */
static void join(VALUE list, const char *bytes, size_t length, bool cookie)
{
    rb_str_cat(list, cookie ? "; " : ", ", 2);
    rb_str_cat(list, bytes, (long)length);
}

static bool has_underscore(const char *bytes, const struct uw_http_header *header)
{
    return header->field == UW_FIELD_OTHER && memchr(bytes + header->name.offset, '_', header->name.length) != NULL;
}

static bool is_cookie(const char *bytes, const struct uw_http_header *header)
{
    return header->name.length == 6 && strncasecmp(bytes + header->name.offset, "Cookie", 6) == 0;
}

static void add_header(VALUE env, const char *bytes, const struct uw_http_header *header)
{
    VALUE name = rb_uw_env_key(bytes, header), old = rb_hash_lookup2(env, name, Qundef);

    if (old == Qundef)
        rb_hash_aset(env, name, text(bytes, header->value));
    else
        join(old, bytes + header->value.offset, header->value.length, is_cookie(bytes, header));
}

#define FRAMING_NAME_BYTES_MAX 17 /* "Transfer-Encoding" */

/* Whether a name with underscores imitates a header that describes the content, which a client must not override. */
static bool imitates_framing(const char *bytes, const struct uw_http_header *header)
{
    char name[FRAMING_NAME_BYTES_MAX];

    if (header->name.length > sizeof name)
        return false;
    for (size_t i = 0; i < header->name.length; i++) {
        char c = bytes[header->name.offset + i];

        name[i] = c == '_' ? '-' : c;
    }
    switch (uw_http_field_find(name, header->name.length)) {
    case UW_FIELD_CONTENT_LENGTH:
    case UW_FIELD_CONTENT_TYPE:
    case UW_FIELD_TRANSFER_ENCODING:
        return true;
    default:
        return false;
    }
}

/* Adds names with an underscore, which the operator has allowed. Such a header counts only without one named with
 * hyphens. */
static void add_underscored(VALUE env, const struct uw_http_head *head, const char *bytes)
{
    for (uint32_t i = 0; i < head->header_count; i++) {
        const struct uw_http_header *header = uw_http_header(head, i);

        if (has_underscore(bytes, header) && !imitates_framing(bytes, header) &&
            NIL_P(rb_hash_lookup(env, rb_uw_env_key(bytes, header))))
            add_header(env, bytes, header);
    }
}

/* CGI names do not distinguish "X_Forwarded_For" from "X-Forwarded-For". A proxy sets or strips the latter, and may
 * pass the former. So names with an underscore are dropped, as in nginx. */
static void add_headers(VALUE env, const struct rb_uw_rack_context *rack_context, const struct uw_http_head *head,
                        const char *bytes)
{
    bool underscored = false;

    for (uint32_t i = 0; i < head->header_count; i++) {
        const struct uw_http_header *header = uw_http_header(head, i);

        /* Set already; the chunked coding has been removed. */
        if (header->field == UW_FIELD_HOST || header->field == UW_FIELD_TRANSFER_ENCODING ||
            (header->field == UW_FIELD_X_REQUEST_ID && rack_context->logged))
            continue;
        if (has_underscore(bytes, header))
            underscored = true;
        else
            add_header(env, bytes, header);
    }
    if (underscored && rack_context->underscores)
        add_underscored(env, head, bytes);
}

/* Returns the colon before the port in "host:port" or "[v6]:port", or NULL. */
static const char *port_colon(const char *host, size_t length)
{
    const char *colon = uw_memory_last(host, ':', length), *bracket = uw_memory_last(host, ']', length);

    return colon && (!bracket || colon > bracket) ? colon : NULL;
}

static bool is_text(VALUE string, const char *bytes, size_t length)
{
    return (size_t)RSTRING_LEN(string) == length && memcmp(RSTRING_PTR(string), bytes, length) == 0;
}

/* Long-lived clients keep it. */
static VALUE shared(const char *text, size_t length)
{
    return rb_enc_interned_str(text, (long)length, rb_ascii8bit_encoding());
}

static void remember_host(struct rb_uw_rack_context *rack_context, const char *text, size_t length)
{
    const char *colon = port_colon(text, length);
    size_t name_length = colon ? (size_t)(colon - text) : length, port_length = colon ? length - name_length - 1 : 0;
    VALUE template = rack_context->template;

    RB_OBJ_WRITE(rack_context->self, &rack_context->http_host, shared(text, length));
    rb_hash_aset(template, key.http_host, rack_context->http_host);
    rb_hash_aset(template, key.server_name, shared(text, name_length));
    rb_hash_aset(template, key.server_port, port_length ? shared(colon + 1, port_length) : key.port_80);
}

static void remember_address(struct rb_uw_rack_context *rack_context, const char *address)
{
    RB_OBJ_WRITE(rack_context->self, &rack_context->remote_addr, shared(address, strlen(address)));
    rb_hash_aset(rack_context->template, key.remote_addr, rack_context->remote_addr);
}

/* The template with this request's host and client. */
static VALUE template_for(struct rb_uw_rack_context *rack_context, const char *host, size_t length, const char *address)
{
    if (length > 0 && !is_text(rack_context->http_host, host, length))
        remember_host(rack_context, host, length);
    if (!is_text(rack_context->remote_addr, address, strlen(address)))
        remember_address(rack_context, address);
    return rack_context->template;
}

/* Fills in the server's own address for a request that names no host. */
static void add_local(VALUE env, const struct uw_request *core)
{
    int port;
    const char *address = uw_request_local(core, &port);

    rb_hash_delete(env, key.http_host);
    rb_hash_aset(env, key.server_name, strchr(address, ':') ? rb_sprintf("[%s]", address) : rb_str_new_cstr(address));
    rb_hash_aset(env, key.server_port, port ? rb_sprintf("%d", port) : key.port_80);
}

static void add_target(VALUE env, const struct uw_http_head *head, const char *bytes)
{
    if (head->method == UW_METHOD_OTHER)
        rb_hash_aset(env, key.request_method, text(bytes, head->method_name));
    else if (head->method != UW_METHOD_GET)
        rb_hash_aset(env, key.request_method, methods[head->method]);
    if (head->form == UW_FORM_ASTERISK || head->form == UW_FORM_AUTHORITY)
        rb_hash_aset(env, key.path_info, text(bytes, head->target));
    else if (head->path.length)
        rb_hash_aset(env, key.path_info, text(bytes, head->path));
    if (head->query.length)
        rb_hash_aset(env, key.query_string, text(bytes, head->query));
    rb_hash_aset(env, key.request_uri, text(bytes, head->target));
}

/* Frameworks read the id where a proxy would send it. Each entry has its own String: the application may change one in
 * place, and the server's log reads the other. */
static void add_request_id(VALUE env, struct uw_request *request)
{
    uw_request_identify(request);
    rb_hash_aset(env, key.http_x_request_id, rb_str_new(request->id, request->id_length));
    rb_hash_aset(env, key.request_id, rb_str_new(request->id, request->id_length));
}

#define PORT_DIGITS_MAX 5
#define PORTS_MAX 4096 /* texts that are remembered, by the port's last bits */

/* Empty for a client on a UNIX socket. */
static VALUE port_text(struct rb_uw_rack_context *rack_context, int port)
{
    char digits[PORT_DIGITS_MAX], *end = digits + sizeof digits, *start = end;
    long slot = port % PORTS_MAX;
    VALUE known = rb_ary_entry(rack_context->remote_ports, slot);

    for (; port > 0 && start > digits; port /= 10)
        *--start = (char)('0' + port % 10);
    if (!NIL_P(known) && is_text(known, start, (size_t)(end - start)))
        return known;
    known = rb_str_freeze(rb_str_new(start, end - start));
    rb_ary_store(rack_context->remote_ports, slot, known);
    return known;
}

/* Most requests have no content: the input in the template is theirs, one after another, as long as no application sets
 * anything on it. To set another in each env would cost more than to make it. */
static bool lend_input(struct rb_uw_rack_request *request)
{
    struct rb_uw_rack_context *rack_context = request->delivery->rack_context;

    if (rack_context->input_lent || !rb_uw_input_is_unmarked(rack_context->input))
        return false;
    request->input = rack_context->input;
    return rack_context->input_lent = true;
}

void rb_uw_env_end(const struct rb_uw_rack_request *request)
{
    struct rb_uw_rack_context *rack_context = request->delivery->rack_context;

    if (request->input == rack_context->input)
        rack_context->input_lent = false;
}

static void add_body(VALUE env, struct rb_uw_rack_request *request, struct uw_request *core)
{
    if (core->head.chunked)
        rb_hash_aset(env, key.content_length, rb_sprintf("%llu", (unsigned long long)core->body.length));
    if (!core->body.length && lend_input(request))
        return;
    request->input = core->body.length ? rb_uw_input_new(core) : rb_uw_input_empty();
    rb_hash_aset(env, key.input, request->input);
}

static void add_upgrade(VALUE env, struct rb_uw_rack_request *request, const struct uw_request *core)
{
    if (core->head.upgrade)
        rb_hash_aset(env, key.protocol, rb_uw_protocols(rb_hash_lookup(env, field_keys[UW_FIELD_UPGRADE])));
    request->upgrade = uw_upgrade_wanted(&core->head, core->bytes);
    if (request->upgrade)
        rb_hash_aset(env, key.upgrade_p, ID2SYM(rb_intern(request->upgrade->name)));
}

static void add_callables(VALUE env, struct rb_uw_rack_request *request, struct uw_request *core)
{
    request->hijack = rb_uw_hijack_new(core);
    rb_hash_aset(env, key.hijack, request->hijack);
    request->early_hints = rb_uw_early_hints_new(core);
    rb_hash_aset(env, key.early_hints, request->early_hints);
}

static void add_head(VALUE env, const struct rb_uw_rack_context *rack_context, const struct uw_http_head *head,
                     const char *bytes)
{
    add_target(env, head, bytes);
    add_headers(env, rack_context, head, bytes);
    if (head->version < UW_HTTP_1_1)
        rb_hash_aset(env, key.server_protocol, key.http_1_0);
}

void rb_uw_env(struct rb_uw_rack_request *request)
{
    struct rb_uw_rack_context *rack_context = request->delivery->rack_context;
    struct uw_request *core = request->delivery->core;
    const struct uw_http_head *head = &core->head;
    const struct uw_tls_peer *peer = uw_request_peer(core);
    const char *bytes = core->bytes, *address = uw_request_remote(core);
    int port = uw_request_remote_port(core);
    VALUE env = rb_hash_dup(template_for(rack_context, bytes + head->host.offset, head->host.length, address));

    if (head->host.length == 0)
        add_local(env, core);
    if (rack_context->logged)
        add_request_id(env, core);
    add_head(env, rack_context, head, bytes);
    rb_hash_aset(env, key.remote_port, port_text(rack_context, port));
    add_body(env, request, core);
    if (peer)
        rb_uw_tls_env(env, peer);
    add_upgrade(env, request, core);
    add_callables(env, request, core);
    rb_hash_aset(env, key.response_finished, rb_ary_new());
    request->env = env;
}
