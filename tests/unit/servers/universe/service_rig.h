/*
 * service_rig.h - a universe service on a database of its own, and what tests ask of it.
 */
#ifndef TESTS_UNIVERSE_SERVICE_RIG_H
#define TESTS_UNIVERSE_SERVICE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <time.h>

#include "gateway/app.h"
#include "gateway/replies.h"
#include "scratch.h"
#include "service/service.h"

enum { PATIENCE_MS = 20000 };

typedef struct service_rig {
    db *db;
    universe_service *service;
    mcp_arena *arena;
    mcp_error err;
} service_rig;

static inline service_rig service_rig_open(const char *url, universe_service_options options)
{
    service_rig rig = { .arena = mcp_arena_new((size_t)1 << 30) };
    assert_non_null(rig.arena);
    if (db_open(&rig.db, url, NULL, &rig.err) != MCP_OK)
        fail_msg("%s", rig.err.message);
    options.db = rig.db;
    options.files = universe_files;
    if (universe_service_open(&rig.service, &options, &rig.err) != MCP_OK)
        fail_msg("%s", rig.err.message);
    return rig;
}

static inline void service_rig_close(service_rig *rig)
{
    universe_service_close(rig->service);
    db_close(rig->db);
    mcp_arena_free(rig->arena);
}

static inline void service_rig_create(service_rig *rig, const char *id, universe_view *start)
{
    universe_version current = { 0 };
    if (universe_service_create(&current, NULL, rig->service, id, "Test", start, NULL, rig->arena,
                                &rig->err) != MCP_OK)
        fail_msg("%s", rig->err.message);
    universe_view_free(current.view);
}

/* A command that adds a body without parent. */
static inline const char *service_rig_body(service_rig *rig, const char *id)
{
    return mcp_arena_printf(rig->arena,
                            "{\"type\":\"addStar\",\"id\":\"%s\",\"payload\":{\"name\":\"b\","
                            "\"mass\":1,\"radius\":1,\"color\":\"#4A90E2\",\"parentId\":null,"
                            "\"orbitalDistance\":0,\"orbitalSpeed\":1}}",
                            id);
}

static inline mcp_status service_rig_try(universe_result *out, service_rig *rig, const char *id,
                                         const char *text)
{
    universe_command command = { .text = text, .length = strlen(text) };
    *out = (universe_result){ 0 };
    if (mcp_json_read(&command.json, rig->arena, text, command.length, &rig->err) != MCP_OK)
        fail_msg("%s", rig->err.message);
    return universe_service_submit(out, rig->service, id, &command, 1, UNIVERSE_ANY_VERSION, NULL,
                                   rig->arena, &rig->err);
}

/* A command that must be accepted; the version that it led to. */
static inline int64_t service_rig_send(service_rig *rig, const char *id, const char *text)
{
    universe_result result;
    if (service_rig_try(&result, rig, id, text) != MCP_OK)
        fail_msg("%s", rig->err.message);
    assert_int_equal(result.answer, UNIVERSE_DONE);
    universe_view_free(result.current.view);
    return result.current.record.version;
}

static inline bool service_rig_has_body(const universe_view *view, const char *id)
{
    const universe_id one = { .bytes = id, .length = strlen(id) };
    const universe_projection part = { .ids = &one, .id_count = 1 };
    char quoted[160];
    mcp_buf text;
    mcp_buf_init(&text, 1 << 20);
    assert_int_equal(universe_view_write(view, &part, universe_into_buf, &text, NULL, NULL),
                     MCP_OK);
    snprintf(quoted, sizeof quoted, "\"id\":\"%s\"", id);
    bool has = text.data && strstr(text.data, quoted);
    mcp_buf_clear(&text);
    return has;
}

/* One number that SQL gives. */
static inline int64_t service_rig_count(service_rig *rig, const char *sql)
{
    db_session *session = NULL;
    db_rows *rows = NULL;
    bool has = false;
    assert_int_equal(db_begin(&session, rig->db, DB_READ, &rig->err), MCP_OK);
    assert_int_equal(db_query(&rows, session, sql, NULL, 0, &rig->err), MCP_OK);
    assert_int_equal(db_next(rows, &has, &rig->err), MCP_OK);
    int64_t number = db_int_at(rows, 0);
    db_rows_free(rows);
    db_rollback(session);
    return number;
}

static inline void service_rig_pause(void)
{
    const struct timespec current = { .tv_nsec = 20 * 1000 * 1000 };
    nanosleep(&current, NULL);
}

#endif
