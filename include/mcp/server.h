/**
 * server.h - a server: its options, features and transports.
 *
 * The shortest server: fill mcp_server_options, then mcp_server_new, mcp_server_add,
 * mcp_server_stdio and mcp_server_free (examples/hello.c). Zero is the safe default of every
 * option: read-only, with limits, silent. One thread creates the server and runs it; handlers run
 * on its worker threads.
 */
#ifndef MCP_SERVER_H
#define MCP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/** A server. One thread creates it, runs it and frees it. */
typedef struct mcp_server mcp_server;

/** The name of a tool in tools/list. tools/call always accepts both names; a safe name has only
 *  A-Z a-z 0-9 _ ("cobre/run" is "cobre_run"). */
typedef enum mcp_tool_names {
    MCP_NAMES_CANONICAL, /* as registered */
    MCP_NAMES_SAFE,      /* every other byte replaced by '_', cut at 64 */
    MCP_NAMES_AUTO       /* canonical for 2024-11-05 and 2025-03-26, safe for later revisions */
} mcp_tool_names;

/** The reason why a tool call is refused before its handler runs. */
typedef enum mcp_refusal {
    MCP_REFUSED_ARGUMENTS, /* they do not match the input schema; `finding` says where */
    MCP_REFUSED_WRITES,    /* the tool writes and the server must not */
    MCP_REFUSED_BUSY       /* max_running calls of this MCP_LONG tool are running */
} mcp_refusal;

/**
 * Writes the refusal of a tool call in the server's own form. Runs on the loop, or on a worker when
 * the arguments are large: must not block, and several may run at once. It may use mcp_call_name,
 * mcp_call_arguments, mcp_call_revision and the like.
 *
 * What it does                        what the client gets
 *   mcp_call_tool_error_text, MCP_OK    a tool result with isError true
 *   nothing, returns MCP_OK             the same with the library's text
 *   returns another status              a JSON-RPC error with the status's code and
 *                                       mcp_call_error's message: MCP_E_PARAMS is -32602,
 *                                       MCP_E_NOT_FOUND -32603; see call.h
 *
 * @param finding for MCP_REFUSED_ARGUMENTS, else NULL
 */
typedef mcp_status mcp_error_formatter(mcp_call *call, mcp_refusal reason,
                                       const mcp_schema_finding *finding, void *data);

/**
 * Converts arguments before they are checked against the schema (a number to a string, for
 * example). Runs on the loop, or on a worker when the arguments are large: must not block, and
 * several may run at once. It may set *arguments to a value in the call's arena.
 */
typedef mcp_status mcp_argument_normalizer(mcp_call *call, const char *tool,
                                           const mcp_json **arguments, void *data);

/** The kind of a feature that can be hidden from clients. */
typedef enum mcp_feature {
    MCP_FEATURE_TOOL,
    MCP_FEATURE_RESOURCE, /* and templates */
    MCP_FEATURE_PROMPT
} mcp_feature;

/**
 * Whether a feature is visible to the client of a call. A hidden feature is left out of lists, a
 * call of it is answered like a call of an unknown one, and its changes are not notified; a hidden
 * URI can be subscribed to, as an unknown one can. Runs on the loop for each entry of a list, for
 * each call, and for each client of a notification: must not block. It may use mcp_call_principal,
 * mcp_call_has_scopes and the like.
 *
 * @param name as registered: the tool's or prompt's name, the URI or the URI template
 */
typedef bool mcp_visibility(const mcp_call *call, mcp_feature feature, const char *name,
                            void *data);

/** The reason why a feature is hidden from a client. */
typedef enum mcp_hiding {
    MCP_HIDDEN_BY_SERVER, /* mcp_visibility said no */
    MCP_HIDDEN_BY_SCOPE   /* hide_by_scope, and the token lacks one of its scopes */
} mcp_hiding;

