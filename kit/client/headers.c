/*
 * headers.c - values of headers, and the headers that repeat parts of the body.
 *
 * A server of 2026-07-28 compares them with the body, so that a proxy can route by them.
 */
#include "client/headers.h"

#include <inttypes.h>
#include <string.h>

#define MARK_BEGIN "=?base64?"
#define MARK_END "?="
#define DEPTH_MAX 16

void client_headers_add(struct client_headers *self, const char *name, const char *value)
{
    if (!value || !name || self->st != MCP_OK)
        return;
    if (self->count == CLIENT_HEADERS_MAX) {
        self->st = MCP_E_LIMIT;
        return;
    }
    self->items[self->count++] = (fetch_header){ name, value };
}

/* Whether a header may have the text, and nobody reads another value out of it. */
static bool is_plain(const char *text, size_t length)
{
    if (length == 0 || text[0] == ' ' || text[length - 1] == ' ')
        return length == 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < ' ' || text[i] > '~')
            return false;
    }
    return length < strlen(MARK_BEGIN MARK_END) ||
           strncmp(text, MARK_BEGIN, strlen(MARK_BEGIN)) != 0 ||
           strncmp(text + length - 2, MARK_END, 2) != 0;
}

static char *encoded(mcp_arena *arena, const char *text, size_t length)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = mcp_arena_alloc(arena, strlen(MARK_BEGIN MARK_END) + (length + 2) / 3 * 4 + 1);
    char *at = out;

    if (!out)
        return NULL;
    memcpy(at, MARK_BEGIN, strlen(MARK_BEGIN));
    at += strlen(MARK_BEGIN);
    for (size_t i = 0; i < length; i += 3) {
        uint32_t three = (uint32_t)(uint8_t)text[i] << 16;
        if (i + 1 < length)
            three |= (uint32_t)(uint8_t)text[i + 1] << 8;
        if (i + 2 < length)
            three |= (uint8_t)text[i + 2];
        *at++ = letters[three >> 18];
        *at++ = letters[three >> 12 & 63];
        *at++ = i + 1 < length ? letters[three >> 6 & 63] : '=';
        *at++ = i + 2 < length ? letters[three & 63] : '=';
    }
    memcpy(at, MARK_END, sizeof MARK_END);
    return out;
}

void client_headers_add_text(struct client_headers *self, const char *name, const char *text,
                             size_t length)
{
    char *value = is_plain(text, length) ? mcp_arena_strndup(self->arena, text, length)
                                         : encoded(self->arena, text, length);

    if (!value || !name)
        self->st = MCP_E_NOMEM;
    client_headers_add(self, name, value);
}

static void add_param(struct client_headers *self, const char *mark, const mcp_json *value)
{
    const char *name = mcp_arena_printf(self->arena, "Mcp-Param-%s", mark);
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);
    int64_t number = 0;
    bool flag = false;

    if (text) {
        client_headers_add_text(self, name, text, length);
    } else if (mcp_json_int(value, &number)) {
        text = mcp_arena_printf(self->arena, "%" PRId64, number);
        self->st = text && name ? self->st : MCP_E_NOMEM;
        client_headers_add(self, name, text);
    } else if (mcp_json_bool(value, &flag)) {
        self->st = name ? self->st : MCP_E_NOMEM;
        client_headers_add(self, name, flag ? "true" : "false");
    }
}

/* A mark counts on properties that are reached through `properties` alone. */
static void add_params(struct client_headers *self, const mcp_json *schema,
                       const mcp_json *arguments, int depth)
{
    const mcp_json *properties = mcp_json_get(schema, "properties");

    for (size_t i = 0; i < mcp_json_count(properties) && depth < DEPTH_MAX; i++) {
        size_t length = 0;
        const char *name = mcp_json_name(properties, i, &length);
        const mcp_json *property = mcp_json_item(properties, i);
        const mcp_json *value = mcp_json_get_n(arguments, name, length);
        const char *mark = mcp_json_get_string(property, "x-mcp-header");
        if (mark && value)
            add_param(self, mark, value);
        if (mcp_json_is_object(value))
            add_params(self, property, value, depth + 1);
    }
}

void client_headers_add_call(struct client_headers *self, const char *method,
                             const client_call *call)
{
    client_headers_add(self, "Mcp-Method", method);
    if (!call)
        return;
    client_headers_add_text(self, "Mcp-Name", call->name, strlen(call->name));
    add_params(self, call->schema, call->arguments, 0);
}
