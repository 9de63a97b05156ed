#include "server/request_id.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/system.h"
#include "server/server_context.h"
#include "server/trusted_peer.h"

#define HALF_DIGITS (UW_REQUEST_ID_BYTES / 2)

/* Scatters the numbers 0, 1, 2 ... over all 64-bit numbers, each to another one (SplitMix64). */
static uint64_t scatter(uint64_t number)
{
    number += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

static void put_digits(char digits[HALF_DIGITS], uint64_t number)
{
    for (int i = HALF_DIGITS - 1; i >= 0; i--) {
        digits[i] = "0123456789abcdef"[number % 16];
        number /= 16;
    }
}

/* Without random bytes, process and time distinguish the loops. */
void uw_request_ids_init(struct uw_request_ids *ids)
{
    uint64_t random[2] = {0};

    if (!uw_random(random, sizeof random))
        random[0] = scatter((uint64_t)uw_clock_ns() ^ (uint64_t)getpid() << 32);
    put_digits(ids->prefix, random[0]);
    atomic_init(&ids->count, random[1]);
}

static void make_id(struct uw_request *request)
{
    struct uw_request_ids *ids = &request->server_context->request_ids;

    memcpy(request->id, ids->prefix, HALF_DIGITS);
    put_digits(request->id + HALF_DIGITS, scatter(atomic_fetch_add_explicit(&ids->count, 1, memory_order_relaxed)));
    request->id_length = UW_REQUEST_ID_BYTES;
}

static bool is_id(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
              c == '-'))
            return false;
    }
    return length > 0 && length <= UW_REQUEST_ID_BYTES_MAX;
}

/* The only X-Request-ID of the request. Two would be the client's and the proxy's. */
static const struct uw_http_header *find_field(const struct uw_request *request)
{
    const struct uw_http_header *found = NULL;

    for (uint32_t i = 0; i < request->head.header_count; i++) {
        const struct uw_http_header *header = uw_http_header(&request->head, i);

        if (header->field == UW_FIELD_X_REQUEST_ID && found)
            return NULL;
        if (header->field == UW_FIELD_X_REQUEST_ID)
            found = header;
    }
    return found;
}

static bool take_id(struct uw_request *request)
{
    const struct uw_http_header *header = find_field(request);
    const char *text = header ? uw_request_text(request, header->value) : "";

    if (!header || !is_id(text, header->value.length) || !uw_request_has_trusted_peer(request))
        return false;
    memcpy(request->id, text, header->value.length);
    request->id_length = (uint8_t)header->value.length;
    return true;
}

void uw_request_identify(struct uw_request *request)
{
    if (!request->id_length && !take_id(request))
        make_id(request);
}
