/* Events of poll(2). Their values differ from Winsock's values, which would collide with UW_ONCE. */
#ifndef UW_WINDOWS_POLL_EVENTS_H
#define UW_WINDOWS_POLL_EVENTS_H

#define UW_EVENT_IN 0x01
#define UW_EVENT_PRI 0x02
#define UW_EVENT_OUT 0x04
#define UW_EVENT_ERR 0x08
#define UW_EVENT_HUP 0x10
#define UW_EVENT_NVAL 0x20

#endif
