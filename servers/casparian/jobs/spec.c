/*
 * spec.c - job_spec_json, and the cascade of quarantine policies.
 */
#include "jobs/spec.h"

#include <string.h>

#include "jobs/state/definition_json.h"

static const double default_pct = 10.0;

static const char *const only_texts[] = { "all", "failed", "quarantined" };

/* ---- the description of a job ---------------------------------------------------------------- */

static void write_schemas(mcp_json_writer *out, const casparian_schemas *schemas)
{
    mcp_write_name(out, "schemas");
    mcp_status st = casparian_write_schemas(out, schemas, NULL);
    if (st != MCP_OK && out->status == MCP_OK)
        out->status = st;
}

void casparian_spec_write_routes(mcp_json_writer *out, const casparian_spec *spec)
{
    mcp_write_array(out);
    for (size_t i = 0; i < spec->route_count; i++) {
        mcp_write_object(out);
        mcp_write_member_string(out, "topic", spec->routes[i].topic);
        mcp_write_member_string(out, "uri", spec->routes[i].uri);
        mcp_write_end(out);
    }
    mcp_write_end(out);
}

void casparian_spec_write(mcp_json_writer *out, const casparian_spec *spec)
{
    mcp_write_object(out);
    if (spec->schemas && spec->schemas->count > 0)
        write_schemas(out, spec->schemas);
    if (spec->ephemeral_id)
        mcp_write_member_string(out, "ephemeral_id", spec->ephemeral_id);
    if (spec->pattern)
        mcp_write_member_string(out, "pattern", spec->pattern);
    if (spec->max_files > 0)
        mcp_write_member_int(out, "max_files", spec->max_files);
    mcp_write_name(out, "fail_fast");
    mcp_write_bool(out, spec->fail_fast);
    mcp_write_name(out, "force");
    mcp_write_bool(out, spec->force);
    mcp_write_member_string(out, "only", only_texts[spec->only]);
    mcp_write_name(out, "quarantine");
    casparian_quarantine_write(out, &spec->quarantine);
    if (spec->redaction)
        mcp_write_member_value(out, "redaction", spec->redaction);
    if (spec->route_count > 0) {
        mcp_write_name(out, "sinks");
        casparian_spec_write_routes(out, spec);
    }
    if (spec->quarantine_dir)
        mcp_write_member_string(out, "quarantine_dir", spec->quarantine_dir);
    mcp_write_end(out);
}

static casparian_only read_only(const char *text)
{
    int only = CASPARIAN_ONLY_QUARANTINED;
    while (only > CASPARIAN_ONLY_ALL && (!text || strcmp(text, only_texts[only]) != 0))
        only--;
    return (casparian_only)only;
}

static mcp_status read_routes(casparian_spec *out, mcp_arena *arena, const mcp_json *sinks,
                              mcp_error *err)
{
    size_t count = mcp_json_count(sinks);
    casparian_route *routes = mcp_arena_array(arena, count, sizeof *routes);
    if (!routes)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory");
    for (size_t i = 0; i < count; i++) {
        const mcp_json *sink = mcp_json_item(sinks, i);
        routes[i] = (casparian_route){ .topic = mcp_json_get_string(sink, "topic"),
                                       .uri = mcp_json_get_string(sink, "uri") };
        if (!routes[i].topic || !routes[i].uri)
            return mcp_error_set(err, MCP_E_PARAMS, "a sink has no topic or no uri");
    }
    out->routes = routes;
    out->route_count = count;
    return MCP_OK;
}

