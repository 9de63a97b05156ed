/* Chooses among the available content codings of a representation (RFC 9110, section 12.5.3). */
#ifndef UW_HTTP_CONTENT_CODING_H
#define UW_HTTP_CONTENT_CODING_H

#include <stddef.h>
#include <stdint.h>

/* The order is the server's preference, for clients without one. */
enum uw_http_coding {
    UW_CODING_BR,
    UW_CODING_ZSTD,
    UW_CODING_GZIP,
    UW_CODING_IDENTITY,
    UW_CODING_COUNT,
};

#define UW_CODING_BIT(coding) (1u << (coding)) /* a bit of the set `available` */

/* The codings that a client accepts. */
struct uw_http_accepted_codings {
    uint16_t weight[UW_CODING_COUNT + 1]; /* q-values in thousandths, 0: not acceptable; the last entry is for "*" */
    unsigned listed;                      /* a bit for each coding that the client has named */
};

/* Starts with a request without Accept-Encoding, which accepts only identity. */
void uw_http_accepted_codings_init(struct uw_http_accepted_codings *accepted);

/* Adds one field line of Accept-Encoding; a request may have several. A malformed element counts as absent. */
void uw_http_accepted_codings_add(struct uw_http_accepted_codings *accepted, const char *value, size_t length);

/* Returns the best acceptable coding of the set `available`, or -406 without one. */
int uw_http_coding_choose(const struct uw_http_accepted_codings *accepted, unsigned available);

/* Return the coding's name in Content-Encoding ("gzip") and the suffix of a coded file (".gz"); "" for identity. */
const char *uw_http_coding_name(enum uw_http_coding coding);
const char *uw_http_coding_suffix(enum uw_http_coding coding);

#endif
