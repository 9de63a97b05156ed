/* Identifies requests, so that the lines of several logs about one request can be found. */
#ifndef UW_SERVER_REQUEST_ID_H
#define UW_SERVER_REQUEST_ID_H

#include <stdatomic.h>
#include <stdint.h>

#define UW_REQUEST_ID_BYTES 32      /* of an id that the server makes: hexadecimal digits, as nginx's $request_id */
#define UW_REQUEST_ID_BYTES_MAX 128 /* of an id that a proxy sends; a longer one is replaced */

struct uw_request;

/* The source of the ids of one loop. */
struct uw_request_ids {
    char prefix[UW_REQUEST_ID_BYTES / 2]; /* random digits: the ids of other loops differ */
    atomic_uint_least64_t count;          /* begins with a random number, too */
};

void uw_request_ids_init(struct uw_request_ids *ids);

/* Sets the id of a request with a complete head, unless it has one: the X-Request-ID of a trusted proxy, if it has only
 * letters, digits and "_.-", or else a new id. On the thread that serves the request. */
void uw_request_identify(struct uw_request *request);

#endif