mcp_status casparian_spec_read(casparian_spec *out, mcp_arena *arena, const mcp_json *json,
                               mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    casparian_spec spec = { .ephemeral_id = mcp_json_get_string(json, "ephemeral_id"),
                            .pattern = mcp_json_get_string(json, "pattern"),
                            .only = read_only(mcp_json_get_string(json, "only")),
                            .redaction = mcp_json_get(json, "redaction"),
                            .quarantine_dir = mcp_json_get_string(json, "quarantine_dir") };
    const mcp_json *schemas = mcp_json_get(json, "schemas");
    mcp_json_int(mcp_json_get(json, "max_files"), &spec.max_files);
    mcp_json_bool(mcp_json_get(json, "fail_fast"), &spec.fail_fast);
    mcp_json_bool(mcp_json_get(json, "force"), &spec.force);
    mcp_status st = casparian_quarantine_read(&spec.quarantine, mcp_json_get(json, "quarantine"),
                                              &cause);
    if (st == MCP_OK && schemas) {
        casparian_schemas *read = mcp_arena_alloc(arena, sizeof *read);
        st = read ? casparian_schemas_read(read, arena, schemas, NULL, NULL, &cause)
                  : mcp_error_set(&cause, MCP_E_NOMEM, "no memory");
        spec.schemas = read;
    }
    if (st == MCP_OK)
        st = read_routes(&spec, arena, mcp_json_get(json, "sinks"), &cause);
    if (st != MCP_OK)
        return mcp_error_set(err, st == MCP_E_NOMEM ? st : MCP_E_INTERNAL,
                             "the description of the job: %s", cause.message);
    *out = spec;
    return MCP_OK;
}

/* ---- quarantine ------------------------------------------------------------------------------ */

mcp_status casparian_quarantine_read(casparian_quarantine *out, const mcp_json *json,
                                     mcp_error *err)
{
    casparian_quarantine policy = { 0 };
    const mcp_json *allow = mcp_json_get(json, "allow_quarantine");
    const mcp_json *pct = mcp_json_get(json, "max_quarantine_pct");
    const mcp_json *count = mcp_json_get(json, "max_quarantine_count");
    policy.has_allow = mcp_json_bool(allow, &policy.allow);
    if (allow && !policy.has_allow)
        return mcp_error_set(err, MCP_E_PARAMS, "allow_quarantine is true or false");
    policy.has_pct = mcp_json_double(pct, &policy.max_pct);
    if (pct && (!policy.has_pct || !(policy.max_pct >= 0 && policy.max_pct <= 100)))
        return mcp_error_set(err, MCP_E_PARAMS, "max_quarantine_pct is a number from 0 to 100");
    policy.has_count = mcp_json_int(count, &policy.max_count);
    if (count && !mcp_json_is_null(count) && (!policy.has_count || policy.max_count < 0))
        return mcp_error_set(err, MCP_E_PARAMS, "max_quarantine_count is an integer from 0");
    *out = policy;
    return MCP_OK;
}

void casparian_quarantine_write(mcp_json_writer *out, const casparian_quarantine *self)
{
    mcp_write_object(out);
    if (self->has_allow) {
        mcp_write_name(out, "allow_quarantine");
        mcp_write_bool(out, self->allow);
    }
    if (self->has_pct)
        mcp_write_member_double(out, "max_quarantine_pct", self->max_pct);
    if (self->has_count)
        mcp_write_member_int(out, "max_quarantine_count", self->max_count);
    mcp_write_end(out);
}

static void overlay(casparian_quarantine *policy, const casparian_quarantine *over)
{
    if (over && over->has_allow)
        policy->allow = over->allow;
    if (over && over->has_pct)
        policy->max_pct = over->max_pct;
    if (over && over->has_count) {
        policy->has_count = true;
        policy->max_count = over->max_count;
    }
}

casparian_quarantine casparian_quarantine_of_run(const casparian_quarantine_settings *settings,
                                                 const casparian_quarantine *contract,
                                                 const casparian_quarantine *request)
{
    casparian_quarantine policy = {
        .has_allow = true,
        .has_pct = true,
        .has_count = settings->has_count,
        .allow = settings->allow_quarantine,
        .max_pct = settings->has_pct ? settings->max_quarantine_pct : default_pct,
        .max_count = settings->max_quarantine_count,
    };
    overlay(&policy, contract);
    overlay(&policy, request);
    return policy;
}

casparian_verdict casparian_quarantine_judge(const casparian_quarantine *policy, int64_t valid,
                                             int64_t invalid)
{
    if (invalid == 0)
        return CASPARIAN_VERDICT_CLEAN;
    if (!policy->allow)
        return CASPARIAN_VERDICT_NOT_ALLOWED;
    double pct = 100.0 * (double)invalid / (double)(valid + invalid);
    if (pct > policy->max_pct || (policy->has_count && invalid > policy->max_count))
        return CASPARIAN_VERDICT_THRESHOLD;
    return CASPARIAN_VERDICT_QUARANTINED;
}
