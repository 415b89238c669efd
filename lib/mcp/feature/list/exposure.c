/*
 * exposure.c - hidden features, and the scopes that their files ask for.
 *
 * Two questions, kept apart. What one may not know of is left out of lists, and a call of it is
 * answered as a call of nothing. What one may know of but not use is refused with the scopes that
 * are missing, so that the client can get a better token. An option makes the second an instance of
 * the first.
 */
#include "mcp/feature/list/exposure.h"

#include <string.h>

#include "mcp/core/call/client.h"

/* RFC 6749, 3.3: printable ASCII without the quote and the backslash. */
static bool is_scope_byte(char c)
{
    return c > 0x20 && c < 0x7f && c != '"' && c != '\\';
}

bool mcp__exposure_are_scopes(const char *text)
{
    bool in_word = false;

    for (; *text; text++) {
        if (*text == ' ' ? !in_word : !is_scope_byte(*text))
            return false;
        in_word = *text != ' ';
    }
    return in_word;
}

mcp_status mcp__exposure_scopes(const char **out, const mcp_json *entry, mcp_error *err)
{
    const mcp_json *value = mcp_json_get(mcp_json_get(entry, "_meta"), MCP__SCOPES_KEY);
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);

    if (value && (!text || strlen(text) != length || !mcp__exposure_are_scopes(text)))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "_meta[\"" MCP__SCOPES_KEY "\"] must be scopes between single spaces");
    *out = text;
    return MCP_OK;
}

bool mcp__exposure_varies(const mcp_server_options *options)
{
    return options->visible || options->hide_by_scope;
}

bool mcp__exposure_shows(const mcp_call *call, mcp_feature feature, const char *name,
                         const char *scopes)
{
    const mcp_server_options *options = call->context->options;

    if (scopes && options->hide_by_scope && !mcp_call_has_scopes(call, scopes))
        return false;
    return !options->visible || options->visible(call, feature, name, options->data);
}
