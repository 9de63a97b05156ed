/* rack.protocol (Rack SPEC): the application switches to a protocol that the client offers, and implements that
 * protocol itself. */
#ifndef RB_UPWELL_RACK_PROTOCOL_H
#define RB_UPWELL_RACK_PROTOCOL_H

#include "rack/rack_response.h"

void rb_uw_init_protocol(void);

/* The protocols that the client offers to switch to: an Array of Strings, made of the whole field. */
VALUE rb_uw_protocols(VALUE field);

/* Switches the response to a protocol, if the application names one and hijacks the connection. */
void rb_uw_choose_protocol(struct rb_uw_rack_response *response);

#endif
