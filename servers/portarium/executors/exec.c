/*
 * exec.c - an action as a program of this host: JSON on its standard input, JSON on its output, and
 * the trace of its run in the environment (TRACEPARENT, TRACESTATE).
 *
 * Exit status 0 is done. 64 and 65 (the input is wrong), 75 (try again) and 77 (no permission) have
 * classes of their own. A program that was killed may have done its work.
 */
#include <string.h>

#include "executors/kinds.h"
#include "guard/redact.h"
#include "mcp/clock.h"

enum { INPUT_MAX = 2 << 20, SHOWN_MAX = 120, TIME_MAX_MS = 86400000 };

static const mcp_json *entry_of(const mcp_json *binding, const portarium_room *room)
{
    const char *name = mcp_json_get_string(binding, "command");
    return name ? mcp_json_get(room->host->commands, name) : NULL;
}

static mcp_status write_input(mcp_buf *out, const portarium_attempt *attempt)
{
    mcp_json_writer json;
    mcp_json_writer_init(&json, out);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "workspaceId", attempt->workspace);
    mcp_write_member_string(&json, "runId", attempt->run_id);
    mcp_write_member_string(&json, "actionId", attempt->action_id);
    mcp_write_member_string(&json, "operation", attempt->operation);
    mcp_write_member_string(&json, "idempotencyKey", attempt->key);
    mcp_write_member_int(&json, "attempt", attempt->attempt);
    if (attempt->input)
        mcp_write_member_value(&json, "input", attempt->input);
    mcp_write_end(&json);
    mcp_status st = mcp_json_writer_status(&json);
    return st == MCP_OK ? mcp_buf_putc(out, '\n') : st;
}

