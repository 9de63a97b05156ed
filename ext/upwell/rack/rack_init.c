#include "rack/rack_init.h"

#include "rack/answer.h"
#include "rack/client_channels.h"
#include "rack/client_class.h"
#include "rack/client_events.h"
#include "rack/client_handler.h"
#include "rack/client_upgrade.h"
#include "rack/early_hints_class.h"
#include "rack/exchange.h"
#include "rack/hijack_class.h"
#include "rack/hijack_detach.h"
#include "rack/input_class.h"
#include "rack/rack_body.h"
#include "rack/rack_env.h"
#include "rack/rack_protocol.h"
#include "rack/rack_response.h"
#include "rack/retained_env.h"
#include "rack/stream_class.h"
#include "rack/to_path_file.h"

static void init_clients(void)
{
    rb_uw_init_upgrade();
    rb_uw_init_retained_env(); /* after the callables */
    rb_uw_init_client_class();
    rb_uw_init_client_channels(); /* after the class */
    rb_uw_init_client_events();
    rb_uw_init_client_handler();
}

void rb_uw_init_rack(void)
{
    rb_uw_init_input();
    rb_uw_init_hijack();
    rb_uw_init_early_hints();
    rb_uw_init_stream();
    rb_uw_init_env();
    rb_uw_init_response();
    rb_uw_init_body_file();
    rb_uw_init_body();
    rb_uw_init_protocol();
    rb_uw_init_detach();
    rb_uw_init_exchange();
    rb_uw_init_answer();
    init_clients();
}
