/* Checks a condition that no client and no handler can make false. With UW_CHECK_INVARIANTS (tests, fuzzing) a
 * violation aborts the program. Otherwise the check compiles to nothing. */
#ifndef UW_BASE_INVARIANT_H
#define UW_BASE_INVARIANT_H

#include <assert.h>

#ifdef UW_CHECK_INVARIANTS
#define UW_INVARIANT(condition) assert(condition)
#else
#define UW_INVARIANT(condition) ((void)sizeof(condition))
#endif

#endif