/**
 * A client has called a tool that is hidden from it, and gets the answer of an unknown tool. Runs
 * on the loop before the answer, so its time is part of the answer's: it must not block, and should
 * only note the call for another thread. It may use mcp_call_principal, mcp_call_arguments (not
 * checked against the schema), mcp_call_revision and the like, and must not answer the call.
 *
 * @param name the tool's name as registered
 */
typedef void mcp_hidden_call(const mcp_call *call, const char *name, mcp_hiding reason, void *data);

/** A call that has ended: it was answered, its time limit has passed, or it was cancelled. */
typedef struct mcp_ended {
    const char *method;     /* of MCP, or of HTTP for a route; "other": one that there is not */
    const char *name;       /* of the tool as registered, or the route's path; NULL: neither */
    bool is_route;          /* a REST route, not MCP */
    bool is_task;           /* it continued as a task: its id is no longer the client's */
    const char *error_type; /* NULL: none; "tool_error" (isError), the JSON-RPC code ("-32602"),
                               "timeout", "cancelled"; of a route HTTP's status ("404") */
    const char *session_id; /* NULL: none */
    const char *transport;  /* "pipe", "tcp" or "unix" */
    int64_t duration_ns;    /* since its message came */
} mcp_ended;

/**
 * A call has ended. Runs on the loop, before the answer is sent: it must not block. It may use
 * mcp_call_trace, mcp_call_id, mcp_call_revision and mcp_call_principal, and nothing else of the
 * call, whose handler may still run.
 *
 * @param ended not kept after it returns
 */
typedef void mcp_ended_hook(const mcp_call *call, const mcp_ended *ended, void *data);

/** Limits. 0 means the default in the comment. */
typedef struct mcp_limits {
    size_t message_max_bytes; /* a message from a client: 4 MiB */
    size_t reply_max_bytes;   /* a message to a client: 16 MiB; a larger answer becomes an error */
    size_t arena_max_bytes;   /* memory of a call: 64 MiB */
    /** Memory of all calls together: 1 GiB, or arena_max_bytes when that is more; a call beyond it
     *  is refused as busy. The same limit applies to all bodies being received over HTTP, and to
     *  all large answers that wait for their clients. */
    size_t calls_max_bytes;
    int calls_max_running; /* calls of one client at once: 32; more wait */
    int calls_max_queued;  /* waiting calls of one client: 256; then it is not read */
    int short_threads;     /* threads for calls of tools other than MCP_LONG: max(2, cores) */
    /** A handler that still runs this long after it was asked to stop is logged and counted, and
     *  another thread replaces its thread until it ends: 5000. */
    int stuck_handler_ms;
    int replacement_threads; /* such threads, each for short and long calls: 8 */
    /** How long the loop polls before it sleeps, while clients send that fast: 100; negative: it
     *  sleeps at once. */
    int spin_us;
    int timeout_ms;           /* time limit of a short call: 60000 */
    int grace_ms;             /* of running calls after the end of input or SIGTERM: 10000 */
    int tasks_max;            /* stored tasks of all clients: 1000; more are refused */
    int tasks_max_per_client; /* of one client, when clients can be told apart: 100 */
    size_t tasks_max_bytes;   /* results of all tasks: 64 MiB; a task beyond it fails */
    /** Lifetime of a task after its creation: 3600000. A client of 2025-11-25 may request less. A
     *  task in progress is always kept. */
    int task_ttl_ms;
} mcp_limits;

