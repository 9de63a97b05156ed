/* The ways in which a client can stay after its request, one table entry each. The response that accepts has no framing
 * to be written: what follows its head is the client's protocol's. */
#ifndef UW_PUSH_UPGRADES_H
#define UW_PUSH_UPGRADES_H

#include <stdbool.h>

#include "http/head.h"
#include "http/response_writer.h"
#include "push/client.h"

struct uw_upgrade {
    const char *name; /* as env["rack.upgrade?"] tells it */
    const struct uw_client_kind *kind;
    unsigned status; /* of the response that accepts */

    /* Whether a request asks for it, and can have it here. `bytes` are what the head's slices point into. */
    bool (*is_wanted)(const struct uw_http_head *head, const char *bytes);

    /* Writes the fields that accept it into the head of that response, behind the status and before `connection`, and
     * has the client be what was agreed upon. Returns what the writer does, or -ENOSYS where it is not possible. */
    int (*accept)(const struct uw_response_writer *writer, struct uw_chunk **chunk, const struct uw_http_head *head,
                  const char *bytes, struct uw_client *client);
};

/* Whether a field of the response that accepts is the server's to write, or has no sense there: the application's own
 * is left out. */
bool uw_upgrade_writes(const char *name, size_t length);

/* The one that a request asks for, or NULL. */
const struct uw_upgrade *uw_upgrade_wanted(const struct uw_http_head *head, const char *bytes);

#endif
