/* Upwell::TLSContext: certificates, keys and trust, read from their files. */
#ifndef RB_UPWELL_TLS_CONTEXT_H
#define RB_UPWELL_TLS_CONTEXT_H

#include <ruby.h>

#include "transport/tls_context.h"

void rb_uw_init_tls_context(void);

/* The core's context of an Upwell::TLSContext, valid as long as that object lives; retain it for longer. NULL for nil.
 * Raises TypeError. */
struct uw_tls_context *rb_uw_tls_context(VALUE context);

#endif
