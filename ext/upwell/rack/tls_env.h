/* The TLS variables in the env of a request, with the names of nginx and Apache. */
#ifndef RB_UPWELL_TLS_ENV_H
#define RB_UPWELL_TLS_ENV_H

#include <ruby.h>

struct uw_tls_peer;

void rb_uw_init_tls_env(void);

/* Adds it to the env of a request that came by TLS. */
void rb_uw_tls_env(VALUE env, const struct uw_tls_peer *peer);

#endif
