/**
 * server.h - a server: its options, its features, its transports.
 *
 * The shortest server: fill mcp_server_options, mcp_server_new, mcp_server_add, mcp_server_stdio,
 * mcp_server_free (examples/hello.c). Zero is the safe default of every option: read-only, bounded,
 * silent. One thread makes the server and runs it; handlers run on its workers.
 */
#ifndef MCP_SERVER_H
#define MCP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/call.h"
#include "mcp/error.h"
#include "mcp/files.h"
#include "mcp/log.h"
#include "mcp/prompt.h"
#include "mcp/resource.h"
#include "mcp/schema.h"
#include "mcp/tool.h"
#include "mcp/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A server. One thread makes it, runs it and frees it. */
typedef struct mcp_server mcp_server;

/** Which name of a tool tools/list shows; tools/call always takes both (a safe name has only
 *  A-Z a-z 0-9 _: "cobre/run" is "cobre_run"). */
typedef enum mcp_tool_names {
    MCP_NAMES_CANONICAL, /* as registered */
    MCP_NAMES_SAFE,      /* every other byte replaced by '_', cut at 64 */
    MCP_NAMES_AUTO       /* canonical for 2024-11-05 and 2025-03-26, safe for later ones */
} mcp_tool_names;

/** Why a tool call is refused before its handler runs. */
typedef enum mcp_refusal {
    MCP_REFUSED_ARGUMENTS, /* they do not fit the input schema: `finding` says where */
    MCP_REFUSED_WRITES,    /* the tool writes and the server may not */
    MCP_REFUSED_BUSY       /* max_running of this MCP_LONG tool are running */
} mcp_refusal;

/**
 * Writes the refusal of a tool call in the server's own form, by mcp_call_refuse_text. Runs on the
 * loop, or on a worker where arguments are large: must not block, and several may run at once.
 *
 * @param finding for MCP_REFUSED_ARGUMENTS, else NULL
 */
typedef mcp_status mcp_refuser(mcp_call *call, mcp_refusal reason,
                               const mcp_schema_finding *finding, void *data);

/**
 * Makes arguments fit before they are checked (a number where the schema wants its text, say). Runs
 * on the loop, or on a worker where they are large: must not block, and several may run at once. Leaves *arguments alone or sets it to a value in the call's arena.
 */
typedef mcp_status mcp_fitter(mcp_call *call, const char *tool, const mcp_json **arguments,
                              void *data);

/** What a client can be shown or kept from. */
typedef enum mcp_feature {
    MCP_FEATURE_TOOL,
    MCP_FEATURE_RESOURCE, /* and templates */
    MCP_FEATURE_PROMPT
} mcp_feature;

/**
 * Whether who asks may know of a feature: what it may not is left out of lists, and a call of it is answered
 * as a call of something that does not exist; news of it is not told, though a hidden URI can be subscribed to as
 * an unknown one can. Runs on the loop, for each entry of a list, for each call, and for each client that news is
 * for: must not block. It may ask mcp_call_principal, mcp_call_has_scopes and the like.
 *
 * @param name as registered: the tool's or prompt's name, the URI or its template
 */
typedef bool mcp_visibility(const mcp_call *call, mcp_feature feature, const char *name,
                            void *data);

/** Who the server is, what it may do, and its bounds. */
typedef struct mcp_server_options {
    /* who we are */
    const char *name;         /* serverInfo.name; required */
    const char *version;      /* serverInfo.version; required */
    const char *title;        /* from 2025-06-18; may be NULL */
    const char *description;  /* from 2025-11-25; may be NULL */
    const char *website_url;  /* from 2025-11-25; may be NULL */
    const char *icons;        /* from 2025-11-25: the text of an array, [{"src": "data:image/png;base64,..."}];
                                 may be NULL */
    const char *instructions; /* for the model; may be NULL */

    /* what we speak */
    mcp_revision oldest;           /* NONE: 2024-11-05 */
    mcp_revision newest;           /* NONE: the newest */
    mcp_revision without_initialize; /* serves a request that names none and comes before `initialize`;
                                        NONE: 2025-03-26. Within the two above */
    bool strict_version;           /* refuse an unknown revision instead of offering another */
    mcp_tool_names tool_names;     /* which names tools/list shows */

    /* what we offer beside features */
    const char *state_secret; /* signs what clients keep for us between two requests; one for all processes
                                 that serve the same clients. At least 32 bytes; NULL: a random one */
    const char *extensions;   /* told from 2026-07-28: the text of an object of extensions and their
                                 settings, {"io.modelcontextprotocol/ui": {}}; may be NULL */
    bool lists_change;        /* features are offered and withdrawn while serving, see mcp_server_offer */
    bool subscriptions;       /* clients may ask for news of resources, see mcp_server_updated */
    bool logging;             /* handlers may send log messages to clients, by mcp_call_log */

    /* what is allowed */
    bool allow_write;       /* false: MCP_WRITES tools are listed with a note and refused */
    const char *write_note; /* that note; NULL: "Write operations are disabled." */
    bool says_success;   /* a tool's result that is no error says isError false: contracts differ */
    mcp_refuser *refuse; /* NULL: a plain text */
    mcp_fitter *fit;     /* NULL: arguments are checked as they came */
    mcp_visibility *visible; /* NULL: everybody may know of everything */
    bool hide_by_scope;  /* hide what the client's token has no scopes for, instead of refusing it */
    void *data;          /* given to refuse, fit and visible */

    /* bounds; 0 means the default in the comment */
    size_t message_max_bytes; /* one message in: 4 MiB */
    size_t reply_max_bytes;   /* one message out: 16 MiB; an answer beyond it becomes an error */
    size_t arena_max_bytes;   /* a call's memory: 64 MiB */
    size_t calls_max_bytes;   /* the memory of all calls together: 1 GiB, or one call's where that is more; a
                                 call that gets none is refused as busy. As much may the bodies take that are
                                 being read over HTTP, and as much large answers that wait for readers */
    int calls_max_running;    /* of one client at once: 32; more wait */
    int calls_max_queued;     /* 256; then the client is not read until one ends */
    int short_threads;        /* threads of the short lane: max(2, cores) */
    int heed_ms;              /* a handler that goes on for so long after it was told to stop is logged and
                                 counted, and another thread takes its place until it ends: 5000 */
    int spare_threads;        /* of each lane, for such places: 8 */
    int spin_us;              /* how long the loop looks for a message before it sleeps, while clients
                                 send that fast: 100; negative: it sleeps at once */
    int timeout_ms;           /* of a short call: 60000 */
    int grace_ms;             /* for running calls after the end of input or SIGTERM: 10000 */
    int tasks_max;            /* kept at once, of all clients: 1000; one more is refused */
    int tasks_max_each;       /* of one client, where it can be told from others: 100 */
    size_t tasks_max_bytes;   /* of what they ended with: 64 MiB; one that is beyond it fails */
    int task_ttl_ms;          /* how long a task is kept since it began: 3600000; a client of 2025-11-25
                                 may ask for less. One that works is always kept */

    mcp_log log;              /* zero: silent */
} mcp_server_options;

