/*
 * routes.c - the routes of the REST interface and of the page, and the scope that each requires.
 */
#include "mcp/auth.h"
#include "page.h"
#include "rest/rest.h"

/* Defines read_NAME and so on: the handler universe_rest_NAME after the check of a scope. */
#define REQUIRE(prefix, scope, handler)                                                            \
    static mcp_status prefix##handler(mcp_call *call, void *data)                                  \
    {                                                                                              \
        mcp_status st = mcp_call_require_scopes(call, scope);                                      \
        return st == MCP_OK ? universe_rest_##handler(call, data) : st;                            \
    }
#define READ(handler) REQUIRE(read_, UNIVERSE_SCOPE_READ, handler)
#define WRITE(handler) REQUIRE(write_, UNIVERSE_SCOPE_WRITE, handler)
#define ADMIN(handler) REQUIRE(admin_, UNIVERSE_SCOPE_ADMIN, handler)

/* clang-format off */
READ(list) READ(get) READ(get_state) READ(summary) READ(positions) READ(history) READ(events) READ(get_clock)
WRITE(put) WRITE(command) WRITE(batch) WRITE(restore) WRITE(generate) WRITE(set_clock)
ADMIN(create) ADMIN(delete)

const mcp_route universe_routes[] = {
    { "GET",    "/",                              universe_page,        MCP_READS | MCP_PUBLIC, 0 },
    { "GET",    "/ui",                            universe_page,        MCP_READS | MCP_PUBLIC, 0 },
    { "GET",    "/assets/{name}",                 universe_page_asset,  MCP_READS | MCP_PUBLIC, 0 },
    { "GET",    "/health",                        universe_rest_health, MCP_READS | MCP_NONBLOCKING, 0 },
    { "GET",    "/readyz",                        universe_rest_ready,  MCP_READS | MCP_NONBLOCKING, 0 },
    { "GET",    "/universes",                     read_list,            MCP_READS | MCP_STOP_ON_HANGUP, 0 },
    { "POST",   "/universes",                     admin_create,         MCP_WRITES, 0 },
    { "GET",    "/universes/{id}",                read_get,             MCP_READS,  0 },
    { "PUT",    "/universes/{id}",                write_put,            MCP_WRITES, 0 },
    { "DELETE", "/universes/{id}",                admin_delete,         MCP_WRITES, 0 },
    { "GET",    "/universes/{id}/state",          read_get_state,       MCP_READS,  0 },
    { "GET",    "/universes/{id}/summary",        read_summary,         MCP_READS,  0 },
    { "GET",    "/universes/{id}/positions",      read_positions,       MCP_READS | MCP_STOP_ON_HANGUP, 0 },
    { "GET",    "/universes/{id}/history",        read_history,         MCP_READS,  0 },
    { "GET",    "/universes/{id}/events",         read_events,          MCP_READS,  0 },
    { "POST",   "/universes/{id}/commands",       write_command,        MCP_WRITES | MCP_NONBLOCKING, 0 },
    { "POST",   "/universes/{id}/commands:batch", write_batch,          MCP_WRITES, 0 },
    { "POST",   "/universes/{id}/restore",        write_restore,        MCP_WRITES, 0 },
    { "POST",   "/universes/{id}/generate",       write_generate,       MCP_WRITES | MCP_LONG, 0 },
    { "GET",    "/universes/{id}/clock",          read_get_clock,       MCP_READS,  0 },
    { "POST",   "/universes/{id}/clock",          write_set_clock,      MCP_WRITES, 0 },
    { 0 },
};
/* clang-format on */
