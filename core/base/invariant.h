/* What must hold whatever a client or a handler does. Where UW_CHECK_INVARIANTS is defined, as for tests and fuzzing,
 * it is checked, and its breach ends the program; elsewhere this is nothing. */
#ifndef UW_BASE_INVARIANT_H
#define UW_BASE_INVARIANT_H

#include <assert.h>

#ifdef UW_CHECK_INVARIANTS
#define UW_INVARIANT(condition) assert(condition)
#else
#define UW_INVARIANT(condition) ((void)sizeof(condition))
#endif

#endif
