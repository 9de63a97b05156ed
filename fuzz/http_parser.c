/* The parser must not read beyond its bytes, must give the same result however they are cut, and must not accept what
 * could be read differently. The first byte of the input is where the rest is cut. */
#include <stdlib.h>
#include <string.h>

#include "http/byte_class.h"
#include "http1/parser.h"

static const struct uw_http_limits limits = {.head_bytes_max = 2048, .target_bytes_max = 512, .headers_max = 20};

static void require(int condition)
{
    if (!condition)
        abort();
}

static int parse(struct uw_http_head *head, const uint8_t *bytes, size_t cut, size_t length)
{
    char *copy = malloc(length ? length : 1); /* exactly as long, for the sanitizer */
    int result;

    require(copy != NULL);
    memcpy(copy, bytes, length);
    memset(head, 0, sizeof *head); /* so that heads can be compared as memory */
    uw_http_head_init(head, &limits);
    result = uw_http_parse(head, copy, cut);
    if (result == 0 && cut < length)
        result = uw_http_parse(head, copy, length);
    free(copy);
    return result;
}

static void check_slice(struct uw_http_slice slice, int length, const uint8_t *bytes)
{
    require(slice.offset + slice.length <= (uint32_t)length);
    for (uint32_t i = 0; i < slice.length; i++)
        require(!strchr("\r\n", bytes[slice.offset + i])); /* NUL too: strchr finds the end of the string */
}

static void check_head(const struct uw_http_head *head, int length, const uint8_t *bytes)
{
    check_slice(head->method_name, length, bytes);
    check_slice(head->target, length, bytes);
    check_slice(head->path, length, bytes);
    check_slice(head->query, length, bytes);
    check_slice(head->host, length, bytes);
    require(!(head->chunked && head->has_content_length));
    for (uint32_t i = 0; i < head->header_count; i++) {
        require(head->headers[i].name.length > 0);
        check_slice(head->headers[i].name, length, bytes);
        check_slice(head->headers[i].value, length, bytes);
        for (uint32_t j = 0; j < head->headers[i].name.length; j++)
            require(uw_http_byte_is((char)bytes[head->headers[i].name.offset + j], UW_BYTE_TOKEN));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct uw_http_head whole, cut;
    int result;

    if (size == 0)
        return 0;
    size--;
    result = parse(&whole, data + 1, size, size);
    require(result <= (int)size);
    require(result == parse(&cut, data + 1, size ? data[0] % (size + 1) : 0, size));
    if (result <= 0)
        return 0;
    require(memcmp(&whole, &cut, sizeof whole) == 0);
    check_head(&whole, result, data + 1);
    return 0;
}