/** Every field at its safe default. */
/* clang-format off */
#define MCP_SERVER_OPTIONS_INIT { 0 }
/* clang-format on */

/** A set of features: tables that end with an empty row, and the files that describe them. */
typedef struct mcp_features {
    const mcp_file *files;         /* "tools/NAME.json", "resources.json", "prompts/NAME.md" */
    const mcp_tool *tools;         /* may be NULL */
    const mcp_resource *resources; /* may be NULL */
    const mcp_prompt *prompts;     /* may be NULL */
    const mcp_completion *completions; /* for prompts and templates of this or earlier sets; may be NULL */
    void *data;                    /* given to every handler of the set */
} mcp_features;

/**
 * A server without features.
 *
 * @param out     yours, free it with mcp_server_free
 * @param options copied; the strings are borrowed while the server lives
 * @return MCP_OK; MCP_E_PARAMS (an option that cannot be, named); MCP_E_NOMEM
 */
mcp_status mcp_server_new(mcp_server **out, const mcp_server_options *options, mcp_error *err);

/**
 * Add features, before serving. A capability is declared when its table is given, even when empty.
 *
 * @param features the struct is not kept; tables, files and data are borrowed while the server lives
 * @return MCP_OK; MCP_E_PARAMS: a row without a file, a file without a row, a schema that does not
 *         compile, two tools with one safe name; the message names the file
 */
mcp_status mcp_server_add(mcp_server *server, const mcp_features *features, mcp_error *err);

/**
 * Offer further features while serving; calls that are being answered do not see them. Any thread, also
 * from a handler. Clients that want to know are told that the lists have changed. The option lists_change
 * must be set.
 *
 * @param features borrowed, with its tables, files and data, until the server is freed
 * @return as mcp_server_add; MCP_E_UNSUPPORTED: lists_change is not set. On an error nothing has changed
 */
mcp_status mcp_server_offer(mcp_server *server, const mcp_features *features, mcp_error *err);

/** The server that answers a call. */
mcp_server *mcp_call_server(const mcp_call *call);

/** Withdraw what was offered, by the same pointer. Calls that use it are answered; then it may be offered
 *  again. @return MCP_OK; MCP_E_PARAMS: it is not offered; MCP_E_NOMEM */
mcp_status mcp_server_withdraw(mcp_server *server, const mcp_features *features, mcp_error *err);

/** The resource of that URI has changed: tell clients that asked for news of it. Any thread. */
mcp_status mcp_server_updated(mcp_server *server, const char *uri, mcp_error *err);

/**
 * What a user was sent to an address for (mcp_call_ask_url, mcp_call_require_url) is done: tell the client that
 * sent them, where it can be told (within a session of 2025-11-25). Any thread.
 *
 * @return MCP_OK, also when nobody waits for it; MCP_E_LIMIT (too much is new at once); MCP_E_NOMEM
 */
mcp_status mcp_server_elicited(mcp_server *server, const char *id, mcp_error *err);

/**
 * Serve one client on standard input and output until input ends and all is answered, or SIGTERM or
 * SIGINT asks to stop, or the client's end of standard output is gone. Blocks. Only protocol messages
 * reach the client, and only the library reads its messages: while this runs, descriptor 1 points to
 * standard error and descriptor 0 to /dev/null. Signals keep their earlier handling afterwards. A
 * second signal cancels what runs. Calls that go on beyond the grace time are answered with an error
 * and left behind; mcp_server_free then keeps what they may still use.
 *
 * @return MCP_OK; MCP_E_IO (the descriptors cannot be used); MCP_E_NOMEM (to begin with, or for an answer: the
 *         client sees the end of it then, rather than wait)
 */
mcp_status mcp_server_stdio(mcp_server *server, mcp_error *err);

/** Free the server; it must not be serving. NULL is fine. */
void mcp_server_free(mcp_server *server);

#ifdef __cplusplus
}
#endif

#endif
