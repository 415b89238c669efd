/* app.h - what the handlers of every door share. */
#ifndef UNIVERSE_APP_H
#define UNIVERSE_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "gateway/log.h"
#include "mcp/files.h"
#include "mcp/http.h"
#include "mcp/resource.h"
#include "mcp/tool.h"
#include "service/service.h"

#ifndef UNIVERSE_VERSION
#define UNIVERSE_VERSION CAUSEWAY_VERSION
#endif

/** The program's embedded files. */
extern const mcp_file universe_files[];

/* Scopes of tokens; those of tools and resources are in their files. */
#define UNIVERSE_SCOPE_READ "universe:read"
#define UNIVERSE_SCOPE_WRITE "universe:write"
#define UNIVERSE_SCOPE_ADMIN "universe:admin"
#define UNIVERSE_SCOPES UNIVERSE_SCOPE_READ " " UNIVERSE_SCOPE_WRITE " " UNIVERSE_SCOPE_ADMIN

extern const mcp_tool universe_tools[];
extern const mcp_resource universe_resources[];
extern const mcp_route universe_routes[];

/** What the handlers know; read-only while serving. */
typedef struct universe_app {
    universe_service *service;
    const serve_log *log; /* NULL: none */
    universe_rules rules; /* for states that come whole */
    bool soft_rejections; /* a rejected command is answered as the reference does: 200, no error */
    bool lists_summaries; /* GET /universes without `view` */
    size_t max_state_bytes;    /* of get_universe_state without `full` */
    size_t inline_state_bytes; /* of the state in an answer to a command */
    size_t list_bytes;         /* of all states in GET /universes */
    int64_t started_ms;        /* mono */
} universe_app;

enum {
    UNIVERSE_MAX_STATE = 32 << 20,
    UNIVERSE_INLINE_STATE = 1 << 20,
    UNIVERSE_LIST_BYTES = 32 << 20,
    UNIVERSE_FULL_STATE = 1 << 30
};

#endif
