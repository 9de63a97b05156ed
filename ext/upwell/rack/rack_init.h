#ifndef RB_UPWELL_RACK_INIT_H
#define RB_UPWELL_RACK_INIT_H

/* Initializes the files of this directory. */
void rb_uw_init_rack(void);

#endif
