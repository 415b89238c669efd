/**
 * upstream.h - one MCP server behind the proxy: its connection, and its tools as features.
 */
#ifndef PORTARIUM_PROXY_UPSTREAM_H
#define PORTARIUM_PROXY_UPSTREAM_H

#include "client/client.h"
#include "mcp/files.h"
#include "mcp/log.h"
#include "mcp/schema.h"
#include "mcp/tool.h"
#include "proxy/secrets.h"

typedef struct portarium_upstream portarium_upstream;

/** A tool of an upstream. Immutable; lives as long as the upstream. */
typedef struct portarium_upstream_tool {
    const char *name;  /* as clients of the proxy see it */
    const char *inner; /* as the upstream knows it */
    const mcp_json *input_schema;
    mcp_schema *output_schema; /* NULL: it has none */
    portarium_marks marks;     /* which arguments are secret */
} portarium_upstream_tool;

/** The tools of one listing, as rows and files for a server; the data of the rows is the list. */
typedef struct portarium_upstream_tools {
    struct portarium_upstream_tools *next; /* an older list */
    portarium_upstream *upstream;
    mcp_arena *arena;
    size_t count;
    portarium_upstream_tool *items;
    const mcp_file *files;
    const mcp_tool *rows;
    void *data; /* of the proxy */
} portarium_upstream_tools;

/** Takes a tool exactly when the proxy's server will: its schemas compile, and none of those before
 *  has its name. */
typedef struct portarium_trial {
    mcp_status (*begin)(void **trial, mcp_error *err);
    /** @param file,row tables of one, which live until `end` */
    mcp_status (*add)(void *trial, const mcp_file *file, const mcp_tool *row, mcp_error *err);
    void (*end)(void *trial); /* NULL is fine */
} portarium_trial;

typedef struct portarium_upstream_options {
    const char *name;
    const char *prefix;    /* "NAME__"; "" where there is one upstream */
    const mcp_json *entry; /* of the host's table; borrowed */
    const char *bearer;    /* a token for the entry's URL; NULL: none */
    const portarium_trial *trial;
    mcp_handler *run; /* of each tool; its data is the portarium_upstream_tools */
    void *data;       /* of that list */
    int timeout_ms;   /* of a call, waiting for a decision included */
    mcp_log log;
    void (*on_change)(void *change_data); /* the tools have changed; on any thread */
    bool (*should_stop)(void *change_data);
    void *change_data; /* of both */
} portarium_upstream_options;

/** Make one. Nothing is connected. @param out portarium_upstream_free.
 *  @return MCP_OK; MCP_E_PARAMS: the entry has neither command nor url; statuses of client_new */
mcp_status portarium_upstream_new(portarium_upstream **out,
                                  const portarium_upstream_options *options, mcp_error *err);

/** NULL is fine. No call may be running. */
void portarium_upstream_free(portarium_upstream *self);

const char *portarium_upstream_name(const portarium_upstream *self);

/** The token that it gets with each request; NULL: none. */
const char *portarium_upstream_credential(const portarium_upstream *self);

client *portarium_upstream_client(const portarium_upstream *self);

/** The connection was lost: the next one may have other tools. Any thread. */
void portarium_upstream_lost(const portarium_upstream *self);

/**
 * List its tools. A tool with a definition that no server can serve, and one that must be called as
 * a task, is left out, with a line in the log.
 *
 * @param out the upstream's; the same as at the last call while they have not changed
 * @return MCP_OK; MCP_E_LIMIT: they have changed too often; statuses of client_list_tools
 */
mcp_status portarium_upstream_list(const portarium_upstream_tools **out, portarium_upstream *self,
                                   mcp_error *err);

/** The tool of a list by the name that clients see; NULL: there is none. */
const portarium_upstream_tool *portarium_upstream_find(const portarium_upstream_tools *tools,
                                                       const char *name);

#endif
