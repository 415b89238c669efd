/*
 * machine.c - an action as a request to a machine: a task for its agent, or a call of its tool.
 *
 * A task is POST {endpointUrl}/v1/responses with {"input", "metadata"}, a tool is
 * POST {endpointUrl}/tools/invoke with {"tool", "args"}. The egress list is the adapter's. An
 * answer may name the kind of an error in {"error": {"type"}}.
 */
#include <string.h>

#include "executors/kinds.h"

enum { TEXT_MAX = 1 << 20, ADDRESS_MAX = 4096 };

static bool is_tool(const mcp_json *binding)
{
    const char *mode = mcp_json_get_string(binding, "mode");
    return mode ? strcmp(mode, "tool") == 0 : mcp_json_get(binding, "tool") != NULL;
}

/* ---- the request ----------------------------------------------------------------------------- */

static mcp_status read_back(const mcp_json **out, mcp_buf *text, mcp_json_writer *json,
                            mcp_arena *arena, mcp_error *err)
{
    mcp_status st = mcp_json_writer_status(json);
    if (st != MCP_OK)
        mcp_error_set(err, st, "the input is too large for a machine");
    else
        st = mcp_json_read(out, arena, text->data, text->length, err);
    mcp_buf_clear(text);
    return st;
}

/* The input of a task is text: a string as it is, other values as JSON. */
static void write_task(mcp_json_writer *json, const portarium_attempt *attempt)
{
    mcp_buf text;
    mcp_json_writer writer;
    size_t length = 0;
    const char *input = mcp_json_string(attempt->input, &length);
    mcp_buf_init(&text, TEXT_MAX);
    if (!input && attempt->input) {
        mcp_json_writer_init(&writer, &text);
        mcp_write_value(&writer, attempt->input);
        input = mcp_json_writer_status(&writer) == MCP_OK ? text.data : NULL;
        length = text.length;
    }
    mcp_write_name(json, "input");
    mcp_write_string_n(json, input ? input : "", input ? length : 0);
    mcp_write_member_object(json, "metadata");
    mcp_write_member_string(json, "runId", attempt->run_id);
    mcp_write_member_string(json, "actionId", attempt->action_id);
    mcp_write_member_string(json, "operation", attempt->operation);
    mcp_write_end(json);
    mcp_buf_clear(&text);
}

static mcp_status make_body(const mcp_json **out, const portarium_attempt *attempt,
                            mcp_arena *arena, mcp_error *err)
{
    mcp_buf text;
    mcp_json_writer json;
    const char *tool = mcp_json_get_string(attempt->binding, "tool");
    mcp_buf_init(&text, TEXT_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    if (is_tool(attempt->binding)) {
        mcp_write_member_string(&json, "tool", tool ? tool : attempt->operation);
        mcp_write_name(&json, "args");
        if (attempt->input)
            mcp_write_value(&json, attempt->input);
        else
            mcp_write_raw(&json, "{}", 2);
    } else {
        write_task(&json, attempt);
    }
    mcp_write_end(&json);
    return read_back(out, &text, &json, arena, err);
}

/* The same as a binding of http: its body is the input, and so never a template. */
static mcp_status make_binding(const mcp_json **out, const portarium_attempt *attempt,
                               const char *endpoint, mcp_arena *arena, mcp_error *err)
{
    mcp_buf text;
    mcp_json_writer json;
    size_t length = strlen(endpoint);
    const char *auth = mcp_json_get_string(attempt->machine, "auth");
    const char *credential = mcp_json_get_string(attempt->binding, "credential");
    const char *path = is_tool(attempt->binding) ? "/tools/invoke" : "/v1/responses";
    if (!credential)
        credential = mcp_json_get_string(attempt->machine, "credential");
    if (length > 0 && endpoint[length - 1] == '/')
        length--;
    mcp_buf_init(&text, ADDRESS_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "url",
                            mcp_arena_printf(arena, "%.*s%s", (int)length, endpoint, path));
    if (credential) {
        mcp_write_member_string(&json, "credential", credential);
        mcp_write_member_object(&json, "headers");
        if (auth && strcmp(auth, "apiKey") == 0)
            mcp_write_member_string(&json, "X-API-Key", "${credential}");
        else
            mcp_write_member_string(&json, "Authorization", "Bearer ${credential}");
        mcp_write_end(&json);
    }
    mcp_write_end(&json);
    return read_back(out, &text, &json, arena, err);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static bool class_of(portarium_error_class *out, const mcp_json *error)
{
    static const struct {
        const char *kind;
        portarium_error_class class;
    } rows[] = { { "Unauthorized", PORTARIUM_CLASS_AUTH_DENY },
                 { "RateLimited", PORTARIUM_CLASS_RATE_LIMIT },
                 { "PolicyDenied", PORTARIUM_CLASS_POLICY_DENY },
                 { "Timeout", PORTARIUM_CLASS_TIMEOUT },
                 { "RemoteError", PORTARIUM_CLASS_UNKNOWN } };
    const char *kind = mcp_json_get_string(error, "type");
    if (!kind)
        kind = mcp_json_get_string(error, "kind");
    for (size_t i = 0; kind && i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(kind, rows[i].kind) == 0) {
            *out = rows[i].class;
            return true;
        }
    }
    return false;
}

/* An error in the answer is a failure, whatever its status. */
static void take_error(portarium_result *out)
{
    const mcp_json *error = mcp_json_get(out->output, "error");
    portarium_error_class class = PORTARIUM_CLASS_UNKNOWN;
    bool has_kind = class_of(&class, error);
    bool is_error = mcp_json_is_object(error);
    if (out->outcome == PORTARIUM_OUTCOME_FAILED && has_kind)
        out->error_class = class;
    else if (out->outcome == PORTARIUM_OUTCOME_DONE && is_error)
        portarium_end(out, PORTARIUM_OUTCOME_FAILED, class, "the machine answered with an error");
}

/* ---- the executor ---------------------------------------------------------------------------- */

static void perform(portarium_result *out, const portarium_attempt *attempt,
                    const portarium_stop *stop, mcp_arena *arena, void *data)
{
    mcp_error err = MCP_ERROR_INIT;
    portarium_attempt request = *attempt;
    mcp_status st = MCP_OK;
    const char *endpoint = mcp_json_get_string(attempt->machine, "endpointUrl");
    const char *auth = mcp_json_get_string(attempt->machine, "auth");
    if (!endpoint)
        st = mcp_error_set(&err, MCP_E_NOT_FOUND, "the machine does not exist or is not active");
    else if (strstr(endpoint, "${"))
        st = mcp_error_set(&err, MCP_E_PARAMS, "the address of a machine is no template");
    else if (auth && strcmp(auth, "mtls") == 0)
        st = mcp_error_set(&err, MCP_E_UNSUPPORTED, "machines with mtls cannot be called");
    if (st == MCP_OK)
        st = make_body(&request.input, attempt, arena, &err);
    if (st == MCP_OK)
        st = make_binding(&request.binding, attempt, endpoint, arena, &err);
    if (st != MCP_OK) {
        portarium_end_unsent(out, st, &err);
        return;
    }
    portarium_http.perform(out, &request, stop, arena, data);
    take_error(out);
}

const portarium_executor portarium_machine = {
    .kind = "machine",
    .perform = perform,
    .is_idempotent = portarium_binding_is_idempotent,
};
