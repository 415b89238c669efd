/*
 * answer.c - what the answers of several tools share.
 */
#include "features/answer.h"

#include <string.h>

#include "gateway/permissions.h"
#include "gateway/user.h"
#include "mcp/auth.h"

enum { WARNINGS_MAX = 1 << 16 };

void casparian_request_redaction(casparian_redaction *out, mcp_buf *warnings,
                                 casparian_request *request)
{
    mcp_json_writer json;
    mcp_buf text;
    mcp_buf_init(&text, WARNINGS_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_array(&json);
    casparian_redaction_read(out, &request->app->config->redaction,
                             mcp_arg_json(request->call, "redaction"), &json);
    mcp_write_end(&json);
    if (warnings && mcp_json_writer_status(&json) == MCP_OK && text.length > strlen("[]"))
        mcp_buf_append(warnings, text.data + 1, text.length - strlen("[]"));
    mcp_buf_clear(&text);
    request->redaction = casparian_redaction_mode_text(out->mode);
}

/* ---- violations of stored results ------------------------------------------------------------ */

static bool is_redacted(const char *text)
{
    return strncmp(text, "[hash:", 6) == 0 || strncmp(text, "[hmac:", 6) == 0;
}

/* Append a stored sample as it is shown now. */
static void redact_sample(mcp_buf *out, const casparian_redaction *redaction, bool is_sensitive,
                          const char *text)
{
    mcp_buf_reset(out);
    if (is_redacted(text))
        mcp_buf_puts(out, text);
    else
        casparian_redact_text(out, redaction, is_sensitive, text, strlen(text));
}

static void write_samples(mcp_json_writer *json, mcp_buf *room,
                          const casparian_redaction *redaction, bool is_sensitive,
                          const mcp_json *samples)
{
    mcp_write_array(json);
    for (size_t i = 0; i < mcp_json_count(samples); i++) {
        const char *text = mcp_json_string(mcp_json_item(samples, i), NULL);
        redact_sample(room, redaction, is_sensitive, text ? text : "");
        mcp_write_string_n(json, room->data ? room->data : "", room->length);
    }
    mcp_write_end(json);
}

static void write_distribution(mcp_json_writer *json, mcp_buf *room,
                               const casparian_redaction *redaction, bool is_sensitive,
                               const mcp_json *values)
{
    mcp_write_object(json);
    for (size_t i = 0; i < mcp_json_count(values); i++) {
        const char *name = mcp_json_name(values, i, NULL);
        if (strcmp(name, "(other)") == 0)
            mcp_write_name(json, name);
        else {
            redact_sample(room, redaction, is_sensitive, name);
            mcp_write_name(json, room->data ? room->data : "");
        }
        mcp_write_value(json, mcp_json_item(values, i));
    }
    mcp_write_end(json);
}

void casparian_redact_context(mcp_json_writer *json, const casparian_redaction *redaction,
                              const mcp_json *context)
{
    const char *column = mcp_json_get_string(context, "column");
    bool is_sensitive = column && casparian_redaction_is_sensitive(redaction, column);
    mcp_buf room;
    mcp_buf_init(&room, WARNINGS_MAX);
    mcp_write_object(json);
    for (size_t i = 0; i < mcp_json_count(context); i++) {
        const char *name = mcp_json_name(context, i, NULL);
        const mcp_json *value = mcp_json_item(context, i);
        mcp_write_name(json, name);
        if (strcmp(name, "samples") == 0)
            write_samples(json, &room, redaction, is_sensitive, value);
        else if (strcmp(name, "value_distribution") == 0)
            write_distribution(json, &room, redaction, is_sensitive, value);
        else
            mcp_write_value(json, value);
    }
    mcp_write_end(json);
    mcp_buf_clear(&room);
}

/* ---- clients --------------------------------------------------------------------------------- */

const char *casparian_request_client(casparian_request *request)
{
    mcp_arena *arena = mcp_call_arena(request->call);
    const char *who = mcp_call_principal(request->call);
    const char *program = mcp_call_client_name(request->call);
    const char *version = mcp_call_client_version(request->call);
    if (!who)
        who = casparian_local_user(arena);
    if (!who || !program)
        return who;
    return mcp_arena_printf(arena, "%s via %s%s%s", who, program, version ? " " : "",
                            version ? version : "");
}

const char *casparian_request_by(casparian_request *request, const char *how)
{
    const char *client = casparian_request_client(request);
    return client ? mcp_arena_printf(mcp_call_arena(request->call), "%s:%s", how, client) : NULL;
}

/* ---- the rest -------------------------------------------------------------------------------- */

void casparian_write_truncation(mcp_json_writer *json, size_t omitted)
{
    if (omitted == 0)
        return;
    mcp_write_member_bool(json, "truncated", true);
    mcp_write_member_object(json, "truncation");
    mcp_write_member_string(json, "reason", "bytes");
    mcp_write_member_int(json, "omitted", (int64_t)omitted);
    mcp_write_end(json);
}

bool casparian_request_permits(casparian_request *request, const char *list, const char *value)
{
    if (casparian_permission_has(request->app->config, request->tool, list, value))
        return true;
    casparian_refuse(request, CASPARIAN_CODE_PERMISSION_DENIED,
                     "A human must change [mcp.tools] in config.toml.",
                     "%s may not be called with '%s': it is not in %s", request->tool->name, value,
                     list);
    return false;
}
