/**
 * client.h - a client of MCP servers: their tools, over a child's standard streams or over
 * Streamable HTTP.
 *
 * A `client` is one server. It connects at the first call and again at the next call after the
 * connection was lost: it starts the child, or begins a session. The newest revision that both
 * sides have is spoken: 2026-07-28, or by `initialize` 2025-11-25, 2025-06-18, 2025-03-26 and
 * 2024-11-05. Any number of threads may call at once over the one connection.
 *
 *     client_result result;
 *     client_call call = { .name = "echo", .arguments = arguments, .timeout_ms = 10000 };
 *     mcp_status st = client_call_tool(&result, server, arena, &call, &err);
 *     if (st == MCP_OK && result.result)
 *         use(mcp_json_get(result.result, "content"));
 *     else if (result.may_have_run)
 *         effect_is_unknown();
 *
 * Of the server's own requests `ping` is answered; sampling, elicitation, roots and all others are
 * refused with -32601. A server that sends garbage, ids that nobody asked for, an answer twice or
 * nothing at all costs a call at most its deadline. Messages of this module have the server's label
 * and the cause; they never have a token, a URL's query or the text of the server.
 */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fetch/fetch.h"
#include "mcp/json.h"
#include "proc/proc.h"

#define CLIENT_MESSAGE_MAX (16 << 20)
#define CLIENT_TIMEOUT_MS 60000
#define CLIENT_OPEN_MS 30000
#define CLIENT_TOOLS_MAX 10000
#define CLIENT_PAGES_MAX 1000
#define CLIENT_REVISION_SIZE 11

typedef struct client client;

/** The server, by `child` or by `url`, and what it is shown. Zero is the default; copied, but for
 * `pool` and what `child` points to. */
typedef struct client_options {
    const char *label;   /* what messages call the server; NULL: "the MCP server" */
    const char *name;    /* of the calling program; NULL: "causeway" */
    const char *version; /* of it; NULL: that of this project */

    /* A child: its pointers are borrowed for the life of the client. `in` and `out` are pipes
     * whatever it says, and it has no time limit. */
    const proc_spec *child;

    fetch *pool;        /* Streamable HTTP: borrowed; its egress list holds */
    const char *url;    /* http or https */
    const char *bearer; /* a token for the Authorization header; NULL: none */

    int64_t open_ms;          /* for starting and the handshake; 0: CLIENT_OPEN_MS */
    size_t message_max_bytes; /* of one message; 0: CLIENT_MESSAGE_MAX */

    /* The server's tools have changed. Runs on a thread of the client, which it must not end and
     * not call; NULL: changes are not asked for. */
    void (*on_list_changed)(void *data);
    void *data;
} client_options;

/**
 * Make a client. Nothing is connected or started.
 *
 * @param out yours, end it with client_free
 * @return MCP_OK; MCP_E_PARAMS (the URL, a token that no header can have); MCP_E_DENIED (as
 *         fetch_url_read); MCP_E_NOMEM; MCP_E_IO (no descriptor)
 */
mcp_status client_new(client **out, const client_options *options, mcp_error *err);

/** End the session or the child. No call may be running. NULL is allowed. */
void client_free(client *self);

/** The revision of the connection as text; "" while there is none. */
void client_revision(client *self, char out[CLIENT_REVISION_SIZE]);

/** How long a call may take, and who may stop it. */
typedef struct client_wait {
    int64_t timeout_ms;              /* 0: CLIENT_TIMEOUT_MS; connecting included */
    bool (*should_stop)(void *data); /* asked about every 50 ms; may be NULL */
    void *data;
} client_wait;

/** The tools of a server, each the object of `tools/list` as it was sent. */
typedef struct client_tools {
    const mcp_json *const *items;
    size_t count;
    size_t left_out; /* entries of the list without a name or an inputSchema: they are no tools */
} client_tools;

/**
 * Fetch all pages of the list of tools.
 *
 * @param out  the arena's
 * @param wait NULL: the defaults
 * @return MCP_OK; MCP_E_SCHEMA (an answer that is no list of tools); MCP_E_LIMIT (more than
 *         CLIENT_TOOLS_MAX or CLIENT_PAGES_MAX, or the arena is full); MCP_E_INTERNAL (the server
 *         answered with an error); and as client_call_tool
 */
mcp_status client_list_tools(client_tools *out, client *self, mcp_arena *arena,
                             const client_wait *wait, mcp_error *err);

/** One call. All pointers are borrowed for it. */
typedef struct client_call {
    const char *name;
    const mcp_json *arguments; /* an object; NULL: {} */
    const mcp_json *meta;      /* members for `_meta`, an object; may be NULL */
    const mcp_json *schema;    /* the tool's inputSchema; NULL: arguments that it marks by
                                  x-mcp-header cannot be sent over HTTP in 2026-07-28 */
    int64_t timeout_ms;        /* 0: CLIENT_TIMEOUT_MS; connecting included */
    bool (*should_stop)(void *data);
    /* Progress; `total` is NaN where there is none, `message` may be NULL. On any thread of the
     * client, but never after client_call_tool has returned. May be NULL. */
    void (*on_progress)(void *data, double progress, double total, const char *message);
    void *data; /* of both */
} client_call;

/** What came of a call. */
typedef struct client_result {
    bool may_have_run;      /* the server may have received the call and begun it */
    const mcp_json *result; /* the CallToolResult, also one with isError; or NULL */
    const mcp_json *error;  /* the error of JSON-RPC: code, message, data; or NULL */
} client_result;

/**
 * Call a tool. When its time is up or it is stopped, the server is notified of the cancellation.
 *
 * @param out set in any case: where the call failed, `may_have_run` tells whether the tool may have
 *            had an effect. Where it is false, the server certainly did not begin it.
 * @return MCP_OK: the server answered, one of `result` and `error` is set
 *         MCP_E_TIMEOUT; MCP_E_STOPPED (by should_stop)
 *         MCP_E_IO: not connected, or the connection or the child ended before the answer
 *         MCP_E_DENIED: the egress list, or the server does not accept the token
 *         MCP_E_BUSY: the server says so (429, 503); MCP_E_NOT_FOUND: no such program
 *         MCP_E_LIMIT: a message above its bound; MCP_E_SCHEMA: an answer that is none
 *         MCP_E_REVISION: no revision in common; MCP_E_UNSUPPORTED: the tool requests input
 *         MCP_E_PARAMS: the call itself; MCP_E_NOMEM
 */
mcp_status client_call_tool(client_result *out, client *self, mcp_arena *arena,
                            const client_call *call, mcp_error *err);

#endif
