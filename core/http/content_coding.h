/* Choice among the content codings in which a representation is there (RFC 9110, section 12.5.3). */
#ifndef UW_HTTP_CONTENT_CODING_H
#define UW_HTTP_CONTENT_CODING_H

#include <stddef.h>
#include <stdint.h>

/* In order of preference where the client has none. */
enum uw_http_coding {
    UW_CODING_BR,
    UW_CODING_ZSTD,
    UW_CODING_GZIP,
    UW_CODING_IDENTITY,
    UW_CODING_COUNT,
};

#define UW_CODING_BIT(coding) (1u << (coding)) /* for the set `available` */

/* What the client accepts. */
struct uw_http_accepted_codings {
    uint16_t weight[UW_CODING_COUNT + 1]; /* q-values in thousandths, 0: not acceptable; the last is that of "*" */
    unsigned listed;                      /* bits: which of them the client has given */
};

/* A request without Accept-Encoding: identity only. */
void uw_http_accepted_codings_init(struct uw_http_accepted_codings *accepted);

/* Adds a field line of Accept-Encoding; there may be several. What is malformed in it counts as absent. */
void uw_http_accepted_codings_add(struct uw_http_accepted_codings *accepted, const char *value, size_t length);

/* The best acceptable coding of the set `available`, or -406 when there is none. */
int uw_http_coding_choose(const struct uw_http_accepted_codings *accepted, unsigned available);

/* The coding's name in Content-Encoding ("gzip") and the suffix of a file so coded (".gz"); "" for identity. */
const char *uw_http_coding_name(enum uw_http_coding coding);
const char *uw_http_coding_suffix(enum uw_http_coding coding);

#endif
