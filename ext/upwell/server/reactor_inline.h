/* Mode inline: the application runs on the loop's thread. */
#ifndef RB_UPWELL_REACTOR_INLINE_H
#define RB_UPWELL_REACTOR_INLINE_H

#include "server/reactor_mode.h"

extern const struct rb_uw_mode rb_uw_mode_inline;

#endif
