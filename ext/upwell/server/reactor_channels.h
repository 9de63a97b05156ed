/* Upwell::Reactor: publish and subscribe of the process. */
#ifndef RB_UPWELL_REACTOR_CHANNELS_H
#define RB_UPWELL_REACTOR_CHANNELS_H

#include <ruby.h>

void rb_uw_init_reactor_channels(VALUE class);

#endif
