/* One kind of upgrade to a long-lived client. The accepting response has no framing: the bytes after its head belong to
 * the client's protocol. */
#ifndef UW_PUSH_UPGRADE_KIND_H
#define UW_PUSH_UPGRADE_KIND_H

#include <stdbool.h>

#include "http/request_head.h"
#include "http/response_writer.h"
#include "push/push_client.h"

struct uw_upgrade_kind {
    const char *name; /* the value of env["rack.upgrade?"] */
    const struct uw_push_client_kind *client_kind;
    unsigned status; /* of the response that accepts */

    /* Whether a request asks for this upgrade and may have it. The head's slices point into `bytes`. */
    bool (*is_wanted)(const struct uw_http_head *head, const char *bytes);

    /* Writes the accepting header fields, after the status and before `connection`, and stores the agreed parameters in
     * the client. Returns what the writer does, or -ENOSYS where the upgrade is not possible. */
    int (*accept)(const struct uw_response_writer *writer, struct uw_chunk **chunk, const struct uw_http_head *head,
                  const char *bytes, struct uw_push_client *client);
};

#endif
