/* Writes responses in HTTP/1.1 framing (RFC 9112, sections 4 to 7). */
#ifndef UW_HTTP1_WRITER_H
#define UW_HTTP1_WRITER_H

#include "http/response_writer.h"

extern const struct uw_response_writer uw_http1_writer;

#endif
