/*
 * tools.c - tools: their files bound to their functions, tools/list and tools/call.
 *
 * A tool is a JSON file, which clients get, and a row that binds its name to a
 * function. Everything that can be wrong with the two is found when they are loaded, so that a
 * server that starts has tools that work: names match one to one, schemas compile, no two tools
 * share a name.
 *
 * A call is checked here, on the loop, in this order: is the tool visible; does the token allow it;
 * may it write; do its arguments fit; is there room for it. Arguments that are large, or take long
 * to check, are checked by the worker instead, once there is room. The first three can be answered
 * without looking at arguments, which may hold anything. What fails from the third on is a result
 * with isError, for the model to read; a call that is no call, or not allowed, is a JSON-RPC error.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/core/call/result.h"
#include "mcp/core/message/message.h"
#include "mcp/feature/list/exposure.h"
#include "mcp/feature/shared_defs.h"
#include "mcp/feature/tasks.h"
#include "mcp/feature/tool_int.h"

#define SHOWN_MAX 150 /* bytes of a name in a message */
#define TOOLS_MAX_BYTES ((size_t)256 * 1024 * 1024)

/* ---- loading --------------------------------------------------------------------------------- */

mcp_status mcp__tools_new(mcp__tools **out, const mcp_server_options *options, mcp_error *err)
{
    mcp__tools *tools = mcp_alloc_zeroed(1, sizeof *tools);

    if (!tools)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for tools");
    tools->options = options;
    tools->arena = mcp_arena_new(TOOLS_MAX_BYTES);
    mcp__map_init(&tools->by_name, tools->arena);
    mcp_status st = tools->arena ? mcp__list_new(&tools->list, "tools", err)
                                 : mcp_error_set(err, MCP_E_NOMEM, "no memory for tools");
    if (st != MCP_OK) {
        mcp__tools_free(tools);
        return st;
    }
    *out = tools;
    return MCP_OK;
}

void mcp__tools_free(mcp__tools *tools)
{
    if (!tools)
        return;
    for (mcp__tool *tool = tools->first; tool; tool = tool->next) {
        mcp_schema_free(tool->input_schema);
        mcp_schema_free(tool->output_schema);
    }
    mcp__list_free(tools->list);
    mcp_arena_free(tools->arena);
    free(tools);
}

static bool is_tool_file(const char *path)
{
    size_t length = strlen(path);

    return strncmp(path, "tools/", 6) == 0 && length > 11 &&
           strcmp(path + length - 5, ".json") == 0 && strcmp(path, "tools/_defs.json") != 0;
}

/* The error of something in a file. */
static mcp_status in_file(const mcp_file *file, mcp_status st, const mcp_error *cause,
                          mcp_error *err)
{
    return st == MCP_OK ? st
                        : mcp_error_set(err, st == MCP_E_NOMEM ? st : MCP_E_PARAMS, "%s: %s",
                                        file->path, cause->message);
}

static mcp_status read_file(const mcp_json **out, mcp__tools *tools, const mcp_file *file,
                            mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = mcp_json_read(out, tools->arena, file->bytes, file->length, &cause);

    if (st == MCP_OK && !mcp_json_is_object(*out))
        st = mcp_error_set(&cause, MCP_E_PARAMS, "not a JSON object");
    return in_file(file, st, &cause, err);
}

/* One of the tool's two schemas: completed by shared shapes, and compiled. */
static mcp_status load_schema(const mcp_json **out, mcp_schema **compiled, const mcp__tool *tool,
                              const mcp_json *shared, const char *member, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = mcp__shared_defs_merge(out, tool->owner->arena,
                                           mcp_json_get(tool->definition, member), shared, &cause);

    if (st == MCP_OK)
        st = mcp_schema_compile(compiled, *out, NULL, &cause);
    return st == MCP_OK ? st : mcp_error_set(err, st, "%s: %s", member, cause.message);
}

static bool describes_object(const mcp_json *definition, const char *member)
{
    const char *type = mcp_json_get_string(mcp_json_get(definition, member), "type");

    return type && strcmp(type, "object") == 0;
}

/* What the tool's file says. */
static mcp_status load_definition(mcp__tool *tool, const mcp_json *shared, mcp_error *err)
{
    const mcp_json *definition = tool->definition;

    if (!describes_object(definition, "inputSchema"))
        return mcp_error_set(err, MCP_E_PARAMS, "inputSchema must have type \"object\"");
    tool->gives_object = describes_object(definition, "outputSchema");
    mcp_status st = load_schema(&tool->input, &tool->input_schema, tool, shared, "inputSchema",
                                err);
    if (st == MCP_OK)
        st = mcp__param_headers_read(&tool->headers, tool->owner->arena, tool->input, err);
    if (st == MCP_OK && mcp_json_get(definition, "outputSchema"))
        st = load_schema(&tool->output, &tool->output_schema, tool, shared, "outputSchema", err);
    return st == MCP_OK ? mcp__exposure_scopes(&tool->scopes, definition, err) : st;
}

