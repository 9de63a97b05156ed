/* Chooses a content coding of a representation by Accept-Encoding (RFC 9110, section 12.5.3). */
#ifndef UW_HTTP_CONTENT_CODING_H
#define UW_HTTP_CONTENT_CODING_H

#include <stddef.h>
#include <stdint.h>

/* In order of the server's preference, which applies to equal weights. */
enum uw_http_coding {
    UW_CODING_BR,
    UW_CODING_ZSTD,
    UW_CODING_GZIP,
    UW_CODING_IDENTITY,
    UW_CODING_COUNT,
};

#define UW_CODING_BIT(coding) (1u << (coding)) /* the coding's bit in the set `available` */

/* The codings that a client accepts. */
struct uw_http_accepted_codings {
    uint16_t weight[UW_CODING_COUNT + 1]; /* q-values in thousandths. 0: not acceptable. The last entry is for "*" */
    unsigned listed;                      /* one bit for each coding in Accept-Encoding */
};

/* The initial state is a request without Accept-Encoding, which accepts only identity. */
void uw_http_accepted_codings_init(struct uw_http_accepted_codings *accepted);

/* Adds one field line of Accept-Encoding. A request may have several lines. A malformed element counts as absent. */
void uw_http_accepted_codings_add(struct uw_http_accepted_codings *accepted, const char *value, size_t length);

/* Returns the coding of the set `available` with the highest weight, or -406 without an acceptable coding. */
int uw_http_coding_choose(const struct uw_http_accepted_codings *accepted, unsigned available);

/* Return the coding's name in Content-Encoding ("gzip") and the file suffix (".gz"). Both are "" for identity. */
const char *uw_http_coding_name(enum uw_http_coding coding);
const char *uw_http_coding_suffix(enum uw_http_coding coding);

#endif
