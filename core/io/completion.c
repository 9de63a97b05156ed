/* Completes operations, on every backend. */
#include "base/invariant.h"
#include "io/backend.h"

void uw_finish(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    UW_ASSERT_OWNER(loop);
    UW_INVARIANT(operation->pending && loop->pending > 0);
    operation->pending = false;
    loop->pending--;
    operation->complete(loop, operation, result);
}

void uw_complete_later(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    UW_ASSERT_OWNER(loop);
    UW_INVARIANT(operation->pending && !operation->ended);
    operation->result = result;
    operation->ended = true;
    operation->next = NULL;
    *loop->completed_tail = operation;
    loop->completed_tail = &operation->next;
}
