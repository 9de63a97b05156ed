/* A Rack response: turns its status and headers into a response head. The core checks them, decides the framing and
 * writes all in the client's protocol. */
#ifndef RB_UPWELL_RACK_RESPONSE_H
#define RB_UPWELL_RACK_RESPONSE_H

#include "http/response_head.h"
#include "rack/rack_request.h"

struct uw_push_client;
struct uw_response_writer;

struct rb_uw_rack_response {
    struct rb_uw_rack_request *request;
    struct rb_uw_delivery *delivery;
    VALUE status, headers, body;
    VALUE closer;   /* the body that must be closed */
    VALUE hijacker; /* of a partial hijack, or nil */
    VALUE protocol; /* the protocol that the response switches to (rack.protocol), or nil */
    struct uw_http_response head;
};

void rb_uw_init_response(void);

/* Returns the application's status, of whatever class. */
int rb_uw_response_status(const struct rb_uw_rack_response *response);

/* Makes the delivery's chunk the head of the response. Raises ArgumentError for an invalid head. */
void rb_uw_response_head(struct rb_uw_rack_response *response);

/* Makes the chunk the head of the response by which `client` becomes long-lived. Raises the same, and SystemCallError
 * for a failure. */
void rb_uw_response_upgrade(struct rb_uw_rack_response *response, struct uw_push_client *client);

/* Makes the head of a response 103 in a chunk for the caller. Raises ArgumentError for an invalid head. */
struct uw_chunk *rb_uw_response_early_hints(const struct uw_response_writer *writer, bool newline_values,
                                            VALUE headers);

/* Raises the exception for `error`, of response_head.h, unless it is 0. */
void rb_uw_check_response(const struct uw_http_response *head, int error);

#endif
