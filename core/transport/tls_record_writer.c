#include "transport/tls_record_writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define RECORD_BYTES UW_TLS_RECORD_BYTES_MAX
#define RECORD_OVERHEAD_MAX 64 /* header, nonce, tag and type: 22 in TLS 1.3, 29 in TLS 1.2 */

/* Small pieces are gathered in the buffer `stage`, so a head and its content share a record. Large pieces in memory are
 * sealed in place. */
struct sealing {
    SSL *ssl;
    char *stage;
    size_t staged, left; /* bytes in `stage`, and bytes that may still be sealed */
    int error;
};

static void seal_bytes(struct sealing *sealing, const char *bytes, size_t length)
{
    size_t written;

    if (SSL_write_ex(sealing->ssl, bytes, length, &written) != 1)
        sealing->error = -EPROTO;
}

static void seal_stage(struct sealing *sealing)
{
    if (sealing->staged)
        seal_bytes(sealing, sealing->stage, sealing->staged);
    sealing->staged = 0;
}

static void add_bytes(struct sealing *sealing, const char *bytes, size_t length)
{
    if (length > sealing->left)
        length = sealing->left;
    sealing->left -= length;
    while (length && !sealing->error) {
        size_t part = RECORD_BYTES - sealing->staged % RECORD_BYTES;

        if (sealing->staged == 0 && length >= RECORD_BYTES) {
            part = length - length % RECORD_BYTES;
            seal_bytes(sealing, bytes, part);
        } else {
            if (part > length)
                part = length;
            memcpy(sealing->stage + sealing->staged, bytes, part);
            sealing->staged += part;
            if (sealing->staged % RECORD_BYTES == 0)
                seal_stage(sealing);
        }
        bytes += part;
        length -= part;
    }
}

static ssize_t read_file(int file, char *bytes, size_t length, off_t offset)
{
    ssize_t count;

    do
        count = pread(file, bytes, length, offset);
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

/* Returns false if the file is shorter than expected, or after an error. */
static bool add_file(struct sealing *sealing, const struct uw_chunk *chunk)
{
    int64_t offset = chunk->rest_offset, end = offset + chunk->rest_left;

    while (offset < end && sealing->left && !sealing->error) {
        size_t part = UW_TLS_STAGE_BYTES - sealing->staged;
        ssize_t count;

        if (part > sealing->left)
            part = sealing->left;
        if ((int64_t)part > end - offset)
            part = (size_t)(end - offset);
        count = read_file(chunk->file, sealing->stage + sealing->staged, part, offset);
        if (count < 0)
            sealing->error = (int)count;
        if (count <= 0)
            return false;
        offset += count;
        sealing->left -= (size_t)count;
        sealing->staged += (size_t)count;
        if (sealing->staged == UW_TLS_STAGE_BYTES)
            seal_stage(sealing);
    }
    return true;
}

static bool add_chunk(struct sealing *sealing, const struct uw_chunk *chunk)
{
    add_bytes(sealing, chunk->bytes + chunk->sent, chunk->length - chunk->sent);
    if (chunk->memory)
        add_bytes(sealing, chunk->memory + chunk->rest_offset, (size_t)chunk->rest_left);
    else if (chunk->rest_left)
        return add_file(sealing, chunk);
    return true;
}

int64_t uw_tls_seal(SSL *ssl, struct uw_tls_buffers *buffers, const struct uw_chunk *first, size_t most)
{
    struct sealing sealing = {.ssl = ssl, .stage = buffers->stage, .left = most};
    bool complete = true;

    for (const struct uw_chunk *chunk = first; chunk && complete && sealing.left && !sealing.error; chunk = chunk->next)
        complete = add_chunk(&sealing, chunk);
    if (!sealing.error)
        seal_stage(&sealing);
    return sealing.error ? sealing.error : (int64_t)(most - sealing.left);
}

size_t uw_tls_sealed_bytes(size_t bytes)
{
    return bytes + (bytes / RECORD_BYTES + 2) * RECORD_OVERHEAD_MAX;
}
