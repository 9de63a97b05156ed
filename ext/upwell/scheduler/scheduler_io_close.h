/* An IO that is closed while fibers wait for it: they get an IOError, as threads do. When it is reopened, they wait for
 * the new file. */
#ifndef RB_UPWELL_SCHEDULER_IO_CLOSE_H
#define RB_UPWELL_SCHEDULER_IO_CLOSE_H

void rb_uw_init_scheduler_io_close(void);

#endif
