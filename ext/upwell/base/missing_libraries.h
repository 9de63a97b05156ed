/* Upwell.missing_libraries. */
#ifndef RB_UPWELL_MISSING_LIBRARIES_H
#define RB_UPWELL_MISSING_LIBRARIES_H

void rb_uw_init_missing_libraries(void);

#endif
