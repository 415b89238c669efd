/*
 * tokens.c - portarium tokens: create, list, revoke.
 */
#include <stdio.h>
#include <string.h>

#include "cli/table.h"
#include "mcp/clock.h"
#include "model/identity.h"
#include "serve/serve.h"
#include "shell/line.h"
#include "shell/session.h"
#include "store/journal.h"
#include "store/tokens.h"

enum { DAY_MS = 24 * 3600 * 1000 };

static mcp_status note(portarium_tx *tx, const char *id, const char *what, mcp_error *err)
{
    const portarium_evidence entry = {
        .category = "OperatorSurface",
        .summary = mcp_arena_printf(tx->arena, "Token %s %s", id, what),
    };
    return portarium_evidence_add(tx, &entry, err);
}

/* ---- create ---------------------------------------------------------------------------------- */

typedef struct creation {
    portarium_token token;
    char secret[PORTARIUM_TOKEN_SIZE];
} creation;

static mcp_status create(portarium_tx *tx, void *data, mcp_error *err)
{
    creation *self = data;
    mcp_status st = portarium_id_new(&self->token.id, "tok-", tx->arena, err);
    if (st == MCP_OK)
        st = portarium_token_create(self->secret, tx, &self->token, err);
    return st == MCP_OK ? note(tx, self->token.id, "created", err) : st;
}

static mcp_status read_line(portarium_token *out, const cli_line *line, mcp_arena *arena,
                            mcp_error *err)
{
    char *rest = NULL, *names = mcp_arena_strdup(arena, cli_string(line, "roles"));
    int64_t days = cli_int(line, "expires-days", 0);
    portarium_tier tier;
    *out = (portarium_token){ .subject = cli_string(line, "subject"),
                              .agent_id = cli_string(line, "agent"),
                              .machine_id = cli_string(line, "machine"),
                              .owner = cli_string(line, "owner"),
                              .tier = cli_string(line, "tier") };
    if (!portarium_id_is_valid(out->subject))
        return mcp_error_set(err, MCP_E_PARAMS, "--subject is not an id");
    if (out->tier && !portarium_tier_read(&tier, out->tier))
        return mcp_error_set(err, MCP_E_PARAMS, "--tier is no execution tier: %.64s", out->tier);
    for (char *name = names ? strtok_r(names, ",", &rest) : NULL; name;
         name = strtok_r(NULL, ",", &rest)) {
        if (!portarium_roles_add(&out->roles, name))
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "--roles: %.64s is no role, or is there twice; there are admin, "
                                 "operator, approver and auditor",
                                 name);
    }
    if (days > 0)
        out->expires_ms = mcp_clock_wall_ms() + days * DAY_MS;
    return MCP_OK;
}

int portarium_line_token_create(const cli_line *line, void *data)
{
    portarium_session session;
    mcp_error err = MCP_ERROR_INIT;
    creation made;
    (void)data;
    mcp_status st = portarium_session_open(&session, line, &err);
    if (st != MCP_OK)
        return serve_fail(line, st, &err);
    st = read_line(&made.token, line, session.arena, &err);
    if (st == MCP_OK)
        st = portarium_plane_write(session.plane, session.workspace, session.arena, create, &made,
                                   &err);
    if (st == MCP_OK && cli_flag(line, "json"))
        fprintf(cli_out(line), "{\"id\":\"%s\",\"token\":\"%s\"}\n", made.token.id, made.secret);
    else if (st == MCP_OK)
        fprintf(cli_out(line), "%s\n", made.secret);
    int status = st == MCP_OK ? SERVE_EXIT_DONE : serve_fail(line, st, &err);
    portarium_session_close(&session);
    return status;
}

/* ---- list ------------------------------------------------------------------------------------ */

typedef struct listing {
    portarium_token *items;
    size_t count;
} listing;

static mcp_status list(portarium_tx *tx, void *data, mcp_error *err)
{
    listing *self = data;
    return portarium_token_list(&self->items, &self->count, tx, err);
}

static const char *state_of(const portarium_token *token, int64_t now_ms)
{
    if (token->revoked_ms > 0)
        return "revoked";
    return token->expires_ms > 0 && token->expires_ms <= now_ms ? "expired" : "valid";
}

