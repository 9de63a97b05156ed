/* The content of a request, or what a response is ahead of its client: in memory up to a limit, then in a temporary
 * file without a name. */
#ifndef UW_SERVER_BODY_H
#define UW_SERVER_BODY_H

#include <stddef.h>
#include <stdint.h>

struct uw_body {
    char *memory; /* NULL when there is no content, or when it is in the file */
    size_t capacity;
    uint64_t length;
    int fd; /* of the file, or -1 */
};

void uw_body_init(struct uw_body *body);
void uw_body_free(struct uw_body *body);

/* Appends bytes; content of more than `memory_bytes_max` moves to a file in TMPDIR or /tmp. `expected` is the whole
 * length if known, or 0. Returns 0 or -errno. */
int uw_body_append(struct uw_body *body, const char *bytes, size_t length, uint64_t expected, size_t memory_bytes_max);

#endif
