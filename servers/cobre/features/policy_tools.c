/*
 * policy_tools.c - cobre/inspect-policy and cobre/compare-policies.
 *
 * A run exchanges the policy directory for a new one while it is read; then it is opened again.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "features/tools.h"
#include "gateway/directory.h"
#include "gateway/errors.h"
#include "query/policies.h"

enum { OPENED_MAX = 5 };

#define EXPECTED "metadata.json of a policy"

/* What is read from a policy directory. */
typedef mcp_status read_policy(int fd, mcp_arena *arena, void *data, mcp_error *err);

/* Ends with `*refusal` set when the client's directory is at fault. */
static mcp_status read_directory(const cobre_record **refusal, const char **canonical,
                                 const cobre_app *app, const char *path, read_policy *read,
                                 void *data, mcp_arena *arena, mcp_error *err)
{
    const cobre_place place = { .argument = "policy_dir", .path = path, .expected = EXPECTED };
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = MCP_E_BUSY;
    int fd = -1;

    for (int i = 0; st == MCP_E_BUSY && i < OPENED_MAX; i++) {
        st = cobre_place_open(&fd, canonical, refusal, app, &place, arena, err);
        if (st != MCP_OK)
            return st;
        cause = (mcp_error)MCP_ERROR_INIT;
        st = policy_is_complete(fd)
                 ? read(fd, arena, data, &cause)
                 : mcp_error_set(&cause, MCP_E_NOT_FOUND, "there is no metadata.json");
        close(fd);
    }
    if (st == MCP_OK)
        return MCP_OK;
    *refusal = cobre_output_record(arena, st == MCP_E_BUSY ? MCP_E_IO : st, path, false,
                                   st == MCP_E_NOT_FOUND ? EXPECTED : path, &cause);
    return mcp_error_set(err, st, "%s", cause.message);
}

static mcp_status read_summary(int fd, mcp_arena *arena, void *data, mcp_error *err)
{
    return policy_read_summary(data, fd, arena, err);
}

/* ---- cobre/inspect-policy -------------------------------------------------------------------- */

struct stage_reading {
    int64_t index;
    size_t stages;        /* of the policy */
    const policy *policy; /* NULL: it has no such stage */
};

static mcp_status read_stage(int fd, mcp_arena *arena, void *data, mcp_error *err)
{
    struct stage_reading *reading = data;
    const policy_summary *summary = NULL;
    mcp_status st = policy_read_summary(&summary, fd, arena, err);

    reading->policy = NULL;
    if (st != MCP_OK)
        return st;
    reading->stages = summary->stage_count;
    if (reading->index >= (int64_t)summary->stage_count)
        return MCP_OK;
    return policy_read_stage(&reading->policy, fd, (size_t)reading->index, arena, err);
}

static mcp_status refuse_stage(mcp_call *call, const struct stage_reading *reading)
{
    return cobre_refuse(call, "OutOfRange", "Leave `stage` out to see how many there are.",
                        COBRE_MEMBERS(COBRE_TEXT("field", "stage"),
                                      COBRE_INT("value", reading->index + 1), COBRE_INT("min", 1),
                                      COBRE_INT("max", (int64_t)reading->stages)),
                        "The policy has %zu stages", reading->stages);
}

static mcp_status inspect_stage(mcp_call *call, const cobre_app *app, int64_t stage)
{
    struct stage_reading reading = { .index = stage - 1 };
    const cobre_record *refusal = NULL;
    mcp_status st = read_directory(&refusal, NULL, app, mcp_arg_string(call, "policy_dir"),
                                   read_stage, &reading, mcp_call_arena(call),
                                   mcp_call_error(call));

    if (refusal)
        return cobre_refuse_record(call, refusal);
    if (st != MCP_OK)
        return st;
    if (!reading.policy)
        return refuse_stage(call, &reading);
    query_policy_write_stage(mcp_call_result(call), reading.policy, (size_t)reading.index);
    return MCP_OK;
}

mcp_status cobre_tool_inspect_policy(mcp_call *call, void *data)
{
    const mcp_json *stage = mcp_arg_json(call, "stage");
    const policy_summary *summary = NULL;
    const cobre_record *refusal = NULL;

    if (stage) /* JSON Schema calls 1e30 an integer, too */
        return inspect_stage(call, data, mcp_arg_int(call, "stage", INT64_MAX));
    mcp_status st = read_directory(&refusal, NULL, data, mcp_arg_string(call, "policy_dir"),
                                   read_summary, &summary, mcp_call_arena(call),
                                   mcp_call_error(call));
    if (refusal)
        return cobre_refuse_record(call, refusal);
    if (st == MCP_OK)
        query_policy_write_summary(mcp_call_result(call), summary);
    return st;
}

/* ---- cobre/compare-policies ------------------------------------------------------------------ */

static query_metrics metrics_of(const mcp_json *names)
{
    query_metrics metrics = { false, false };

    for (size_t i = 0; i < mcp_json_count(names); i++) {
        const char *name = mcp_json_string(mcp_json_item(names, i), NULL);
        bool is_all = strcmp(name, "all") == 0;
        metrics.convergence |= is_all || strcmp(name, "convergence") == 0;
        metrics.cut_counts |= is_all || strcmp(name, "cut_counts") == 0;
    }
    return metrics;
}

static mcp_status refuse_count(mcp_call *call, size_t count)
{
    return cobre_refuse(
        call, "OutOfRange", "Compare fewer at once.",
        COBRE_MEMBERS(COBRE_TEXT("field", "policy_dirs"), COBRE_INT("value", (int64_t)count),
                      COBRE_INT("min", 2), COBRE_INT("max", QUERY_POLICIES_MAX)),
        "%zu policies exceed the %d that are compared at once", count, QUERY_POLICIES_MAX);
}

mcp_status cobre_tool_compare_policies(mcp_call *call, void *data)
{
    const mcp_json *paths = mcp_arg_json(call, "policy_dirs");
    size_t count = mcp_json_count(paths);
    mcp_arena *arena = mcp_call_arena(call);
    const cobre_record *refusal = NULL;
    mcp_status st = MCP_OK;

    if (count > QUERY_POLICIES_MAX)
        return refuse_count(call, count);
    query_policy *policies = mcp_arena_array(arena, count, sizeof *policies);
    if (!policies)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for the policies");
    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        size_t length = 0;
        const char *path = mcp_json_string(mcp_json_item(paths, i), &length);
        st = read_directory(&refusal, &policies[i].directory, data,
                            strlen(path) == length ? path : NULL, read_summary,
                            &policies[i].summary, arena, mcp_call_error(call));
    }
    if (refusal)
        return cobre_refuse_record(call, refusal);
    if (st == MCP_OK)
        query_policies_write_comparison(mcp_call_result(call), policies, count,
                                        metrics_of(mcp_arg_json(call, "metrics")));
    return st;
}
