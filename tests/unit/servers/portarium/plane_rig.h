/*
 * plane_rig.h - a control plane in memory with one workspace, for tests of operations.
 */
#ifndef PLANE_RIG_H
#define PLANE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gateway/app.h"
#include "service/plane.h"
#include "service/workspaces.h"

typedef struct plane_rig {
    portarium_plane *plane;
    mcp_arena *arena; /* of the answers of a test */
    portarium_reply reply;
} plane_rig;

static const portarium_actor rig_admin = { .subject = "ada",
                                           .workspace = "ws-1",
                                           .roles = PORTARIUM_ROLE(ADMIN) };
static const portarium_actor rig_operator = { .subject = "otto",
                                              .workspace = "ws-1",
                                              .roles = PORTARIUM_ROLE(OPERATOR) };
static const portarium_actor rig_approver = { .subject = "anna",
                                              .workspace = "ws-1",
                                              .roles = PORTARIUM_ROLE(APPROVER) };

static const portarium_actor rig_auditor = { .subject = "ute",
                                             .workspace = "ws-1",
                                             .roles = PORTARIUM_ROLE(AUDITOR) };

static inline mcp_status rig_make_workspace(portarium_tx *tx, void *data, mcp_error *err)
{
    (void)data;
    return portarium_workspace_create(tx, "ws-1", "First", err);
}

static inline void rig_open_with(plane_rig *rig, portarium_plane_options options)
{
    mcp_error err = MCP_ERROR_INIT;
    options.files = portarium_files;
    if (!options.settings.instance)
        options.settings.instance = "test";
    rig->arena = mcp_arena_new((size_t)64 << 20);
    if (portarium_plane_open(&rig->plane, &options, &err) != MCP_OK)
        fail_msg("the plane cannot be opened: %s", err.message);
    if (portarium_plane_write(rig->plane, NULL, rig->arena, rig_make_workspace, NULL, &err) !=
        MCP_OK)
        fail_msg("no workspace: %s", err.message);
}

static inline void rig_open(plane_rig *rig, const char *url)
{
    rig_open_with(rig, (portarium_plane_options){ .url = url });
}

static inline void rig_close(plane_rig *rig)
{
    portarium_plane_close(rig->plane);
    mcp_arena_free(rig->arena);
}

/* Register an adapter. @param kind of its binding: the executor */
static inline mcp_status rig_insert_adapter(portarium_tx *tx, const char *id, const char *family,
                                            const char *kind, mcp_error *err)
{
    const mcp_json *json = NULL;
    const char *text = mcp_arena_printf(
        tx->arena,
        "{\"schemaVersion\":1,\"adapterId\":\"%s\",\"workspaceId\":\"ws-1\",\"providerSlug\":"
        "\"fake\",\"portFamily\":\"%s\",\"enabled\":true,\"binding\":{\"kind\":\"%s\"}}",
        id, family, kind);
    mcp_status st = mcp_json_read(&json, tx->arena, text, strlen(text), err);
    return st == MCP_OK
               ? portarium_record_insert(NULL, tx, &portarium_adapters, id, json, NULL, err)
               : st;
}

/* The text at a JSON Pointer; "": there is none. */
static inline const char *rig_text_at(const mcp_json *json, const char *pointer)
{
    const char *text = mcp_json_string(mcp_json_pointer(json, pointer), NULL);
    return text ? text : "";
}

/* Run an operation. @param arguments,body JSON texts; NULL: none. @return the HTTP status */
static inline int rig_run(plane_rig *rig, const portarium_actor *actor, const char *name,
                          const char *arguments, const char *body)
{
    mcp_error err = MCP_ERROR_INIT;
    portarium_request request = { .actor = actor, .workspace = "ws-1", .correlation_id = "c-1" };
    const portarium_operation *operation = portarium_operation_find(name);
    assert_non_null(operation);
    const char *text = arguments ? arguments : "{}";
    assert_int_equal(mcp_json_read(&request.arguments, rig->arena, text, strlen(text), &err),
                     MCP_OK);
    if (body && mcp_json_read(&request.body, rig->arena, body, strlen(body), &err) != MCP_OK)
        fail_msg("%s: %s", body, err.message);
    portarium_plane_run(rig->plane, operation, &request, rig->arena, &rig->reply);
    return rig->reply.status;
}

/* The body of the last answer. */
static inline const mcp_json *rig_body(plane_rig *rig)
{
    const mcp_json *json = NULL;
    assert_non_null(rig->reply.text);
    assert_int_equal(mcp_json_read(&json, rig->arena, rig->reply.text, rig->reply.length, NULL),
                     MCP_OK);
    return json;
}

static inline void rig_expect(plane_rig *rig, const portarium_actor *actor, const char *name,
                              const char *arguments, const char *body, int status)
{
    if (rig_run(rig, actor, name, arguments, body) != status)
        fail_msg("%s: %d instead of %d: %s%s%s", name, rig->reply.status, status,
                 rig->reply.detail ? rig->reply.detail : "",
                 rig->reply.fields.count ? rig->reply.fields.items[0].field : "",
                 rig->reply.fields.count ? rig->reply.fields.items[0].message : "");
}

/* Wait until a run has that status. @return the run */
static inline const mcp_json *rig_await(plane_rig *rig, const char *run, const char *status)
{
    char arguments[128];
    const mcp_json *json = NULL;
    snprintf(arguments, sizeof arguments, "{\"runId\":\"%s\"}", run);
    for (int i = 0; i < 3000; i++) {
        rig_expect(rig, &rig_admin, "getRun", arguments, NULL, 200);
        json = rig_body(rig);
        if (strcmp(mcp_json_get_string(json, "status"), status) == 0)
            return json;
        usleep(10000);
    }
    fail_msg("run %s is %.*s", run, (int)rig->reply.length, rig->reply.text);
    return NULL;
}

#endif
