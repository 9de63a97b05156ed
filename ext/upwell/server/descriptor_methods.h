/* Calls on descriptors for the server in Ruby. */
#ifndef RB_UPWELL_DESCRIPTOR_METHODS_H
#define RB_UPWELL_DESCRIPTOR_METHODS_H

void rb_uw_init_descriptor(void);

#endif
