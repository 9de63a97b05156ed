/* Includes liburing. A build that loads liburing lists here its functions that are not inline. */
#ifndef UW_IO_LIBURING_LIBRARY_H
#define UW_IO_LIBURING_LIBRARY_H

#include <liburing.h>

#ifdef UW_LOADS_LIBURING

#include "base/shared_library.h"

/* Returns NULL, or a sentence that explains why the library is missing. Call this before any liburing function. */
const char *uw_liburing_missing(void);

#define UW_LIBURING_FUNCTIONS(X) \
    X(__io_uring_sqring_wait) \
    X(io_uring_peek_batch_cqe) \
    X(io_uring_queue_exit) \
    X(io_uring_queue_init_params) \
    X(io_uring_register_buf_ring) \
    X(io_uring_submit) \
    X(io_uring_submit_and_get_events) \
    X(io_uring_submit_and_wait) \
    X(io_uring_submit_and_wait_timeout)

struct uw_liburing {
    UW_LIBURING_FUNCTIONS(UW_SHARED_LIBRARY_POINTER)
};

extern struct uw_liburing uw_liburing;

#define __io_uring_sqring_wait uw_liburing.__io_uring_sqring_wait
#define io_uring_peek_batch_cqe uw_liburing.io_uring_peek_batch_cqe
#define io_uring_queue_exit uw_liburing.io_uring_queue_exit
#define io_uring_queue_init_params uw_liburing.io_uring_queue_init_params
#define io_uring_register_buf_ring uw_liburing.io_uring_register_buf_ring
#define io_uring_submit uw_liburing.io_uring_submit
#define io_uring_submit_and_get_events uw_liburing.io_uring_submit_and_get_events
#define io_uring_submit_and_wait uw_liburing.io_uring_submit_and_wait
#define io_uring_submit_and_wait_timeout uw_liburing.io_uring_submit_and_wait_timeout

#else

static inline const char *uw_liburing_missing(void)
{
    return NULL;
}

#endif
#endif
