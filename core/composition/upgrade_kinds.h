/* The upgrades to a long-lived client that this server knows, one table entry each. */
#ifndef UW_COMPOSITION_UPGRADE_KINDS_H
#define UW_COMPOSITION_UPGRADE_KINDS_H

#include "push/upgrade_kind.h"

/* Whether a field of the response that accepts is the server's to write, or has no sense there: the application's own
 * is omitted. */
bool uw_upgrade_writes(const char *name, size_t length);

/* Returns the upgrade that a request asks for, or NULL. */
const struct uw_upgrade_kind *uw_upgrade_wanted(const struct uw_http_head *head, const char *bytes);

#endif
