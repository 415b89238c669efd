/*
 * routes.c - health and the page.
 */
#include "rest/routes.h"

#include "mcp/clock.h"
#include "model/identity.h"
#include "page/page.h"
#include "rest/rest.h"

/* What the build made of web/. */
extern const mcp_file portarium_page_files[];

enum { ANSWER_MAX = 4096 };

/* ---- health ---------------------------------------------------------------------------------- */

static mcp_status send_json(mcp_call *call, const portarium_app *app, int http_status,
                            mcp_json_writer *json, mcp_buf *buf)
{
    const portarium_reply reply = { .status = http_status };
    mcp_status st = mcp_json_writer_status(json);
    portarium_rest_headers(call, app, &reply, NULL);
    mcp_call_header_set(call, "Cache-Control", "no-store");
    mcp_call_status(call, http_status);
    if (st == MCP_OK)
        st = mcp_call_send(call, "application/json; charset=utf-8", buf->data, buf->length);
    mcp_buf_clear(buf);
    return st;
}

static void begin(mcp_json_writer *json, mcp_buf *buf, bool is_well, const portarium_app *app)
{
    char started[MCP_CLOCK_UTC_SIZE];
    portarium_time_write(started, app->started_ms);
    mcp_buf_init(buf, ANSWER_MAX);
    mcp_json_writer_init(json, buf);
    mcp_write_object(json);
    mcp_write_member_string(json, "service", "portarium");
    mcp_write_member_string(json, "status", is_well ? "ok" : "unavailable");
    mcp_write_member_string(json, "startedAt", started);
}

mcp_status portarium_rest_health(mcp_call *call, void *data)
{
    mcp_json_writer json;
    mcp_buf buf;
    begin(&json, &buf, true, data);
    mcp_write_end(&json);
    return send_json(call, data, 200, &json, &buf);
}

static mcp_status look(portarium_tx *tx, void *data, mcp_error *err)
{
    db_rows *rows = NULL;
    (void)data;
    mcp_status st = db_query(&rows, tx->session, "SELECT workspace FROM heads LIMIT 1", NULL, 0,
                             err);
    db_rows_free(rows);
    return st;
}

mcp_status portarium_rest_ready(mcp_call *call, void *data)
{
    const portarium_app *app = data;
    mcp_json_writer json;
    mcp_buf buf;
    mcp_error err = MCP_ERROR_INIT;
    bool is_well = portarium_plane_read(app->plane, NULL, mcp_call_arena(call), look, NULL, &err) ==
                   MCP_OK;
    begin(&json, &buf, is_well, app);
    mcp_write_member_object(&json, "checks");
    mcp_write_member_string(&json, "database", is_well ? "ok" : "unavailable");
    mcp_write_end(&json);
    mcp_write_end(&json);
    return send_json(call, app, is_well ? 200 : 503, &json, &buf);
}

/* ---- the page -------------------------------------------------------------------------------- */

static const page cockpit = { .files = portarium_page_files };

static mcp_status send_page(mcp_call *call, void *data)
{
    const portarium_app *app = data;
    if (app->has_hsts)
        mcp_call_header_set(call, "Strict-Transport-Security", PORTARIUM_HSTS);
    return page_send(call, &cockpit);
}

static mcp_status send_asset(mcp_call *call, void *data)
{
    (void)data;
    return page_send_asset(call, &cockpit, mcp_arg_string(call, "name"));
}

/* ---- the routes ------------------------------------------------------------------------------ */

/* clang-format off */
#define OPEN (MCP_READS | MCP_PUBLIC)

const mcp_route portarium_other_routes[] = {
    { "GET", "/",                  send_page,              OPEN, 0 },
    { "GET", "/assets/{name}",     send_asset,             OPEN, 0 },
    { "GET", "/health",            portarium_rest_health,  OPEN | MCP_NONBLOCKING, 0 },
    { "GET", "/healthz",           portarium_rest_health,  OPEN | MCP_NONBLOCKING, 0 },
    { "GET", "/livez",             portarium_rest_health,  OPEN | MCP_NONBLOCKING, 0 },
    { "GET", "/ready",             portarium_rest_ready,   OPEN, 0 },
    { "GET", "/readyz",            portarium_rest_ready,   OPEN, 0 },
    { "GET", "/v1/openapi.json",   portarium_rest_openapi, OPEN, 0 },
    { "GET", "/v1/workspaces/{workspaceId}/events:stream", portarium_rest_events, MCP_READS, 0 },
    { 0 },
};
/* clang-format on */