/* A binding that names a credential gives it to the program as a variable. */
static mcp_status take_credential(mcp_buf *secret, char **variable,
                                  const portarium_attempt *attempt, const portarium_room *room,
                                  mcp_arena *arena, mcp_error *err)
{
    *variable = NULL;
    if (!mcp_json_get(attempt->binding, "credential"))
        return MCP_OK;
    const char *name = portarium_credential_name(attempt->binding, NULL, arena);
    if (!name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a credential");
    mcp_status st = portarium_credential_of(secret, room->vault, attempt, name, err);
    if (st == MCP_OK) {
        *variable = mcp_arena_printf(arena, "PORTARIUM_CREDENTIAL=%s", secret->data);
        if (!*variable)
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a credential");
    }
    return st;
}

/* ---- its end --------------------------------------------------------------------------------- */

static portarium_error_class class_of(int code)
{
    switch (code) {
    case 64:
    case 65:
        return PORTARIUM_CLASS_VALIDATION;
    case 75:
        return PORTARIUM_CLASS_TRANSPORT;
    case 77:
        return PORTARIUM_CLASS_AUTH_DENY;
    default:
        return PORTARIUM_CLASS_UNKNOWN;
    }
}

/* The first line that it wrote about its failure, in printable ASCII. */
static void first_line(char out[SHOWN_MAX + 1], const mcp_buf *text, const mcp_buf *secret)
{
    size_t length = 0;
    bool is_secret = secret->length > 0 && text->length > 0 &&
                     memmem(text->data, text->length, secret->data, secret->length);
    for (size_t i = 0; !is_secret && i < text->length && length < SHOWN_MAX; i++) {
        unsigned char byte = (unsigned char)text->data[i];
        if (byte == '\n')
            break;
        out[length++] = byte < ' ' || byte > '~' ? '?' : (char)byte;
    }
    out[length] = '\0';
}

static void take_output(portarium_result *out, const proc_result *result, const mcp_buf *secret,
                        mcp_arena *arena)
{
    const mcp_json *output = NULL;
    if (result->out.length > 0 &&
        mcp_json_read(&output, arena, result->out.data, result->out.length, NULL) != MCP_OK)
        portarium_end(out, PORTARIUM_OUTCOME_UNKNOWN, PORTARIUM_CLASS_UNKNOWN,
                      "the command succeeded, but its output is not JSON");
    else
        portarium_end_done(out, output, secret, arena);
}

static void take_end(portarium_result *out, const proc_result *result, const mcp_buf *secret,
                     mcp_arena *arena)
{
    static const char *const words[] = { [PROC_SIGNALED] = "was killed by a signal",
                                         [PROC_TIMED_OUT] = "was killed at its deadline",
                                         [PROC_STOPPED] = "was stopped",
                                         [PROC_OUTPUT_LIMIT] = "wrote too much",
                                         [PROC_LOST] = "has vanished" };
    char line[SHOWN_MAX + 1];
    proc_how how = result->end.how;
    if (how == PROC_EXITED && result->end.code == 0) {
        take_output(out, result, secret, arena);
    } else if (how == PROC_EXITED) {
        first_line(line, &result->err, secret);
        portarium_end(out, PORTARIUM_OUTCOME_FAILED, class_of(result->end.code),
                      "the command ended with status %d%s%s", result->end.code, *line ? ": " : "",
                      line);
    } else {
        portarium_end(out, PORTARIUM_OUTCOME_UNKNOWN,
                      how == PROC_TIMED_OUT ? PORTARIUM_CLASS_TIMEOUT : PORTARIUM_CLASS_UNKNOWN,
                      "the command %s", words[how]);
    }
}

/* ---- the executor ---------------------------------------------------------------------------- */

static void run(portarium_result *out, const portarium_attempt *attempt, const portarium_stop *stop,
                proc_spec *spec, const mcp_buf *secret, mcp_arena *arena)
{
    mcp_buf input;
    proc_result result = { .end.how = PROC_LOST };
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf_init(&input, INPUT_MAX);
    mcp_status st = write_input(&input, attempt);
    if (st != MCP_OK) {
        mcp_error_set(&err, st, "the input is too large for a command");
    } else {
        const proc_run_options options = { .input = input.data,
                                           .length = input.length,
                                           .should_stop = stop->is_set,
                                           .data = stop->data };
        int64_t left = portarium_time_left(attempt);
        spec->timeout_ms = left < TIME_MAX_MS ? left : TIME_MAX_MS;
        st = proc_run(&result, spec, &options, &err);
    }
    if (st == MCP_OK)
        take_end(out, &result, secret, arena);
    else
        portarium_end_unsent(out, st, &err);
    proc_result_clear(&result);
    mcp_buf_clear(&input);
}

/* The variables of W3C Trace Context, after `count` others. @return false: no memory */
static bool add_trace(const char **variables, size_t count, const portarium_trace *trace,
                      mcp_arena *arena)
{
    if (trace->parent)
        variables[count++] = mcp_arena_printf(arena, "TRACEPARENT=%s", trace->parent);
    if (trace->state)
        variables[count++] = mcp_arena_printf(arena, "TRACESTATE=%s", trace->state);
    return count == 0 || variables[count - 1];
}

static void perform(portarium_result *out, const portarium_attempt *attempt,
                    const portarium_stop *stop, mcp_arena *arena, void *data)
{
    const portarium_room *room = data;
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf secret;
    proc_spec spec;
    char *variable = NULL;
    mcp_buf_init(&secret, PORTARIUM_CREDENTIAL_MAX);
    mcp_status st = take_credential(&secret, &variable, attempt, room, arena, &err);
    const char *variables[] = { variable, NULL, NULL, NULL };
    if (st == MCP_OK && !add_trace(variables, variable != NULL, &attempt->trace, arena))
        st = mcp_error_set(&err, MCP_E_NOMEM, "no memory for the variables of a command");
    if (st == MCP_OK)
        st = portarium_host_program(&spec, entry_of(attempt->binding, room), variables, arena,
                                    &err);
    if (st == MCP_OK)
        run(out, attempt, stop, &spec, &secret, arena);
    else
        portarium_end_unsent(out, st, &err);
    if (variable)
        explicit_bzero(variable, strlen(variable));
    portarium_credential_wipe(&secret);
}

static mcp_status check(const mcp_json *binding, void *data, mcp_error *err)
{
    const char *name = mcp_json_get_string(binding, "command");
    return entry_of(binding, data)
               ? MCP_OK
               : mcp_error_set(err, MCP_E_DENIED, "this host has no command \"%s\"",
                               name ? name : "");
}

const portarium_executor portarium_exec = {
    .kind = "exec",
    .perform = perform,
    .check = check,
    .is_idempotent = portarium_binding_is_idempotent,
};