static mcp__tool *find(const mcp__tools *tools, const char *name)
{
    return mcp__map_get(&tools->by_name, name, strlen(name));
}

static mcp_status keep_names(mcp__tools *tools, mcp__tool *tool, mcp_error *err)
{
    const char *name = tool->row->name;
    mcp_status st = mcp__map_put(&tools->by_name, name, strlen(name), tool);

    if (st == MCP_OK) /* the same key, where the two are one */
        st = mcp__map_put(&tools->by_name, tool->safe_name, strlen(tool->safe_name), tool);
    return st == MCP_OK ? st : mcp_error_set(err, st, "no memory for tools");
}

static mcp_status check_row(const mcp__tools *tools, const mcp_tool *row, const char *safe_name,
                            mcp_error *err)
{
    const unsigned tasks = row->flags & (MCP_TASK_OPTIONAL | MCP_TASK_REQUIRED);
    const mcp__tool *other = find(tools, row->name);
    const char *fault = NULL;

    if (!other)
        other = find(tools, safe_name);
    if (other)
        return mcp_error_set(err, MCP_E_PARAMS, "tools %s and %s have one safe name", row->name,
                             other->row->name);
    if (!(row->flags & MCP_READS) == !(row->flags & MCP_WRITES))
        fault = "says neither MCP_READS nor MCP_WRITES, or both";
    else if ((row->flags & MCP_NONBLOCKING) && (row->flags & MCP_LONG))
        fault = "says both MCP_NONBLOCKING and MCP_LONG";
    else if ((row->flags & MCP_NONBLOCKING) && tasks)
        fault = "says MCP_NONBLOCKING and that it may be a task";
    else if ((row->flags & MCP_TASK_DEFERRED) && !tasks)
        fault = "says MCP_TASK_DEFERRED, but neither MCP_TASK_OPTIONAL nor MCP_TASK_REQUIRED";
    else if (!row->run || row->timeout_ms < 0 || row->max_running < 0)
        fault = "has no function or a negative bound";
    return fault ? mcp_error_set(err, MCP_E_PARAMS, "tool %s %s", row->name, fault) : MCP_OK;
}

static mcp_status add_tool(mcp__tools *tools, const mcp_tool *row, const mcp_json *definition,
                           const mcp_json *shared, const mcp_file *file, void *data, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp__tool *tool = mcp_arena_alloc(tools->arena, sizeof *tool);

    if (!tool)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for tools");
    *tool = (mcp__tool){ .row = row, .data = data, .owner = tools, .definition = definition };
    mcp__safe_name(tool->safe_name, row->name);
    mcp_status st = check_row(tools, row, tool->safe_name, err);
    if (st == MCP_OK)
        st = in_file(file, load_definition(tool, shared, &cause), &cause, err);
    if (st == MCP_OK)
        st = keep_names(tools, tool, err);
    if (st == MCP_OK)
        st = mcp__list_add(tools->list, row->name, tool->scopes, mcp__tool_write, tool, err);
    if (st != MCP_OK) {
        mcp_schema_free(tool->input_schema);
        mcp_schema_free(tool->output_schema);
        return st;
    }
    if (tools->last)
        tools->last->next = tool;
    else
        tools->first = tool;
    tools->last = tool;
    if (row->flags & MCP_LONG)
        tools->long_threads += row->max_running > 0 ? row->max_running : 1;
    return MCP_OK;
}

/* A tool's file and what it says. */
struct definition {
    const mcp_file *file;
    const mcp_json *value;
    const char *name;
    bool is_bound;
};

static mcp_status read_definitions(struct definition **out, size_t *count, mcp__tools *tools,
                                   const mcp_file *files, mcp_error *err)
{
    size_t most = 0;
    struct definition *all;

    for (const mcp_file *file = files; file && file->path; file++)
        most += is_tool_file(file->path);
    all = mcp_arena_array(tools->arena, most + 1, sizeof *all);
    if (!all)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for tools");
    *count = 0;
    for (const mcp_file *file = files; file && file->path; file++) {
        struct definition *one = &all[*count];
        if (!is_tool_file(file->path))
            continue;
        mcp_status st = read_file(&one->value, tools, file, err);
        if (st != MCP_OK)
            return st;
        one->file = file;
        one->name = mcp_json_get_string(one->value, "name");
        if (!one->name)
            return mcp_error_set(err, MCP_E_PARAMS, "%s: no name", file->path);
        (*count)++;
    }
    *out = all;
    return MCP_OK;
}

