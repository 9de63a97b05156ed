/* The opening handshake: any request's head. What is accepted is answered by exactly three fields at most, whose values
 * hold nothing of the client's, and whatever its extensions offer, the terms are within RFC 7692. */
#include <stdlib.h>
#include <string.h>

#include "compression/deflate.h"
#include "http1/parser.h"
#include "http1/writer.h"
#include "transport/chunk.h"
#include "websocket/accept_key.h"
#include "websocket/handshake.h"

static const struct uw_http_limits limits = {.head_bytes_max = 4096, .target_bytes_max = 512, .headers_max = 40};

static void must(int condition)
{
    if (!condition)
        abort();
}

static void check_terms(const struct uw_deflate_terms *terms)
{
    if (terms->agreed)
        must(terms->window_bits >= UW_WINDOW_BITS_MIN && terms->window_bits <= UW_WINDOW_BITS_MAX);
}

/* Lines, each ended once: "Upgrade", "Sec-WebSocket-Accept" with 28 characters, and perhaps the extension. */
static void check_answer(const struct uw_chunk *chunk, const struct uw_deflate_terms *terms)
{
    static const char upgrade[] = "Upgrade: websocket\r\nSec-WebSocket-Accept: ";
    static const char extension[] = "Sec-WebSocket-Extensions: permessage-deflate";
    size_t at = sizeof upgrade - 1 + UW_WEBSOCKET_ACCEPT_BYTES + 2;

    must(chunk->length >= at && memcmp(chunk->bytes, upgrade, sizeof upgrade - 1) == 0);
    must(memcmp(chunk->bytes + at - 3, "=\r\n", 3) == 0);
    must((chunk->length > at) == terms->agreed);
    if (!terms->agreed)
        return;
    must(memcmp(chunk->bytes + at, extension, sizeof extension - 1) == 0);
    must(chunk->length - at <= sizeof extension + 2 + UW_EXTENSIONS_BYTES_MAX);
    must(memchr(chunk->bytes + at, '\n', chunk->length - at) == chunk->bytes + chunk->length - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size ? size : 1); /* exactly as long, for the sanitizer */
    struct uw_http_head head;
    struct uw_deflate_terms terms;
    struct uw_chunk *chunk = NULL;

    must(bytes != NULL);
    memcpy(bytes, data, size);
    uw_http_head_init(&head, &limits);
    if (uw_http_parse(&head, bytes, size) > 0 && uw_websocket_is_wanted(&head, bytes)) {
        must(uw_websocket_accept(&uw_http1_writer, &chunk, &head, bytes, &terms) == 0);
        check_terms(&terms);
        check_answer(chunk, &terms);
    }
    if (chunk)
        uw_chunk_free(chunk);
    free(bytes);
    return 0;
}
