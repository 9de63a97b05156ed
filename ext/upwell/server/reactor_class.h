/* Upwell::Reactor: a server of the core that answers with a Rack application. */
#ifndef RB_UPWELL_REACTOR_CLASS_H
#define RB_UPWELL_REACTOR_CLASS_H

void rb_uw_init_reactor(void);

#endif
