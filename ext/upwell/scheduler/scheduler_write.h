/* Writes in pieces, such as a line and its end in `puts`. Ruby 3.1 passes the pieces on one by one and waits after
 * each, so that other fibers' writes would come between. */
#ifndef RB_UPWELL_SCHEDULER_WRITE_H
#define RB_UPWELL_SCHEDULER_WRITE_H

void rb_uw_init_scheduler_write(void);

#endif
