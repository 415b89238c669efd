/*
 * store_rig.h - portarium's tables in an empty database, and transactions on the test's own thread.
 */
#ifndef STORE_RIG_H
#define STORE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine.h"
#include "gateway/app.h"
#include "service/workspaces.h"
#include "store/committer.h"

typedef struct store_rig {
    engine *engine;
    portarium_settings settings;
    portarium_committer *committer;
    mcp_arena *arena;
    portarium_tx tx; /* of store_begin */
    mcp_error err;
} store_rig;

static const portarium_actor store_actor = { .subject = "ada", .roles = PORTARIUM_ROLE(ADMIN) };

static inline portarium_tx store_as(const store_rig *rig, const char *workspace)
{
    return (portarium_tx){ .arena = rig->arena,
                           .workspace = workspace,
                           .settings = &rig->settings,
                           .actor = &store_actor,
                           .correlation_id = "c-1" };
}

static inline void store_expect(const store_rig *rig, mcp_status st, mcp_status expected)
{
    if (st != expected)
        fail_msg("%s instead of %s: %s", mcp_status_words(st), mcp_status_words(expected),
                 rig->err.message);
}

static inline mcp_status store_make_workspace(portarium_tx *tx, void *data, mcp_error *err)
{
    return portarium_workspace_create(tx, data, data, err);
}

/* With the workspaces ws-1, ws-2 and ws-3. */
static inline void store_open(store_rig *rig, engine *engine)
{
    static char names[][8] = { "ws-1", "ws-2", "ws-3" };
    *rig = (store_rig){ .engine = engine, .settings = { .instance = "test" } };
    rig->arena = mcp_arena_new((size_t)512 << 20);
    store_expect(rig, db_migrate(engine->db, portarium_files, "sql", &rig->err), MCP_OK);
    store_expect(
        rig,
        portarium_committer_new(&rig->committer, engine->db, &rig->settings, NULL, NULL, &rig->err),
        MCP_OK);
    for (int i = 0; i < 3; i++) {
        const portarium_tx as = store_as(rig, NULL);
        store_expect(
            rig, portarium_commit(rig->committer, &as, store_make_workspace, names[i], &rig->err),
            MCP_OK);
    }
}

static inline void store_close(store_rig *rig)
{
    portarium_committer_free(rig->committer);
    mcp_arena_free(rig->arena);
}

/* Begin a transaction of ws-1 that writes. @return it, as rig->tx */
static inline portarium_tx *store_begin(store_rig *rig)
{
    rig->tx = store_as(rig, "ws-1");
    rig->tx.writes = true;
    store_expect(rig, db_begin(&rig->tx.session, rig->engine->db, DB_WRITE, &rig->err), MCP_OK);
    store_expect(rig, portarium_tx_begin(&rig->tx, &rig->err), MCP_OK);
    return &rig->tx;
}

static inline void store_commit(store_rig *rig)
{
    store_expect(rig, portarium_tx_end(&rig->tx, &rig->err), MCP_OK);
    store_expect(rig, portarium_tx_flush(rig->tx.session, &rig->settings, &rig->err), MCP_OK);
    store_expect(rig, db_commit(rig->tx.session, &rig->err), MCP_OK);
}

static inline const mcp_json *store_json(store_rig *rig, const char *text)
{
    const mcp_json *json = NULL;
    store_expect(rig, mcp_json_read(&json, rig->arena, text, strlen(text), &rig->err), MCP_OK);
    return json;
}

#endif
