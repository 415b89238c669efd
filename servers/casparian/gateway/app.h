/**
 * app.h - what the tools and commands of casparian work with.
 *
 * casparian_app_open reads the settings and opens what the caller needs, in the order of the
 * fields; casparian_app_close closes it in the opposite order. The struct does not change between
 * the two, so threads may share it.
 */
#ifndef CASPARIAN_GATEWAY_APP_H
#define CASPARIAN_GATEWAY_APP_H

#include "cli/cli.h"
#include "gateway/audit.h"
#include "gateway/settings.h"
#include "guard/named.h"
#include "guard/rate.h"
#include "jobs/driver.h"
#include "jobs/store.h"
#include "mcp/files.h"
#include "mcp/log.h"
#include "query/query.h"

typedef struct casparian_tool casparian_tool; /* gateway/request.h */

/** What to open, as bits. */
enum casparian_parts {
    CASPARIAN_NEEDS_HOME = 1 << 0,   /* the home folder is made when it is missing */
    CASPARIAN_NEEDS_AUDIT = 1 << 1,  /* with the home */
    CASPARIAN_NEEDS_ROOTS = 1 << 2,  /* the allowed roots; with the home's folder for output */
    CASPARIAN_NEEDS_RATES = 1 << 3,  /* limits of calls */
    CASPARIAN_NEEDS_STORE = 1 << 4,  /* the state, with the home */
    CASPARIAN_NEEDS_DRIVER = 1 << 6, /* plugins, and what runs them; with the state */
    CASPARIAN_NEEDS_QUERY = 1 << 7,  /* read-only SQL over the outputs; with the state */
    CASPARIAN_NEEDS_WAITS = 1 << 5 /* the state can wake calls that wait; their data is the request,
                                       see gateway/request.h */
};

typedef struct casparian_app {
    mcp_arena *arena;
    const char *home;        /* absolute */
    const char *output;      /* where outputs go by default, absolute */
    const char *quarantine;  /* where quarantine tables go, absolute; NULL: next to their output */
    const char *config_path; /* of config.toml */
    casparian_config *config;
    casparian_audit *audit;
    casparian_store *store;
    casparian_registry *registry; /* DRIVER, as the next two */
    casparian_driver *driver;
    keys_pair *signing_key; /* of manifests; NULL: they are not signed */
    casparian_query *query;
    guard *roots; /* the folders that clients may name, without the home */
    guard_rate *rate, *expensive_rate;
    const casparian_tool *tools; /* ended by a row without a name; NULL: a command of the shell */
    const mcp_file *files;       /* the embedded ones */
    struct casparian_shell_failure *failure; /* shell/shell.h: receives more than a status says of
                                                a command; NULL: a server */
    mcp_log log;
    bool (*is_over)(void *data); /* of waits: casparian_request_is_over */
} casparian_app;

/**
 * Read the settings and open the parts.
 *
 * @param app   zero, except for `tools`, `files`, `failure`, `log` and `is_over`; close it also after a failure
 * @param line  has the options --home and --config, and others that settings are overridden by
 * @param parts enum casparian_parts
 * @return MCP_OK; statuses of casparian_config_open; MCP_E_PARAMS, MCP_E_NOT_FOUND, MCP_E_DENIED,
 *         MCP_E_IO (a root, the home or the audit log, named in the message); MCP_E_NOMEM
 */
mcp_status casparian_app_open(casparian_app *app, const cli_line *line, unsigned parts,
                              mcp_error *err);

void casparian_app_close(casparian_app *app);

/** The path of a file or folder in the home, in the app's arena. @return NULL: no memory */
const char *casparian_home_path(const casparian_app *app, const char *relative);

#endif
