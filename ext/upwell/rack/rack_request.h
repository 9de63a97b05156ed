/* A request as the application sees it: its env, and the objects in env that know the request. */
#ifndef RB_UPWELL_RACK_REQUEST_H
#define RB_UPWELL_RACK_REQUEST_H

#include "rack/delivery.h"

struct uw_upgrade_kind;

struct rb_uw_rack_request {
    struct rb_uw_delivery *delivery; /* of its response */
    VALUE env, input, hijack, early_hints;
    const struct uw_upgrade_kind *upgrade; /* by which the client may become long-lived, or NULL */
    bool answered;                         /* the application has answered, or failed: it is too late for a hijack */
};

/* Returns the core's request as it is being served. */
static inline struct rb_uw_rack_request *rb_uw_rack_request_of(const struct uw_request *core)
{
    return core->user;
}

#endif
