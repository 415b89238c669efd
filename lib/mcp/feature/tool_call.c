/*
 * tool_call.c - tools/call and its result.
 *
 * A call is checked here, on the loop, in this order: is the tool visible; do the headers say what
 * the body says; does the token allow it; may it be a task as the client wants it; may it write; do
 * its arguments fit; is there room for it. Arguments that are large, or take long to check, are
 * checked by the worker instead, once there is room. A tool that may not write, arguments that do
 * not fit and a lack of room give a result with isError, for the model to read; the others, and
 * arguments that cannot be checked, are JSON-RPC errors.
 */
#include <string.h>

#include "mcp/core/call/result.h"
#include "mcp/core/version.h"
#include "mcp/feature/tool_int.h"

#define SHOWN_MAX 150 /* bytes of a name in a message */

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

/* ---- a result of another server -------------------------------------------------------------- */

static mcp_status write_handed_on(const mcp_call *call, mcp_json_writer *writer)
{
    const mcp_json *structured = mcp_json_get(call->answer.handed_on, "structuredContent");
    const char *member = mcp_json_is_object(structured) ? "structuredContent"
                                                        : "structuredContent of any type";
    bool is_error = false;

    write_content(call, writer);
    if (structured && mcp__field_is_known("CallToolResult", member, call->request.revision))
        mcp_write_member_value(writer, "structuredContent", structured);
    if (mcp_json_bool(mcp_json_get(call->answer.handed_on, "isError"), &is_error))
        mcp_write_member_bool(writer, "isError", is_error);
    return MCP_OK;
}

/* The members of its _meta; those of the protocol are between us and that server. */
static mcp_status note_meta(mcp_call *call, const mcp_json *meta)
{
    static const char reserved[] = "io.modelcontextprotocol/";
    mcp_status st = MCP_OK;

    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(meta); i++) {
        const char *name = mcp_json_name(meta, i, NULL);
        mcp_json_writer writer;
        mcp_buf text;
        if (strncmp(name, reserved, sizeof reserved - 1) == 0)
            continue;
        mcp_buf_init(&text, call->context->options->limits.reply_max_bytes);
        mcp_json_writer_init(&writer, &text);
        mcp_write_value(&writer, mcp_json_item(meta, i));
        st = mcp_json_writer_status(&writer);
        const char *json = st == MCP_OK ? mcp_arena_strndup(call->arena, text.data, text.length)
                                        : NULL;
        mcp_buf_clear(&text);
        if (st == MCP_OK)
            st = json ? mcp__call_note(call, name, json) : MCP_E_NOMEM;
    }
    return st;
}

/* Drop what was written before. */
static void drop_output(mcp_call *call)
{
    mcp_buf_clear(&call->answer.result.text);
    mcp_buf_clear(&call->answer.content.text);
    call->answer.result.holds = MCP__DRAFT_EMPTY;
    call->answer.content.holds = MCP__DRAFT_EMPTY;
    call->answer.content.status = MCP_OK;
    call->answer.head_length = 0;
    call->answer.error_text = NULL;
}

mcp_status mcp_call_tool_result(mcp_call *call, const mcp_json *result)
{
    const mcp_json *content = mcp_json_get(result, "content");
    const mcp_json *meta = mcp_json_get(result, "_meta");
    mcp_status st = MCP_OK;

    if (!mcp_json_is_array(content))
        return mcp_error_set(&call->err, MCP_E_PARAMS, "a result of another server has no content");
    drop_output(call);
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(content); i++)
        st = mcp__call_block(call, mcp_json_item(content, i));
    if (st == MCP_OK && mcp_json_is_object(meta))
        st = note_meta(call, meta);
    call->answer.handed_on = st == MCP_OK ? result : NULL;
    return st;
}

/* ---- the kind -------------------------------------------------------------------------------- */

static mcp_status finish(mcp_call *call, mcp_json_writer *writer)
{
    return call->answer.handed_on ? write_handed_on(call, writer) : finish_tool(call, writer);
}

static const mcp__call_kind tool_kind = {
    .finish = finish,
    .fail = write_failure,
    .blocks = "content",
};

/* ---- tools/call ------------------------------------------------------------------------------ */

static mcp_status refuse(mcp_call *call, const mcp__tool *tool, mcp_refusal reason,
                         const mcp_schema_finding *finding)
{
    const mcp_server_options *options = call->context->options;
    mcp_status st = MCP_OK;

    call->plan.run = NULL;
    if (options->error_formatter)
        st = options->error_formatter(call, reason, finding, options->data);
    if (st != MCP_OK || call->answer.error_text)
        return st;
    if (reason == MCP_REFUSED_ARGUMENTS)
        return mcp_call_tool_error(call, "The arguments do not fit: %s", finding->message);
    if (reason == MCP_REFUSED_WRITES)
        return mcp_call_tool_error(call, "%s", options->write_note);
    return mcp_call_tool_error(call, "%s is running already; try again when it has ended.",
                               tool->row->name);
}

