/*
 * headers.c - holding HTTP's headers against the message.
 *
 * A value that does not go into a header as it stands comes as "=?base64?" ... "?="; one without
 * both markers is meant literally. The decoding is strict, because a proxy that is laxer than we
 * are could be made to see another name than we do.
 *
 * A field that comes twice is refused whatever its values say: proxies disagree about which one
 * counts.
 */
#include "mcp/core/headers.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/utf8.h"

static mcp_status look(const char **value, const mcp__headers *headers, const char *field,
                       bool is_required, mcp_error *err)
{
    size_t count = 0;
    const char *found = headers->field(headers, field, &count);

    if (count > 1)
        return mcp_error_set(err, MCP_E_HEADERS, "the header %s comes more than once", field);
    *value = count == 1 ? found : NULL;
    if (is_required && !*value)
        return mcp_error_set(err, MCP_E_HEADERS, "the header %s is missing", field);
    return MCP_OK;
}

static mcp_status disagrees(const char *field, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_HEADERS, "the header %s does not say what the body says",
                         field);
}

mcp_status mcp__headers_check(const mcp__headers *headers, const char *field, const char *wanted,
                              bool is_required, mcp_error *err)
{
    const char *value = NULL;
    mcp_status st = look(&value, headers, field, is_required, err);

    return st == MCP_OK && value && strcmp(value, wanted) != 0 ? disagrees(field, err) : st;
}

/* ---- encoded values -------------------------------------------------------------------------- */

static bool is_printable(const char *text)
{
    for (; *text; text++)
        if ((*text < 0x20 || *text > 0x7e) && *text != '\t')
            return false;
    return true;
}

/* The value between the markers, NULL without both of them. */
static const char *between_markers(const char *value, size_t *length)
{
    static const char begin[] = "=?base64?", end[] = "?=";
    size_t all = strlen(value);
    size_t markers = sizeof begin - 1 + sizeof end - 1;

    if (all < markers || strncmp(value, begin, sizeof begin - 1) != 0 ||
        strcmp(value + all - (sizeof end - 1), end) != 0)
        return NULL;
    *length = all - markers;
    return value + sizeof begin - 1;
}

static mcp_status decode(const char **out, size_t *length, const char *field, const char *value,
                         mcp_arena *arena, mcp_error *err)
{
    size_t encoded_length = 0;
    const char *encoded = between_markers(value, &encoded_length);

    if (!is_printable(value))
        return mcp_error_set(err, MCP_E_HEADERS, "the header %s has bytes that no header may have",
                             field);
    *out = encoded ? mcp__base64_decode(arena, encoded, encoded_length, length) : value;
    if (!encoded)
        *length = strlen(value);
    if (!*out || !mcp__utf8_valid(*out, *length, NULL))
        return mcp_error_set(err, MCP_E_HEADERS, "the header %s is not well encoded", field);
    return MCP_OK;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool is_number(const char *text, size_t length, const mcp_json *wanted)
{
    char copy[40];
    char *end = NULL;
    double number = 0;

    if (length == 0 || length >= sizeof copy || strspn(text, "+-.0123456789eE") != length)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    double value = strtod(copy, &end);
    return *end == '\0' && mcp_json_double(wanted, &number) && value == number;
}

static bool agrees(const char *text, size_t length, const mcp_json *wanted)
{
    size_t wanted_length = 0;
    const char *string = mcp_json_string(wanted, &wanted_length);
    bool flag = false;

    if (string)
        return length == wanted_length && memcmp(text, string, length) == 0;
    if (mcp_json_bool(wanted, &flag))
        return flag ? length == 4 && memcmp(text, "true", 4) == 0
                    : length == 5 && memcmp(text, "false", 5) == 0;
    return is_number(text, length, wanted);
}

mcp_status mcp__headers_check_name(const mcp__headers *headers, const char *field,
                                   const mcp_json *wanted, mcp_arena *arena, mcp_error *err)
{
    const char *value = NULL, *text = NULL;
    size_t length = 0;
    mcp_status st = look(&value, headers, field, true, err);

    if (st == MCP_OK)
        st = decode(&text, &length, field, value, arena, err);
    return st == MCP_OK && !agrees(text, length, wanted) ? disagrees(field, err) : st;
}

mcp_status mcp__headers_check_parameter(const mcp__headers *headers, const char *name,
                                        const mcp_json *wanted, mcp_arena *arena, mcp_error *err)
{
    const char *field = mcp_arena_printf(arena, "Mcp-Param-%s", name);

    if (!field)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a header's name");
    if (!wanted || mcp_json_is_null(wanted))
        return MCP_OK;
    return mcp__headers_check_name(headers, field, wanted, arena, err);
}
