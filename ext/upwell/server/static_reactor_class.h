/* Upwell::StaticReactor: a server of the core that answers with files. */
#ifndef RB_UPWELL_STATIC_REACTOR_CLASS_H
#define RB_UPWELL_STATIC_REACTOR_CLASS_H

void rb_uw_init_static_reactor(void);

#endif
