/*
 * headers.c - OTEL_EXPORTER_OTLP_HEADERS into header fields, in one copy of its text: names and
 * values are cut out of it where they are, and a decoded value is never longer.
 */
#include "trace/headers.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool is_name(const char *name)
{
    return name[0] && strspn(name, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(name);
}

/* Fields that this request sends itself, or that frame it. */
static bool is_ours(const char *name)
{
    static const char *const ours[] = { "Content-Type",      "Content-Length", "Host",
                                        "Transfer-Encoding", "Connection",     NULL };

    for (int i = 0; ours[i]; i++)
        if (strcasecmp(name, ours[i]) == 0)
            return true;
    return false;
}

static char *trim(char *text)
{
    text += strspn(text, " \t");
    for (size_t n = strlen(text); n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'); n--)
        text[n - 1] = '\0';
    return text;
}

static int digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* In place. False: a '%' without two digits, or a character that no header may have. */
static bool decode(char *text)
{
    char *out = text;

    for (; *text; text++, out++) {
        int high = *text == '%' ? digit(text[1]) : -1;
        int low = high >= 0 ? digit(text[2]) : -1;
        if (*text == '%' && low < 0)
            return false;
        *out = *text;
        if (low >= 0) {
            *out = (char)(high * 16 + low);
            text += 2;
        }
        if (((unsigned char)*out < ' ' && *out != '\t') || *out == 0x7F)
            return false;
    }
    *out = '\0';
    return true;
}

static mcp_status add(trace_headers *self, char *pair, int number, mcp_error *err)
{
    char *value = strchr(pair, '=');

    if (!value)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "OTEL_EXPORTER_OTLP_HEADERS: header %d is no NAME=VALUE", number);
    *value++ = '\0';
    char *name = trim(pair);
    value = trim(value);
    if (!is_name(name) || is_ours(name))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "OTEL_EXPORTER_OTLP_HEADERS: header %d has a name that cannot be sent",
                             number);
    if (!decode(value))
        return mcp_error_set(
            err, MCP_E_PARAMS,
            "OTEL_EXPORTER_OTLP_HEADERS: header %d has a value that cannot be sent: it is percent-encoded "
            "text on one line",
            number);
    if (self->count == TRACE_HEADERS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT,
                             "OTEL_EXPORTER_OTLP_HEADERS: there are more than %d headers",
                             TRACE_HEADERS_MAX);
    self->list[self->count++] = (fetch_header){ name, value };
    return MCP_OK;
}

mcp_status trace_headers_read(trace_headers *self, const char *text, mcp_error *err)
{
    size_t length = text ? strlen(text) : 0;
    mcp_status st = MCP_OK;
    char *next = self->text;

    if (length >= sizeof self->text)
        return mcp_error_set(err, MCP_E_LIMIT,
                             "OTEL_EXPORTER_OTLP_HEADERS: the headers are longer than %d bytes",
                             TRACE_HEADERS_BYTES - 1);
    memcpy(self->text, length > 0 ? text : "", length + 1);
    for (int number = 1; next && st == MCP_OK; number++) {
        char *pair = strsep(&next, ",");
        if (*trim(pair))
            st = add(self, pair, number, err);
    }
    return st;
}