/** Identity, protocol, features, permissions and limits of a server. */
typedef struct mcp_server_options {
    /* identity */
    const char *name;        /* serverInfo.name; required */
    const char *version;     /* serverInfo.version; required */
    const char *title;       /* from 2025-06-18; may be NULL */
    const char *description; /* from 2025-11-25; may be NULL */
    const char *website_url; /* from 2025-11-25; may be NULL */
    /** From 2025-11-25: the text of an array, [{"src": "data:image/png;base64,..."}]; may be
     *  NULL. Sent with the answers of initialize and server/discover, not with every result. */
    const char *icons;
    const char *instructions; /* for the model; may be NULL */

    /* protocol */
    mcp_revision oldest; /* NONE: 2024-11-05 */
    mcp_revision newest; /* NONE: the newest */
    /** The revision of a request that names none and precedes `initialize`; NONE: 2025-03-26.
     *  Within `oldest` and `newest`. */
    mcp_revision default_revision;
    /** The revision that `initialize` offers to a client that asks for one that is not served;
     *  NONE: the newest with sessions. Within `oldest` and `newest`. */
    mcp_revision offered_revision;
    bool strict_version;       /* refuse an unknown revision instead of offering another */
    mcp_tool_names tool_names; /* the names in tools/list */
    bool keep_schema_uri; /* tools/list sends the `$schema` of schemas. false: it is left out, since
                             2020-12 is the default and many validators refuse other names */

    /* optional features */
    /** The key that signs state which clients keep between two requests (`requestState`); the same
     *  for all processes that serve the same clients. At least 32 bytes; NULL: a random one. */
    const char *state_secret;
    /** Extensions, declared from 2026-07-28: the text of an object of extensions and their
     *  settings, {"io.modelcontextprotocol/ui": {}}; may be NULL. */
    const char *extensions;
    bool list_changed;  /* features change while serving, see mcp_server_add_features */
    bool subscriptions; /* clients may subscribe to resources, see mcp_server_resource_updated */
    bool logging;       /* handlers may send log messages to clients, by mcp_call_log */

    /* permissions and checks */
    bool allow_write;       /* false: MCP_WRITES tools are listed with a note and refused */
    const char *write_note; /* that note; NULL: "Write operations are disabled." */
    bool explicit_is_error; /* send isError false with successful results; contracts differ */
    bool bare_capabilities; /* leave false flags out: "tools":{}; contracts differ here, too */
    bool skip_output_check; /* do not check results of tools against their outputSchema (tool.h) */
    mcp_error_formatter *error_formatter;         /* NULL: plain text */
    mcp_argument_normalizer *normalize_arguments; /* NULL: arguments are checked unchanged */
    mcp_visibility *visible;                      /* NULL: every client sees every feature */
    mcp_hidden_call *hidden_called;               /* NULL: such calls are not reported */
    bool hide_by_scope; /* hide features that the token lacks scopes for instead of refusing them */
    void *data; /* passed to error_formatter, normalize_arguments, visible and hidden_called */

    /* observation */
    mcp_ended_hook *ended; /* NULL: nothing is observed */
    void *ended_data;      /* passed to it */

    mcp_limits limits; /* zero: the default of each */
    mcp_log log;       /* zero: silent */
} mcp_server_options;

/** Every field at its safe default. */
#define MCP_SERVER_OPTIONS_INIT MCP_ZERO_INIT

/** A set of features: tables, each ending with an empty row, and the files that describe them. */
typedef struct mcp_features {
    const mcp_file *files;         /* "tools/NAME.json", "resources.json", "prompts/NAME.md" */
    const mcp_tool *tools;         /* may be NULL */
    const mcp_resource *resources; /* may be NULL */
    const mcp_prompt *prompts;     /* may be NULL */
    /** For prompts and templates of this set or an earlier one; may be NULL. */
    const mcp_completion *completions;
    void *data; /* passed to every handler of the set */
} mcp_features;

/** No feature. */
#define MCP_FEATURES_INIT MCP_ZERO_INIT

/**
 * Create a server without features.
 *
 * @param out     yours, free it with mcp_server_free
 * @param options copied; the strings are borrowed while the server lives
 * @return MCP_OK; MCP_E_PARAMS (an invalid option, named in the message); MCP_E_NOMEM
 */
mcp_status mcp_server_new(mcp_server **out, const mcp_server_options *options, mcp_error *err);

/**
 * Add features before serving. A table, even an empty one, declares its capability.
 *
 * @param features the struct is not kept; tables, files and data are borrowed while the server
 *                 lives
 * @return MCP_OK; MCP_E_PARAMS: a row without a file, a file without a row, a member of another
 *         type than the protocol's, a schema that does not compile, two tools with one safe name;
 *         the message names the file; MCP_E_BUSY: the server serves
 */