static struct definition *definition_of(struct definition *all, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0 && !all[i].is_bound)
            return &all[i];
    return NULL;
}

static mcp_status bind(mcp__tools *tools, const mcp_features *features, struct definition *all,
                       size_t count, const mcp_json *shared, mcp_error *err)
{
    tools->rows = features->tools;
    for (const mcp_tool *row = features->tools; row->name; row++) {
        struct definition *definition = definition_of(all, count, row->name);
        if (!definition)
            return mcp_error_set(err, MCP_E_PARAMS, "tool %s has no file tools/*.json", row->name);
        definition->is_bound = true;
        mcp_status st = add_tool(tools, row, definition->value, shared, definition->file,
                                 features->data, err);
        if (st != MCP_OK)
            return st;
    }
    for (size_t i = 0; i < count; i++)
        if (!all[i].is_bound)
            return mcp_error_set(err, MCP_E_PARAMS, "%s: tool %s has no row in the table",
                                 all[i].file->path, all[i].name);
    return MCP_OK;
}

mcp_status mcp__tools_load(mcp__tools *tools, const mcp_features *features, mcp_error *err)
{
    const mcp_file *shared_file = mcp_files_find(features->files, "tools/_defs.json");
    const mcp_json *shared = NULL;
    struct definition *all = NULL;
    size_t count = 0;
    mcp_status st = MCP_OK;

    if (shared_file)
        st = read_file(&shared, tools, shared_file, err);
    if (st == MCP_OK)
        st = read_definitions(&all, &count, tools, features->files, err);
    if (st == MCP_OK)
        st = bind(tools, features, all, count, shared, err);
    tools->rows = NULL;
    return st;
}

const char *mcp__tools_scopes_of(const mcp__tools *tools, const char *name)
{
    const mcp__tool *tool = find(tools, name);

    return tool ? tool->scopes : NULL;
}

void mcp__tools_scopes(const mcp__tools *tools, mcp_buf *out)
{
    mcp__list_scopes(tools->list, out);
}

int mcp__tools_long_threads(const mcp__tools *tools)
{
    return tools->long_threads;
}

/* ---- tools/list ------------------------------------------------------------------------------ */

mcp_status mcp__tools_list(mcp__tools *tools, mcp_call *call)
{
    return mcp__list_answer(tools->list, call);
}

/* ---- the result ------------------------------------------------------------------------------ */

static void write_text_block(mcp_json_writer *writer, const char *text, size_t length)
{
    mcp_write_object(writer);
    mcp_write_member_string(writer, "type", "text");
    mcp_write_name(writer, "text");
    mcp_write_string_n(writer, text, length);
    mcp_write_end(writer);
}

static void write_failure(mcp_json_writer *writer, const char *text, size_t length)
{
    mcp_write_member_array(writer, "content");
    write_text_block(writer, text, length);
    mcp_write_end(writer);
    mcp_write_member_bool(writer, "isError", true);
}

static bool has_result(const mcp_call *call)
{
    return call->answer.result.holds != MCP__DRAFT_EMPTY;
}

/* Where the message was begun early, the blocks are there already. */
static void write_content(const mcp_call *call, mcp_json_writer *writer)
{
    size_t length = 0;
    const char *blocks = mcp__result_blocks(call, &length);

    if (!mcp__result_is_in_place(call))
        mcp_write_member_array(writer, "content");
    if (has_result(call))
        write_text_block(writer, call->answer.result.text.data, call->answer.result.text.length);
    if (length > 0) /* several blocks, with the commas between them */
        mcp_write_raw(writer, blocks, length);
    mcp_write_end(writer);
}

static mcp_status check_value(mcp_call *call, const mcp__tool *tool, mcp_error *cause)
{
    const mcp_json *value = NULL;
    mcp_schema_finding finding;

    if (!has_result(call))
        return mcp_error_set(cause, MCP_E_SCHEMA, "no result was written");
    mcp_status st = mcp_json_read(&value, call->arena, call->answer.result.text.data,
                                  call->answer.result.text.length, cause);
    call->request.steps.left += MCP__STEPS_A_BYTE *
                                call->answer.result.text.length; /* bytes of our own */
    const char *duplicate = st == MCP_OK ? mcp__arguments_duplicate(value) : NULL;
    if (duplicate)
        return mcp_error_set(cause, MCP_E_SCHEMA, "duplicate member '%s'", duplicate);
    if (st == MCP_OK && tool->output_schema)
        st = mcp_schema_check_within(tool->output_schema, value, &call->request.steps.left,
                                     call->arena, &finding, cause);
    return st;
}