/* Any status may be the server's refusal. */
static bool is_refused(const mcp_call *call)
{
    return !call->plan.run;
}

/* The tool of that name, if the client may know of it. For an unknown name another tool is judged
 * and the verdict dropped: the server's function takes its time for a hidden one, too. The
 * arguments are read. */
static mcp__tool *find_shown(mcp_call *call, const char *name, size_t length)
{
    const mcp__list *tools = &call->features->tools;
    const mcp_server_options *options = call->context->options;
    mcp__feature *tool = mcp__list_find(tools, name, length);
    const mcp__feature *judged = tool ? tool : tools->first;
    mcp_hiding reason;

    if (!judged || mcp__list_judge(call, MCP_FEATURE_TOOL, judged->name, judged->scopes, &reason))
        return (mcp__tool *)tool;
    if (tool && options->hidden_called)
        options->hidden_called(call, tool->name, reason, options->data);
    return NULL;
}

/* The tool that params name; NULL, with call->err filled, when params are not those of a call. */
static mcp__tool *read_call(mcp_call *call)
{
    size_t length = 0;
    const char *name = mcp_json_string(mcp_json_get(call->request.params, "name"), &length);
    mcp__tool *tool = NULL;

    if (!name)
        (void)mcp_error_set(&call->err, MCP_E_PARAMS, "params.name must be the name of a tool");
    else if (mcp__arguments_read(call) == MCP_OK) {
        tool = find_shown(call, name, length);
        if (!tool)
            (void)mcp_error_set(&call->err, MCP_E_PARAMS, "there is no tool %.*s", SHOWN_MAX, name);
    }
    return tool;
}

static void prepare(mcp_call *call, mcp__tool *tool)
{
    bool has_own_time = tool->row->timeout_ms > 0 || (tool->row->flags & MCP_LONG);

    call->request.name = tool->row->name;
    call->plan.kind = &tool_kind;
    call->plan.feature = tool;
    call->plan.schema = tool->input;
    call->plan.flags = tool->row->flags;
    call->plan.inline_budget = tool->row->flags & MCP_NONBLOCKING ? &tool->budget : NULL;
    call->plan.timeout_ms = has_own_time ? tool->row->timeout_ms
                                         : call->context->options->limits.timeout_ms;
    call->plan.run = tool->row->run;
    call->plan.data = tool->base.data;
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

/* MCP_OK with the call refused when they do not fit; MCP_E_LIMIT with a cause: the steps are not
 * enough to tell. */
static mcp_status check_schema(mcp_call *call, uint64_t *steps, mcp_error *cause)
{
    const mcp__tool *tool = call->plan.feature;
    mcp_schema_finding finding;
    mcp_status st = mcp_schema_check_within(tool->input_schema, call->request.arguments, steps,
                                            call->arena, &finding, cause);

    if (st == MCP_E_SCHEMA)
        st = refuse(call, tool, MCP_REFUSED_ARGUMENTS, &finding);
    if (st == MCP_OK || st == MCP_E_LIMIT || call->err.status != MCP_OK)
        return st;
    return mcp_error_set(&call->err, st, "%s", cause->message);
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

    if (st != MCP_E_LIMIT || is_refused(call))
        return st;
    /* neither right nor wrong: too much work to tell */
    return mcp_error_set(&call->err, MCP_E_PARAMS, "the arguments cannot be checked: %s",
                         cause.message);
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
    if (st != MCP_E_LIMIT || is_refused(call))
        return st;
    call->plan.check = check_there;
    return MCP_OK;
}

mcp_status mcp__tools_call(mcp_call *call)
{
    mcp__tool *tool = read_call(call);

    if (!tool)
        return call->err.status;
    prepare(call, tool);
    mcp_status st = check_headers(call, tool);
    if (st == MCP_OK && tool->base.scopes)
        st = mcp_call_require_scopes(call, tool->base.scopes);
    if (st == MCP_OK && (call->features->capabilities & MCP__CAN_TASKS) && call->context->tasks)
        st = mcp__tasks_decide(call);
    if (st != MCP_OK)
        return st;
    if (mcp__tool_is_disabled(tool))
        return refuse(call, tool, MCP_REFUSED_WRITES, NULL);
    st = check_arguments(call);
    if (st != MCP_OK || call->answer.error_text || !(call->plan.flags & MCP_LONG))
        return st;
    if (tool->running >= mcp__tool_max_running(tool))
        return refuse(call, tool, MCP_REFUSED_BUSY, NULL);
    call->plan.active = &tool->running;
    tool->running++;
    return MCP_OK;
}
