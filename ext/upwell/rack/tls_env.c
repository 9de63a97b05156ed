#include "rack/tls_env.h"

#include <ruby/encoding.h>
#include <string.h>

#include "transport/tls_connection_info.h"

#define HTTP_PORT "80"
#define HTTPS_PORT "443"

/* The keys and the most frequent values, as frozen strings. A client cannot set these keys: its headers are named
 * HTTP_... */
#define KEYS(KEY) \
    KEY(url_scheme, "rack.url_scheme") \
    KEY(server_port, "SERVER_PORT") \
    KEY(https, "HTTPS") \
    KEY(protocol, "SSL_PROTOCOL") \
    KEY(cipher, "SSL_CIPHER") \
    KEY(name, "SSL_TLS_SNI") \
    KEY(client_verify, "SSL_CLIENT_VERIFY") \
    KEY(client_certificate, "SSL_CLIENT_CERT") \
    KEY(client_subject, "SSL_CLIENT_S_DN") \
    KEY(client_issuer, "SSL_CLIENT_I_DN") \
    KEY(client_serial, "SSL_CLIENT_M_SERIAL") \
    KEY(scheme, "https") \
    KEY(on, "on") \
    KEY(http_port, HTTP_PORT) \
    KEY(https_port, HTTPS_PORT) \
    KEY(none, "NONE") \
    KEY(success, "SUCCESS")

static struct {
#define KEY_MEMBER(name, text) VALUE name;
    KEYS(KEY_MEMBER)
#undef KEY_MEMBER
} key;

void rb_uw_init_tls_env(void)
{
#define KEY_INIT(name, text) \
    key.name = rb_interned_str(text, sizeof text - 1); \
    rb_gc_register_mark_object(key.name);
    KEYS(KEY_INIT)
#undef KEY_INIT
}

static void add_client(VALUE env, const struct uw_tls_client *client)
{
    rb_hash_aset(env, key.client_verify, key.success);
    rb_hash_aset(env, key.client_certificate, rb_str_new_cstr(client->certificate));
    rb_hash_aset(env, key.client_subject, rb_utf8_str_new_cstr(client->subject));
    rb_hash_aset(env, key.client_issuer, rb_utf8_str_new_cstr(client->issuer));
    rb_hash_aset(env, key.client_serial, rb_str_new_cstr(client->serial));
}

/* Whether the request names no port: then the entry is rack_env.c's own String, and not a "80" of the client's. */
static bool has_no_port(VALUE env)
{
    return rb_hash_lookup(env, key.server_port) == key.http_port;
}

void rb_uw_tls_env(VALUE env, const struct uw_tls_peer *peer)
{
    rb_hash_aset(env, key.url_scheme, key.scheme);
    rb_hash_aset(env, key.https, key.on);
    if (has_no_port(env))
        rb_hash_aset(env, key.server_port, key.https_port);
    rb_hash_aset(env, key.protocol, rb_interned_str_cstr(peer->version));
    rb_hash_aset(env, key.cipher, rb_interned_str_cstr(peer->cipher));
    if (peer->name)
        rb_hash_aset(env, key.name, rb_str_new_cstr(peer->name));
    if (peer->client)
        add_client(env, peer->client);
    else
        rb_hash_aset(env, key.client_verify, key.none);
}
