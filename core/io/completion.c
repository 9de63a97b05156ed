/* How an operation ends, on every backend. */
#include "io/backend.h"

void uw_finish(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    UW_ASSERT_OWNER(loop);
    operation->pending = false;
    loop->pending--;
    operation->complete(loop, operation, result);
}

void uw_complete_later(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    UW_ASSERT_OWNER(loop);
    operation->result = result;
    operation->ended = true;
    operation->next = NULL;
    *loop->completed_tail = operation;
    loop->completed_tail = &operation->next;
}
