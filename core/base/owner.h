/* What belongs to one thread is used by that thread only. Where UW_CHECK_OWNER is defined, as for tests, every use is
 * checked, and another thread's ends the program; elsewhere this is nothing. */
#ifndef UW_BASE_OWNER_H
#define UW_BASE_OWNER_H

#include <assert.h>

#include "base/system.h"

/* `thing` has a member `owner`: the thread's uw_thread_id, which a child process does not share; or 0 for nobody's. */
#ifdef UW_CHECK_OWNER
#define UW_ASSERT_OWNER(thing) assert(!(thing)->owner || (thing)->owner == uw_thread_id())
#else
#define UW_ASSERT_OWNER(thing) ((void)0)
#endif

#endif
