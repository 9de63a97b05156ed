/* The hooks for reading, writing and waiting for an IO. A call that can succeed at once does so. Any other call becomes
 * an operation of the loop; with io_uring the kernel itself reads and writes while others run. */
#ifndef RB_UPWELL_SCHEDULER_IO_H
#define RB_UPWELL_SCHEDULER_IO_H

void rb_uw_init_scheduler_io(void);

#endif
