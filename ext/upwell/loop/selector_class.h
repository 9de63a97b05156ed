/* Upwell::Selector: which of the registered IOs are ready. */
#ifndef RB_UPWELL_SELECTOR_CLASS_H
#define RB_UPWELL_SELECTOR_CLASS_H

void rb_uw_init_selector(void);

#endif
