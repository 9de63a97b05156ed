/* server_settings.c: the settings that every kind of server has, out of a Hash. */
#ifndef RB_UPWELL_SERVER_SETTINGS_H
#define RB_UPWELL_SERVER_SETTINGS_H

#include <ruby.h>

#include "server/server.h"

/* Raises KeyError when it is missing. */
VALUE rb_uw_setting(VALUE settings, const char *name);

/* Reads limits, time-outs, and the paths of health checks. Raises KeyError for a missing one, ArgumentError for one out
 * of range. */
void rb_uw_read_server_settings(struct uw_server_settings *core, VALUE settings);

/* Reads the settings of long-lived clients. */
void rb_uw_read_client_settings(struct uw_server_settings *core, VALUE settings);

#endif
