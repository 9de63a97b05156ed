/* What messages consist of: text that can be compressed about as well as JSON can. */
#ifndef BENCH_MESSAGE_TEXT_H
#define BENCH_MESSAGE_TEXT_H

#include <stddef.h>

void text_fill(char *at, size_t length);

#endif
