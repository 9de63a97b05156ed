#include "composition/composition.h"

#include <stddef.h>

#include "http1/http1.h"
#include "pub_sub/pub_sub_module.h"
#include "websocket/websocket_protocol.h"

static const struct uw_protocol *const protocols[] = {
    &uw_protocol_http1,
    NULL,
};

static const struct uw_module *const modules[] = {
    &uw_module_push,
    &uw_module_pub_sub,
    &uw_module_websocket,
    NULL,
};

const struct uw_composition uw_composition = {.protocols = protocols, .modules = modules};
