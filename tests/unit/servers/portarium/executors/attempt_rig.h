/*
 * attempt_rig.h - attempts against servers and programs of the test.
 */
#ifndef ATTEMPT_RIG_H
#define ATTEMPT_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "executors/registry.h"
#include "mcp/clock.h"

typedef struct attempt_rig {
    mcp_arena *arena;
    portarium_registry *registry;
    portarium_attempt attempt; /* what the test changes for its next attempt */
    portarium_result result;
} attempt_rig;

static inline const mcp_json *rig_json(attempt_rig *rig, const char *text)
{
    const mcp_json *json = NULL;
    mcp_error err = MCP_ERROR_INIT;
    if (mcp_json_read(&json, rig->arena, text, strlen(text), &err) != MCP_OK)
        fail_msg("%s: %s", text, err.message);
    return json;
}

static inline bool rig_never(void *data)
{
    (void)data;
    return false;
}

/* @param exec,servers,credentials JSON as of the configuration's tables; NULL: none */
static inline void rig_open(attempt_rig *rig, const char *exec, const char *servers,
                            const char *credentials)
{
    rig->arena = mcp_arena_new((size_t)64 << 20);
    const portarium_host host = {
        .commands = exec ? rig_json(rig, exec) : NULL,
        .servers = servers ? rig_json(rig, servers) : NULL,
        .credentials = credentials ? rig_json(rig, credentials) : NULL,
    };
    assert_int_equal(portarium_registry_new(&rig->registry, &host, NULL), MCP_OK);
    rig->attempt = (portarium_attempt){ .workspace = "ws-1",
                                        .run_id = "run-1",
                                        .action_id = "act",
                                        .operation = "ticket:write",
                                        .key = "run-1:act",
                                        .attempt = 1,
                                        .provider = "tracker",
                                        .correlation_id = "c-1" };
}

static inline void rig_close(attempt_rig *rig)
{
    portarium_registry_free(rig->registry);
    mcp_arena_free(rig->arena);
}

/* Perform it with that binding. @param input,egress JSON; NULL: none */
static inline portarium_outcome rig_perform(attempt_rig *rig, const char *binding,
                                            const char *input, const char *egress,
                                            int64_t timeout_ms)
{
    void *data = NULL;
    const portarium_stop stop = { .is_set = rig_never };
    rig->attempt.binding = rig_json(rig, binding);
    rig->attempt.input = input ? rig_json(rig, input) : NULL;
    rig->attempt.egress = egress ? rig_json(rig, egress) : NULL;
    rig->attempt.deadline_mono_ms = mcp_clock_mono_ms() + timeout_ms;
    rig->result = (portarium_result){ .outcome = PORTARIUM_OUTCOME_FAILED };
    const portarium_executor *executor = portarium_executor_find(
        portarium_registry_executors(rig->registry), rig->attempt.binding, &data);
    assert_non_null(executor);
    executor->perform(&rig->result, &rig->attempt, &stop, rig->arena, data);
    return rig->result.outcome;
}

/* The output as text; yours. */
static inline char *rig_output(const attempt_rig *rig)
{
    mcp_buf text;
    mcp_json_writer json;
    assert_non_null(rig->result.output);
    mcp_buf_init(&text, 1 << 20);
    mcp_json_writer_init(&json, &text);
    mcp_write_value(&json, rig->result.output);
    assert_int_equal(mcp_json_writer_status(&json), MCP_OK);
    return mcp_buf_take(&text, NULL);
}

static inline void rig_expect_class(const attempt_rig *rig, portarium_outcome outcome,
                                    portarium_error_class class)
{
    if (rig->result.outcome != outcome || rig->result.error_class != class)
        fail_msg("outcome %d, class %s: %s", rig->result.outcome,
                 portarium_error_class_text(rig->result.error_class), rig->result.message);
}

#endif
