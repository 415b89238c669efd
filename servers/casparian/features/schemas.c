/*
 * schemas.c - casparian_schema_propose and casparian_schema_promote.
 */
#include "features/answer.h"
#include "features/tools.h"
#include "jobs/state/rows.h"

#include <string.h>
#include <unistd.h>

#include "jobs/approval.h"
#include "jobs/ephemeral.h"
#include "jobs/promote.h"

enum { ERRORS_MAX = 100, TEXT_MAX = 1 << 20, PREVIEW_CHARACTERS = 1000 };

/* ---- propose --------------------------------------------------------------------------------- */

/* What is wrong with a proposal, written as it is found. */
typedef struct faults {
    mcp_json_writer *json; /* in an open array */
    mcp_arena *arena;
    size_t count;
} faults;

static void report(void *data, const char *place, const char *message)
{
    faults *self = data;
    if (self->count++ < ERRORS_MAX)
        mcp_write_string(self->json, mcp_arena_printf(self->arena, "%s: %s", place, message));
}

/* One definition as {"NAME": definition}, so that both arguments are read alike. NULL: no memory */
static const mcp_json *as_map(casparian_request *request, const mcp_json *schema)
{
    const char *name = mcp_json_get_string(schema, "output_name");
    const mcp_json *map = NULL;
    mcp_json_writer json;
    mcp_buf text;
    mcp_buf_init(&text, TEXT_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_value(&json, name ? name : "", schema);
    mcp_write_end(&json);
    if (mcp_json_writer_status(&json) == MCP_OK)
        mcp_json_read(&map, mcp_call_arena(request->call), text.data, text.length, NULL);
    mcp_buf_clear(&text);
    return map;
}

/* The hashes of the outputs that are valid, also where others are not. */
static void write_hashes(casparian_request *request, const mcp_json *map)
{
    mcp_json_writer *json = casparian_request_result(request);
    mcp_write_member_object(json, "schema_hashes");
    for (size_t i = 0; i < mcp_json_count(map); i++) {
        const char *name = mcp_json_name(map, i, NULL);
        const mcp_json *schema = mcp_json_item(map, i);
        const char *inner = mcp_json_get_string(schema, "output_name");
        casparian_definition definition;
        if (inner && strcmp(inner, name) == 0 &&
            casparian_definition_read(&definition, mcp_call_arena(request->call), schema, NULL,
                                      NULL, NULL) == MCP_OK)
            mcp_write_member_string(json, name, definition.hash);
    }
    mcp_write_end(json);
}

static mcp_status write_normalized(mcp_json_writer *json, const casparian_schemas *schemas)
{
    mcp_status st = MCP_OK;
    mcp_buf text;
    mcp_buf_init(&text, TEXT_MAX);
    mcp_write_member_object(json, "normalized");
    for (size_t i = 0; i < schemas->count && st == MCP_OK; i++) {
        mcp_buf_reset(&text);
        st = casparian_definition_canonical(&text, &schemas->items[i]);
        if (st == MCP_OK) {
            mcp_write_name(json, schemas->items[i].output);
            mcp_write_raw(json, text.data, text.length);
        }
    }
    mcp_write_end(json);
    mcp_buf_clear(&text);
    return st;
}

/* {"plugin_ref"?, "output"?} of the arguments; NULL: neither. */
static const mcp_json *hints_of(casparian_request *request)
{
    const mcp_json *ref = mcp_arg_json(request->call, "plugin_ref"), *hints = NULL;
    const char *output = mcp_arg_string(request->call, "output");
    mcp_json_writer json;
    mcp_buf text;
    if (!ref && !output)
        return NULL;
    mcp_buf_init(&text, TEXT_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    if (ref)
        mcp_write_member_value(&json, "plugin_ref", ref);
    if (output)
        mcp_write_member_string(&json, "output", output);
    mcp_write_end(&json);
    if (mcp_json_writer_status(&json) == MCP_OK)
        mcp_json_read(&hints, mcp_call_arena(request->call), text.data, text.length, NULL);
    mcp_buf_clear(&text);
    return hints;
}

static mcp_status store(casparian_request *request, const casparian_schemas *schemas)
{
    casparian_ephemeral made;
    mcp_json_writer *json = casparian_request_result(request);
    mcp_status st = casparian_ephemeral_propose(
        &made, request->app->store, mcp_call_arena(request->call), schemas, "ai_iteration",
        hints_of(request), mcp_call_error(request->call));
    if (st != MCP_OK)
        return st;
    mcp_write_member_string(json, "ephemeral_id", made.id);
    casparian_write_time(json, "expires_at", made.expires_ms);
    return write_normalized(json, schemas);
}

mcp_status casparian_schema_propose_tool(casparian_request *request)
{
    const mcp_json *schema = mcp_arg_json(request->call, "schema");
    const mcp_json *map = mcp_arg_json(request->call, "schemas");
    casparian_schemas schemas = { 0 };
    mcp_error why = MCP_ERROR_INIT;
    if (!schema == !map)
        return casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL,
                                "exactly one of schema and schemas is required");
    if (schema)
        map = as_map(request, schema);
    if (!map)
        return MCP_E_NOMEM;
    mcp_json_writer *json = casparian_request_result(request);
    faults found = { .json = json, .arena = mcp_call_arena(request->call) };
    write_hashes(request, map);
    mcp_write_member_array(json, "validation_errors");
    mcp_status st = casparian_schemas_read(&schemas, found.arena, map, report, &found, &why);
    if (st == MCP_OK && schemas.count == 0) {
        report(&found, "/schemas", "at least one output is required");
        st = MCP_E_SCHEMA;
    }
    mcp_write_end(json);
    mcp_write_member_bool(json, "valid", st == MCP_OK);
    if (st == MCP_E_SCHEMA)
        return MCP_OK;
    return st == MCP_OK ? store(request, &schemas) : st;
}

/* ---- promote --------------------------------------------------------------------------------- */

/* The first characters of the code, whole ones. */
static size_t preview_length(const casparian_promoted_file *file)
{
    size_t at = 0, characters = 0;
    while (at < file->length && characters < PREVIEW_CHARACTERS) {
        at++;
        while (at < file->length && ((unsigned char)file->text[at] & 0xC0) == 0x80)
            at++;
        characters++;
    }
    return at;
}

/* The folder that the files are written to, if it is not there; NULL: it is. */
static const char *missing_folder(const casparian_promotion *code, mcp_arena *arena)
{
    const char *path = code->files[0].path;
    const char *slash = strrchr(path, '/');
    const char *folder = slash && slash > path
                             ? mcp_arena_strndup(arena, path, (size_t)(slash - path))
                             : NULL;
    return folder && access(folder, F_OK) != 0 ? folder : NULL;
}

static mcp_status ask(casparian_request *request, const char *ephemeral_id, const char *path,
                      const casparian_promotion *code, const casparian_ephemeral *proposal)
{
    mcp_arena *arena = mcp_call_arena(request->call);
    const casparian_promote_request what = { .ephemeral_id = ephemeral_id,
                                             .output_path = path,
                                             .code = code,
                                             .requested_by = casparian_request_client(request) };
    casparian_approval approval;
    mcp_status st = casparian_approval_request_promote(&approval, request->app->store, arena, &what,
                                                       mcp_call_error(request->call));
    if (st != MCP_OK)
        return st;
    mcp_json_writer *json = casparian_request_result(request);
    mcp_write_member_string(json, "approval_id", approval.id);
    mcp_write_member_string(json, "status", "pending_approval");
    mcp_write_name(json, "preview");
    mcp_write_string_n(json, code->files[0].text, preview_length(&code->files[0]));
    mcp_write_member_string(json, "approve_command",
                            mcp_arena_printf(arena, "casparian approvals approve %s", approval.id));
    casparian_write_time(json, "expires_at", approval.expires_ms);
    mcp_write_member_string(json, "sha256", code->sha256);
    return casparian_ephemeral_warn(json, request->app->store, arena, proposal,
                                    mcp_call_error(request->call));
}

mcp_status casparian_schema_promote_tool(casparian_request *request)
{
    mcp_arena *arena = mcp_call_arena(request->call);
    mcp_error *err = mcp_call_error(request->call);
    const char *id = mcp_arg_string(request->call, "ephemeral_id");
    const char *path = mcp_arg_string(request->call, "output_path");
    casparian_ephemeral proposal;
    casparian_promotion code;
    guard_target target;
    mcp_status st = casparian_ephemeral_load(&proposal, request->app->store, arena, id, err);
    if (st == MCP_E_NOT_FOUND)
        return casparian_refuse(request, CASPARIAN_CODE_NOT_FOUND,
                                "Propose the schemas again with casparian_schema_propose.",
                                "there is no proposal %s, or it has expired", id);
    if (st == MCP_E_PARAMS)
        return casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL, "%s",
                                err->message);
    if (st != MCP_OK)
        return st;
    if (!casparian_request_target(&target, request, path))
        return MCP_OK;
    const char *full = target.path;
    close(target.dir_fd);
    if (path[strlen(path) - 1] == '/') /* a folder, for a file an output */
        full = mcp_arena_printf(arena, "%s/", full);
    if (!full)
        return MCP_E_NOMEM;
    st = casparian_promote(&code, arena, &proposal.schemas, id, full, err);
    if (st == MCP_E_PARAMS)
        return casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL, "/output_path: %s",
                                err->message);
    const char *missing = st == MCP_OK ? missing_folder(&code, arena) : NULL;
    if (missing)
        return casparian_refuse(request, CASPARIAN_CODE_NOT_FOUND,
                                "Name a file in a folder that there is, or make the folder first.",
                                "/output_path: there is no folder %s", missing);
    for (size_t i = 0; st == MCP_OK && i < code.count; i++) {
        if (access(code.files[i].path, F_OK) == 0)
            return casparian_refuse(request, CASPARIAN_CODE_CONFLICT, "Name another file.",
                                    "%s exists, and nothing is overwritten", code.files[i].path);
    }
    return st == MCP_OK ? ask(request, id, full, &code, &proposal) : st;
}
