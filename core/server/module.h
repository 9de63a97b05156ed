/* A module keeps state of its own for each server, such as channels, and a composition lists the parts of a server. The
 * server knows neither protocols nor modules: its owner hands the composition to uw_server_open. */
#ifndef UW_SERVER_MODULE_H
#define UW_SERVER_MODULE_H

struct uw_protocol;
struct uw_server_context;

/* Each function may be NULL. */
struct uw_module {
    /* The loop is open, and nothing else yet. Returns 0 or -errno. */
    int (*open)(struct uw_server_context *server_context);

    /* The calling thread owns the server from now on. */
    void (*own)(struct uw_server_context *server_context);

    /* Writes the module's figures to server_context->metrics. Runs after each iteration of a server with metrics. */
    void (*measure)(struct uw_server_context *server_context);

    /* No more iterations follow: later posts of other threads fail. May run twice. */
    void (*stop)(struct uw_server_context *server_context);

    /* The server closes: the module calls its owner no more. */
    void (*mute)(struct uw_server_context *server_context);

    /* Frees the module's state. The loop is closed, and no connection exists any more. */
    void (*close)(struct uw_server_context *server_context);
};

/* Both lists end with NULL. Modules open in the list's order, and close in it, too. */
struct uw_composition {
    const struct uw_protocol *const *protocols; /* the first one serves connections without ALPN */
    const struct uw_module *const *modules;
};

#endif