static const char *time_of(mcp_arena *arena, int64_t ms)
{
    char text[MCP_CLOCK_UTC_SIZE];
    if (ms == 0)
        return NULL;
    portarium_time_write(text, ms);
    return mcp_arena_strdup(arena, text);
}

enum { COLUMNS = 6 };

static void print_table(const listing *all, portarium_session *session)
{
    static const cli_table_column columns[COLUMNS] = {
        { "id", false },      { "subject", false }, { "roles", false },
        { "created", false }, { "expires", false }, { "state", false },
    };
    const char **cells = mcp_arena_array(session->arena, all->count * COLUMNS + 1, sizeof *cells);
    int64_t now = mcp_clock_wall_ms();
    for (size_t i = 0; cells && i < all->count; i++) {
        const portarium_token *token = &all->items[i];
        const char **row = cells + i * COLUMNS;
        row[0] = token->id;
        row[1] = token->subject;
        row[2] = portarium_roles_text(session->arena, token->roles);
        row[3] = time_of(session->arena, token->created_ms);
        row[4] = time_of(session->arena, token->expires_ms);
        row[5] = state_of(token, now);
    }
    if (cells)
        cli_table_print(cli_out(session->line), columns, COLUMNS, cells, all->count,
                        cli_use_color(NULL, cli_out(session->line)));
}

static void print_json(const listing *all, portarium_session *session)
{
    mcp_buf buf;
    mcp_json_writer json;
    int64_t now = mcp_clock_wall_ms();
    mcp_buf_init(&buf, 1 << 20);
    mcp_json_writer_init(&json, &buf);
    mcp_write_array(&json);
    for (size_t i = 0; i < all->count; i++) {
        const portarium_token *token = &all->items[i];
        mcp_write_object(&json);
        mcp_write_member_string(&json, "id", token->id);
        mcp_write_member_string(&json, "subject", token->subject);
        mcp_write_member_string(&json, "roles", portarium_roles_text(session->arena, token->roles));
        mcp_write_member_string(&json, "createdAtIso", time_of(session->arena, token->created_ms));
        mcp_write_member_string(&json, "expiresAtIso", time_of(session->arena, token->expires_ms));
        mcp_write_member_string(&json, "state", state_of(token, now));
        mcp_write_end(&json);
    }
    mcp_write_end(&json);
    fprintf(cli_out(session->line), "%.*s\n", (int)buf.length, buf.data);
    mcp_buf_clear(&buf);
}

int portarium_line_token_list(const cli_line *line, void *data)
{
    portarium_session session;
    mcp_error err = MCP_ERROR_INIT;
    listing all = { .count = 0 };
    (void)data;
    mcp_status st = portarium_session_open(&session, line, &err);
    if (st != MCP_OK)
        return serve_fail(line, st, &err);
    const char *workspace = session.workspace;
    st = portarium_session_run(&session, "getWorkspace", workspace, NULL, NULL, &err);
    if (st == MCP_OK)
        st = portarium_plane_read(session.plane, workspace, session.arena, list, &all, &err);
    if (st == MCP_OK && cli_flag(line, "json"))
        print_json(&all, &session);
    else if (st == MCP_OK)
        print_table(&all, &session);
    int status = st == MCP_OK ? SERVE_EXIT_DONE : serve_fail(line, st, &err);
    portarium_session_close(&session);
    return status;
}

/* ---- revoke ---------------------------------------------------------------------------------- */

static mcp_status revoke_token(portarium_tx *tx, void *data, mcp_error *err)
{
    const char *id = data;
    mcp_status st = portarium_token_revoke(tx, id, err);
    return st == MCP_OK ? note(tx, id, "revoked", err) : st;
}

int portarium_line_token_revoke(const cli_line *line, void *data)
{
    portarium_session session;
    mcp_error err = MCP_ERROR_INIT;
    (void)data;
    mcp_status st = portarium_session_open(&session, line, &err);
    if (st != MCP_OK)
        return serve_fail(line, st, &err);
    st = portarium_plane_write(session.plane, session.workspace, session.arena, revoke_token,
                               (void *)cli_argument(line, 0), &err);
    int status = st == MCP_OK ? SERVE_EXIT_DONE : serve_fail(line, st, &err);
    portarium_session_close(&session);
    return status;
}