mcp_status mcp_server_add(mcp_server *server, const mcp_features *features, mcp_error *err);

/**
 * Add features while serving; running calls are not affected. Any thread, also from a handler.
 * Clients get list_changed notifications. Requires the option list_changed.
 *
 * @param features borrowed, with its tables, files and data, until the server is freed
 * @return as mcp_server_add; MCP_E_UNSUPPORTED: list_changed is not set. An error changes nothing
 */
mcp_status mcp_server_add_features(mcp_server *server, const mcp_features *features,
                                   mcp_error *err);

/** The server of a call. */
mcp_server *mcp_call_server(const mcp_call *call);

/** Remove features that were added while serving, by the same pointer. Running calls are still
 *  answered; the set may be added again after them. Any thread. @return MCP_OK; MCP_E_PARAMS: the
 *  set was not added; MCP_E_NOMEM */
mcp_status mcp_server_remove_features(mcp_server *server, const mcp_features *features,
                                      mcp_error *err);

/**
 * Put features in the place of others that were added while serving, in one step: no call sees the
 * server with neither or with both.
 *
 * @param old      as for mcp_server_remove_features; it may be added again later
 * @param features as for mcp_server_add_features
 * @return as mcp_server_add_features; MCP_E_PARAMS also: `old` was not added. An error changes
 *         nothing
 */
mcp_status mcp_server_replace_features(mcp_server *server, const mcp_features *old,
                                       const mcp_features *features, mcp_error *err);

/**
 * Notify clients that `visible` judges features of a kind differently now: what they see has
 * changed, and nothing was added or removed. Any thread.
 *
 * @return MCP_OK; MCP_E_UNSUPPORTED: list_changed is not set; MCP_E_PARAMS: no such kind
 */
mcp_status mcp_server_visibility_changed(mcp_server *server, mcp_feature kind, mcp_error *err);

/** Notify the subscribers of a resource that it has changed. Any thread. */
mcp_status mcp_server_resource_updated(mcp_server *server, const char *uri, mcp_error *err);

/**
 * Notify the client that a URL elicitation (mcp_call_elicit_url, mcp_call_require_url_elicitation)
 * is complete. Possible within a session of 2025-11-25. Any thread.
 *
 * @return MCP_OK, also when no client waits for it; MCP_E_LIMIT (too many notifications are
 *         pending); MCP_E_NOMEM
 */
mcp_status mcp_server_elicitation_complete(mcp_server *server, const char *id, mcp_error *err);

/**
 * Serve one client on standard input and output until the input ends and all calls are answered, or
 * SIGTERM or SIGINT arrives, or the client closes standard output. Blocks. Only protocol messages
 * are written to the client, and only the library reads its messages: while this runs, descriptor 1
 * refers to standard error and descriptor 0 to /dev/null. The earlier signal handlers are restored
 * afterwards. A second signal cancels running calls. Calls that run beyond the grace time are
 * answered with an error and abandoned; mcp_server_free then keeps the memory that they may still
 * use.
 *
 * @return MCP_OK; MCP_E_IO (the descriptors cannot be used, or fail while this runs: a full disk, a
 *         broken device; not a client that closes its end); MCP_E_BUSY (the server serves already,
 *         by this function or mcp_server_http, or calls of an earlier time were abandoned); MCP_E_NOMEM (at the start, or for an answer: the
 *         client then sees the end of output instead of waiting)
 */
mcp_status mcp_server_stdio(mcp_server *server, mcp_error *err);

/**
 * Make mcp_server_stdio or mcp_server_http return, as SIGTERM does: running calls are asked to stop
 * and are answered within the grace time. Any thread, also a handler's; not a signal handler.
 * Returns at once; further calls change nothing. A server that does not serve yet ends as soon as
 * it begins to. NULL is allowed.
 */
void mcp_server_stop(mcp_server *server);

/** Free the server; it must not be serving. NULL is allowed. */
void mcp_server_free(mcp_server *server);

#ifdef __cplusplus
}
#endif

#endif
