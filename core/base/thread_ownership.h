/* Checks that only the owning thread uses an object. With UW_CHECK_OWNER (tests) a use by another thread aborts the
 * program. Otherwise the check compiles to nothing. */
#ifndef UW_BASE_THREAD_OWNERSHIP_H
#define UW_BASE_THREAD_OWNERSHIP_H

#include <assert.h>

#include "base/system.h"

/* `object` has a member `owner`: the thread's uw_thread_id, or 0 without an owner. Threads of a child process have
 * other ids. */
#ifdef UW_CHECK_OWNER
#define UW_ASSERT_OWNER(object) assert(!(object)->owner || (object)->owner == uw_thread_id())
#else
#define UW_ASSERT_OWNER(object) ((void)0)
#endif

#endif
