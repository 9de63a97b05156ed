/* Checks that only the owning thread uses an object. Under UW_CHECK_OWNER (tests) every use is checked, and a use by
 * another thread aborts the program. Otherwise the check compiles to nothing. */
#ifndef UW_BASE_THREAD_OWNERSHIP_H
#define UW_BASE_THREAD_OWNERSHIP_H

#include <assert.h>

#include "base/system.h"

/* `thing` has a member `owner`: the thread's uw_thread_id, which differs in a child process, or 0 for no owner. */
#ifdef UW_CHECK_OWNER
#define UW_ASSERT_OWNER(thing) assert(!(thing)->owner || (thing)->owner == uw_thread_id())
#else
#define UW_ASSERT_OWNER(thing) ((void)0)
#endif

#endif
