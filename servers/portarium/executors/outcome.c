/*
 * outcome.c - results of attempts.
 */
#include "executors/outcome.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "guard/redact.h"
#include "mcp/clock.h"
#include "model/identity.h"

enum { OUTPUT_MAX = 4 << 20 };

void portarium_end(portarium_result *out, portarium_outcome outcome,
                   portarium_error_class error_class, const char *format, ...)
{
    va_list arguments;
    out->outcome = outcome;
    out->error_class = error_class;
    va_start(arguments, format);
    vsnprintf(out->message, sizeof out->message, format, arguments);
    va_end(arguments);
    out->message[portarium_text_whole(out->message, strlen(out->message))] = '\0';
}

static portarium_error_class class_of(mcp_status status)
{
    switch (status) {
    case MCP_E_DENIED:
        return PORTARIUM_CLASS_POLICY_DENY;
    case MCP_E_TIMEOUT:
        return PORTARIUM_CLASS_TIMEOUT;
    case MCP_E_IO:
        return PORTARIUM_CLASS_TRANSPORT;
    case MCP_E_BUSY:
        return PORTARIUM_CLASS_RATE_LIMIT;
    case MCP_E_NOMEM:
    case MCP_E_STOPPED:
        return PORTARIUM_CLASS_UNKNOWN;
    default:
        return PORTARIUM_CLASS_VALIDATION;
    }
}

void portarium_end_unsent(portarium_result *out, mcp_status status, const mcp_error *err)
{
    portarium_end(out, PORTARIUM_OUTCOME_FAILED, class_of(status), "%s", err->message);
}

void portarium_end_unanswered(portarium_result *out, mcp_status status, const mcp_error *err,
                              bool may_have_happened)
{
    if (!may_have_happened) {
        portarium_end_unsent(out, status, err);
        return;
    }
    portarium_error_class class = status == MCP_E_TIMEOUT ? PORTARIUM_CLASS_TIMEOUT
                                  : status == MCP_E_IO    ? PORTARIUM_CLASS_TRANSPORT
                                                          : PORTARIUM_CLASS_UNKNOWN;
    portarium_end(out, PORTARIUM_OUTCOME_UNKNOWN, class, "%s", err->message);
}

/* Written and read again: then a secret has one of two forms, whatever the system had sent. */
static mcp_status clean(const mcp_json **out, const mcp_json *output, const mcp_buf *secret,
                        mcp_arena *arena)
{
    mcp_buf text, cleaned;
    mcp_json_writer writer;
    guard_secrets *secrets = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf_init(&text, OUTPUT_MAX);
    mcp_buf_init(&cleaned, OUTPUT_MAX);
    mcp_json_writer_init(&writer, &text);
    mcp_write_value(&writer, output);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = guard_secrets_new(&secrets, &err);
    if (st == MCP_OK)
        st = guard_secrets_add(secrets, secret->data, secret->length, &err);
    if (st == MCP_OK)
        st = guard_secrets_clean(secrets, &cleaned, text.data, text.length);
    if (st == MCP_OK)
        st = mcp_json_read(out, arena, cleaned.data, cleaned.length, &err);
    guard_secrets_free(secrets);
    mcp_buf_clear(&text);
    mcp_buf_clear(&cleaned);
    return st;
}

/* It has happened: an output that cannot be kept is left out. */
void portarium_end_done(portarium_result *out, const mcp_json *output, const mcp_buf *secret,
                        mcp_arena *arena)
{
    out->outcome = PORTARIUM_OUTCOME_DONE;
    out->output = output;
    if (output && secret && secret->length > 0 &&
        clean(&out->output, output, secret, arena) != MCP_OK)
        out->output = NULL;
}

int64_t portarium_time_left(const portarium_attempt *attempt)
{
    int64_t left = attempt->deadline_mono_ms - mcp_clock_mono_ms();
    return left > 0 ? left : 1;
}

static const mcp_json *no_output(const char *action, size_t length, void *data)
{
    (void)action;
    (void)length;
    (void)data;
    return NULL;
}

portarium_scope portarium_scope_of(const portarium_attempt *attempt)
{
    return (portarium_scope){ .parameters = attempt->input,
                              .run_id = attempt->run_id,
                              .output = no_output };
}

bool portarium_binding_is_idempotent(const mcp_json *binding)
{
    bool is = false;
    mcp_json_bool(mcp_json_get(binding, "idempotent"), &is);
    return is;
}
