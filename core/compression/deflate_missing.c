/* Implements deflate.h without zlib: the server does not accept the extension permessage-deflate. */
#include "compression/deflate.h"

#include <errno.h>

bool uw_deflate_is_possible(void)
{
    return false;
}

struct uw_deflate *uw_deflate_new(void)
{
    return NULL;
}

void uw_deflate_free(struct uw_deflate *deflate)
{
    (void)deflate;
}

long uw_deflate_compress(struct uw_deflate *deflate, int window_bits, const char *bytes, size_t length, char **result)
{
    (void)deflate, (void)window_bits, (void)bytes, (void)length, (void)result;
    return -1;
}

long uw_deflate_decompress(struct uw_deflate *deflate, const char *bytes, size_t length, size_t length_max,
                           char **result)
{
    (void)deflate, (void)bytes, (void)length, (void)length_max, (void)result;
    return -ENOSYS;
}
