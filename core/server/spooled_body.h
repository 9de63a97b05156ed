/* Content of a request, or response bytes that wait for a slow client. The bytes are in memory up to a limit, and
 * beyond it in an unnamed temporary file. */
#ifndef UW_SERVER_SPOOLED_BODY_H
#define UW_SERVER_SPOOLED_BODY_H

#include <stddef.h>
#include <stdint.h>

struct uw_spooled_body {
    char *memory; /* NULL if the content is empty or in the file */
    size_t capacity;
    uint64_t length;
    int fd; /* descriptor of the file, or -1 */
};

void uw_spooled_body_init(struct uw_spooled_body *body);
void uw_spooled_body_free(struct uw_spooled_body *body);

/* Returns the directory of temporary files: TMPDIR or /tmp. */
const char *uw_spooled_body_folder(void);

/* Appends bytes. Content of more than `memory_bytes_max` bytes moves to a file. `expected` is the length of the whole
 * content, or 0 if it is unknown. Returns 0 or -errno. After an error the content is unchanged. */
int uw_spooled_body_append(struct uw_spooled_body *body, const char *bytes, size_t length, uint64_t expected,
                           size_t memory_bytes_max);

#endif
