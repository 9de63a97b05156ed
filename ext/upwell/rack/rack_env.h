/* The env of a request (Rack SPEC): a duplicate of a prepared template plus the request's own entries. */
#ifndef RB_UPWELL_RACK_ENV_H
#define RB_UPWELL_RACK_ENV_H

#include "rack/rack_request.h"

void rb_uw_init_env(void);
VALUE rb_uw_env_template(bool rack_2, bool logged, VALUE input);

/* Makes request->env and the objects in it. */
void rb_uw_env(struct rb_uw_rack_request *request);

/* The key of a header's field. */
VALUE rb_uw_env_key(const char *bytes, const struct uw_http_header *header);

/* The application has finished with the request. */
void rb_uw_env_end(const struct rb_uw_rack_request *request);

#endif