/* A result without a schema is checked in debug builds alone, for duplicate members. */
static bool is_checked(const mcp_call *call, const mcp__tool *tool)
{
    bool is_debug = false;

#ifndef NDEBUG
    is_debug = has_result(call);
#endif
    return (tool->output || is_debug) && !call->context->options->skip_output_check;
}

static mcp_status check_result(mcp_call *call, const mcp__tool *tool)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = check_value(call, tool, &cause);

    if (st == MCP_OK)
        return MCP_OK;
    if (st == MCP_E_SCHEMA)
        mcp__result_count_mismatch(call);
    return mcp_error_set(&call->err, st == MCP_E_NOMEM ? st : MCP_E_INTERNAL,
                         "tool %s: the result is not valid: %s", tool->row->name, cause.message);
}

/* The result object goes out as text that every client can show and, where the tool promises a form
 * and the revision knows it, as the value itself: the same bytes twice, written by the handler
 * once. */
static mcp_status finish_tool(mcp_call *call, mcp_json_writer *writer)
{
    const mcp__tool *tool = call->plan.feature;
    mcp_status st = has_result(call) ? mcp__draft_end(&call->answer.result) : MCP_OK;

    if (st == MCP_OK && is_checked(call, tool))
        st = check_result(call, tool);
    if (st != MCP_OK)
        return st;
    write_content(call, writer);
    if (has_result(call) && mcp__tool_is_structured(tool, call->request.revision)) {
        mcp_write_name(writer, "structuredContent");
        mcp_write_raw(writer, call->answer.result.text.data, call->answer.result.text.length);
    }
    if (call->context->options->explicit_is_error)
        mcp_write_member_bool(writer, "isError", false);
    return MCP_OK;
}

static const mcp__call_kind tool_kind = {
    .finish = finish_tool,
    .fail = write_failure,
    .blocks = "content",
};

/* ---- tools/call ------------------------------------------------------------------------------ */

static mcp_status refuse_plainly(mcp_call *call, const mcp__tool *tool, mcp_refusal reason,
                                 const mcp_schema_finding *finding)
{
    switch (reason) {
    case MCP_REFUSED_ARGUMENTS:
        return mcp_call_tool_error(call, "The arguments do not fit: %s", finding->message);
    case MCP_REFUSED_WRITES:
        return mcp_call_tool_error(call, "%s", tool->owner->options->write_note);
    case MCP_REFUSED_BUSY:
        break;
    }
    return mcp_call_tool_error(call, "%s is running already; try again when it has ended.",
                               tool->row->name);
}

static mcp_status refuse(mcp_call *call, const mcp__tool *tool, mcp_refusal reason,
                         const mcp_schema_finding *finding)
{
    const mcp_server_options *options = tool->owner->options;
    mcp_status st = MCP_OK;

    call->plan.run = NULL;
    if (options->error_formatter)
        st = options->error_formatter(call, reason, finding, options->data);
    if (st == MCP_OK && !call->answer.error_text)
        st = refuse_plainly(call, tool, reason, finding);
    return st;
}

/* NULL: there is none, or it is hidden from the client. */
static mcp__tool *find_shown(const mcp__tools *tools, const mcp_call *call, const char *name)
{
    mcp__tool *tool = find(tools, name);

    return tool && mcp__exposure_shows(call, MCP_FEATURE_TOOL, tool->row->name, tool->scopes)
               ? tool
               : NULL;
}

/* The tool that params name; NULL, with call->err filled, when params are not those of a call. */
static mcp__tool *read_call(mcp__tools *tools, mcp_call *call)
{
    size_t length = 0;
    const char *name = mcp_json_string(mcp_json_get(call->request.params, "name"), &length);
    mcp__tool *tool = name && strlen(name) == length ? find_shown(tools, call, name) : NULL;

    if (!name)
        (void)mcp_error_set(&call->err, MCP_E_PARAMS, "params.name must be the name of a tool");
    else if (mcp__arguments_read(call) == MCP_OK && !tool)
        (void)mcp_error_set(&call->err, MCP_E_PARAMS, "there is no tool %.*s", SHOWN_MAX, name);
    return call->err.status == MCP_OK ? tool : NULL;
}

