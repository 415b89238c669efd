/*
 * prepare.c - reads and checks what a job is to work with, and refuses what cannot be done before
 * anything is stored.
 */
#include "features/runs/prepare.h"

#include <string.h>
#include <unistd.h>

/* ---- schemas --------------------------------------------------------------------------------- */

enum { DETAILS_MAX = 1 << 20, ERRORS_MAX = 100 };

typedef struct faults {
    mcp_json_writer json;
    mcp_buf text;
    size_t count;
} faults;

static void report(void *data, const char *place, const char *message)
{
    faults *self = data;
    if (self->count++ >= ERRORS_MAX)
        return;
    mcp_write_object(&self->json);
    mcp_write_member_string(&self->json, "path", place);
    mcp_write_member_string(&self->json, "message", message);
    mcp_write_end(&self->json);
}

static void refuse_schemas(casparian_request *request, faults *found, const mcp_error *why)
{
    mcp_write_end(&found->json);
    mcp_write_end(&found->json);
    casparian_refusal refusal = { .code = CASPARIAN_CODE_SCHEMA_INVALID,
                                  .message = why->message,
                                  .suggestion = "casparian_schema_propose checks schemas without "
                                                "a job." };
    if (mcp_json_writer_status(&found->json) == MCP_OK)
        refusal.details = found->text.data;
    casparian_refuse_with(request, &refusal);
}

static bool read_schemas(casparian_prepared_call *self, casparian_request *request)
{
    const mcp_json *map = mcp_arg_json(request->call, "schemas");
    mcp_error why = MCP_ERROR_INIT;
    faults found = { .count = 0 };
    if (!map)
        return true;
    mcp_buf_init(&found.text, DETAILS_MAX);
    mcp_json_writer_init(&found.json, &found.text);
    mcp_write_object(&found.json);
    mcp_write_member_array(&found.json, "errors");
    mcp_status st = casparian_schemas_read(&self->schemas, mcp_call_arena(request->call), map,
                                           report, &found, &why);
    if (st == MCP_E_SCHEMA)
        refuse_schemas(request, &found, &why);
    else if (st != MCP_OK)
        casparian_request_fail(request, st, &why);
    mcp_buf_clear(&found.text);
    self->spec.schemas = &self->schemas;
    return st == MCP_OK;
}

/* ---- plugins --------------------------------------------------------------------------------- */

/* The file or folder of a reference by path, checked against the allowed roots. */
static bool open_plugin(casparian_prepared_call *self, casparian_request *request)
{
    mcp_error *err = mcp_call_error(request->call);
    casparian_plugin_ref ref;
    guard_named named;
    mcp_status st = casparian_plugin_ref_read(&ref, mcp_call_arena(request->call),
                                              self->how.plugin_ref, err);
    if (st == MCP_E_PARAMS) {
        casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL, "/plugin_ref: %s",
                         err->message);
        return false;
    }
    if (st != MCP_OK) {
        casparian_request_fail(request, st, err);
        return false;
    }
    if (!ref.path)
        return true;
    if (!casparian_request_open(&named, request, ref.path, GUARD_FILES | GUARD_DIRS))
        return false;
    close(named.fd);
    self->how.plugin_path = named.path;
    return true;
}

static casparian_only only_of(const char *word)
{
    if (word && strcmp(word, "failed") == 0)
        return CASPARIAN_ONLY_FAILED;
    return word && strcmp(word, "quarantined") == 0 ? CASPARIAN_ONLY_QUARANTINED
                                                    : CASPARIAN_ONLY_ALL;
}

static bool read_quarantine(casparian_prepared_call *self, casparian_request *request)
{
    mcp_error why = MCP_ERROR_INIT;
    mcp_status st = casparian_quarantine_read(&self->spec.quarantine,
                                              mcp_arg_json(request->call, "quarantine"), &why);
    if (st != MCP_OK)
        casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL, "/quarantine: %s",
                         why.message);
    return st == MCP_OK;
}

bool casparian_prepare_read(casparian_prepared_call *out, casparian_request *request)
{
    mcp_call *call = request->call;
    *out = (casparian_prepared_call){
        .spec = { .ephemeral_id = mcp_arg_string(call, "ephemeral_id"),
                  .pattern = mcp_arg_string(call, "pattern"),
                  .max_files = mcp_arg_int(call, "max_files", 0),
                  .fail_fast = mcp_arg_bool(call, "fail_fast", false),
                  .force = mcp_arg_bool(call, "force", false),
                  .only = only_of(mcp_arg_string(call, "only")),
                  .redaction = mcp_arg_json(call, "redaction") },
        .how = { .plugin_ref = mcp_arg_json(call, "plugin_ref") },
    };
    if (!read_quarantine(out, request) || !read_schemas(out, request) || !open_plugin(out, request))
        return false;
    return true;
}

/* ---- preparing ------------------------------------------------------------------------------- */

static void write_nearest(mcp_buf *text, const casparian_plugin_problem *problem)
{
    mcp_json_writer json;
    mcp_json_writer_init(&json, text);
    mcp_write_object(&json);
    mcp_write_member_array(&json, "nearest");
    for (size_t i = 0; i < CASPARIAN_NEAREST_MAX && problem->nearest[i]; i++)
        mcp_write_string(&json, problem->nearest[i]);
    mcp_write_end(&json);
    mcp_write_end(&json);
}

static void refuse_plugin(casparian_request *request, const casparian_plugin_problem *problem,
                          const mcp_error *why)
{
    mcp_buf details;
    casparian_refusal refusal = { .code = casparian_code_find(problem->code),
                                  .message = why->message,
                                  .suggestion = problem->suggestion };
    mcp_buf_init(&details, DETAILS_MAX);
    if (problem->nearest[0]) {
        write_nearest(&details, problem);
        refusal.details = details.status == MCP_OK ? details.data : NULL;
    }
    casparian_refuse_with(request, &refusal);
    mcp_buf_clear(&details);
}

bool casparian_prepare_work(casparian_prepared_call *self, casparian_request *request)
{
    mcp_error *err = mcp_call_error(request->call);
    casparian_plugin_problem problem = { .code = NULL };
    self->how.spec = &self->spec;
    mcp_status st = casparian_driver_prepare(&self->work, &problem, request->app->driver,
                                             mcp_call_arena(request->call), &self->how, err);
    if (st == MCP_OK)
        return true;
    if (problem.code)
        refuse_plugin(request, &problem, err);
    else if (st == MCP_E_LIMIT)
        casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS,
                         "Name a folder with fewer files, or give a pattern.", "%s", err->message);
    else
        casparian_request_fail(request, st, err);
    return false;
}

bool casparian_prepare_input(casparian_prepared_call *self, casparian_request *request)
{
    guard_named named;
    if (!casparian_request_open(&named, request, mcp_arg_string(request->call, "input_dir"),
                                GUARD_FILES | GUARD_DIRS))
        return false;
    close(named.fd);
    self->how.input = named.path;
    return casparian_prepare_work(self, request);
}
