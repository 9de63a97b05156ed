/* Answers a request, from env to the end of its response. Whatever the application does, the client gets one complete
 * response, or sees from the connection's end that the response is incomplete. */
#ifndef RB_UPWELL_ANSWER_H
#define RB_UPWELL_ANSWER_H

#include "rack/rack_context.h"

void rb_uw_init_answer(void);

/* Answers a request from start to end. Returns the state, as rb_protect does, of an exception that passes on. Such an
 * exception ends the thread (SystemExit), or arrived when it could no longer be answered. */
int rb_uw_serve(struct rb_uw_rack_context *rack_context, struct uw_request *core);

#endif
