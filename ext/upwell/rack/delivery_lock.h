/* Use of a delivery by threads that do not run its request. */
#ifndef RB_UPWELL_DELIVERY_LOCK_H
#define RB_UPWELL_DELIVERY_LOCK_H

#include "rack/delivery.h"

/* A Mutex that a thread locks while it uses the delivery and may wait. The request does not end before. */
VALUE rb_uw_delivery_lock(struct rb_uw_delivery *delivery);

/* Waits until no thread uses the delivery, whose lock may be nil. Exceptions raised into the thread meanwhile are
 * raised afterwards. */
VALUE rb_uw_await_users(VALUE lock);

#endif