static int timeout_of(const mcp__tool *tool)
{
    if (tool->row->timeout_ms > 0 || (tool->row->flags & MCP_LONG))
        return tool->row->timeout_ms;
    return tool->owner->options->limits.timeout_ms;
}

static void prepare(mcp_call *call, mcp__tool *tool)
{
    call->request.name = tool->row->name;
    call->plan.kind = &tool_kind;
    call->plan.feature = tool;
    call->plan.schema = tool->input;
    call->plan.flags = tool->row->flags;
    call->plan.inline_budget = tool->row->flags & MCP_NONBLOCKING ? &tool->budget : NULL;
    call->plan.timeout_ms = timeout_of(tool);
    call->plan.run = tool->row->run;
    call->plan.data = tool->data;
}

/* From 2026-07-28 and over HTTP: headers that repeat arguments say the same. */
static mcp_status check_headers(mcp_call *call, const mcp__tool *tool)
{
    const mcp__headers *headers = call->notification_peer->headers;

    if (!headers || !mcp__call_is_stateless(call))
        return MCP_OK;
    return mcp__param_headers_check(tool->headers, headers, call->request.arguments, call->arena,
                                    &call->err);
}

/* MCP_OK with the call refused when they do not fit; MCP_E_LIMIT: the steps are not enough to
 * tell. */
static mcp_status check_schema(mcp_call *call, uint64_t *steps, mcp_error *cause)
{
    const mcp__tool *tool = call->plan.feature;
    mcp_schema_finding finding;
    mcp_status st = mcp_schema_check_within(tool->input_schema, call->request.arguments, steps,
                                            call->arena, &finding, cause);

    return st == MCP_E_SCHEMA ? refuse(call, tool, MCP_REFUSED_ARGUMENTS, &finding) : st;
}

/* The normalizer sees no duplicate members. */
static mcp_status fit_arguments(mcp_call *call)
{
    const mcp__tool *tool = call->plan.feature;
    const mcp_server_options *options = call->context->options;
    mcp_status st = mcp__arguments_check(call);

    if (st == MCP_OK && options->normalize_arguments)
        st = options->normalize_arguments(call, tool->row->name, &call->request.arguments,
                                          options->data);
    return st;
}

/* On a worker. */
static mcp_status check_there(mcp_call *call)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = check_schema(call, &call->request.steps.left, &cause);

    if (st == MCP_E_LIMIT) /* neither right nor wrong: too much work to tell */
        return mcp_error_set(&call->err, MCP_E_PARAMS, "the arguments cannot be checked: %s",
                             cause.message);
    return st == MCP_OK || call->err.status != MCP_OK
               ? st
               : mcp_error_set(&call->err, st, "%s", cause.message);
}

/* On a worker. */
static mcp_status fit_and_check_there(mcp_call *call)
{
    mcp_status st = fit_arguments(call);

    return st == MCP_OK ? check_there(call) : st;
}

/* On the loop, as long as that takes no time; what takes longer is left to the worker. */
static mcp_status check_arguments(mcp_call *call)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st;

    if (call->request.steps.on_loop == 0) {
        call->plan.check = fit_and_check_there;
        return MCP_OK;
    }
    st = fit_arguments(call);
    if (st != MCP_OK)
        return st;
    st = check_schema(call, &call->request.steps.on_loop, &cause);
    if (st == MCP_E_LIMIT) {
        call->plan.check = check_there;
        return MCP_OK;
    }
    return st == MCP_OK || call->err.status != MCP_OK
               ? st
               : mcp_error_set(&call->err, st, "%s", cause.message);
}

mcp_status mcp__tools_call(mcp__tools *tools, mcp_call *call)
{
    mcp__tool *tool = read_call(tools, call);

    if (!tool)
        return call->err.status;
    prepare(call, tool);
    mcp_status st = check_headers(call, tool);
    if (st == MCP_OK && tool->scopes)
        st = mcp_call_require_scopes(call, tool->scopes);
    if (st == MCP_OK)
        st = mcp__tasks_decide(call);
    if (st != MCP_OK)
        return st;
    if (mcp__tool_is_disabled(tool))
        return refuse(call, tool, MCP_REFUSED_WRITES, NULL);
    st = check_arguments(call);
    if (st != MCP_OK || call->answer.error_text || !(call->plan.flags & MCP_LONG))
        return st;
    if (tool->running >= (tool->row->max_running > 0 ? tool->row->max_running : 1))
        return refuse(call, tool, MCP_REFUSED_BUSY, NULL);
    call->plan.active = &tool->running;
    tool->running++;
    return MCP_OK;
}
