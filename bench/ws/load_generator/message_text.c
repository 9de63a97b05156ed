#include "message_text.h"

#include <stdio.h>
#include <string.h>

#define RECORD_BYTES_MAX 64

void text_fill(char *at, size_t length)
{
    unsigned number = 1;

    while (length) {
        char record[RECORD_BYTES_MAX];
        size_t bytes;

        number = number * 1103515245 + 12345;
        snprintf(record, sizeof record, "{\"id\":%u,\"name\":\"client %u\",\"open\":%s},", number >> 16, number >> 24,
                 number & 4096 ? "true" : "false");
        bytes = strlen(record) < length ? strlen(record) : length;
        memcpy(at, record, bytes);
        at += bytes;
        length -= bytes;
    }
}
