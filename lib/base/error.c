/*
 * error.c - filling error objects, and the words of statuses.
 *
 * A message may quote what came from outside, and it goes to clients inside JSON. So whatever was
 * formatted is made one line of well-formed UTF-8 before it is stored. It is formatted in a
 * buffer of its own, because the old message may be among the arguments.
 */
#include "mcp/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define MESSAGE_SIZE sizeof(((mcp_error *)0)->message)

static const struct {
    const char *name;
    const char *words;
    int code;
} statuses[] = {
#define X(name, rpc_code, words) [MCP_##name] = { #name, words, rpc_code },
    MCP_STATUS_MAP(X)[MCP_PENDING] = { "E_UNKNOWN", "unknown status", -32603 }, MCP_PENDING_MAP(X)
#undef X
};

/* The row of a status; of MCP_PENDING for a number that is none. */
static size_t row_of(mcp_status status)
{
    size_t row = (size_t)status;

    return row < sizeof statuses / sizeof statuses[0] && statuses[row].name ? row : MCP_PENDING;
}

static void store(mcp_error *err, mcp_status status, int64_t offset, const char *words,
                  const char *format, va_list arguments) __attribute__((format(printf, 5, 0)));

/* The message is what was formatted, then ": " and `words` where there are some. */
static void store(mcp_error *err, mcp_status status, int64_t offset, const char *words,
                  const char *format, va_list arguments)
{
    /* One character more than fits, so that the cut sees whether it splits one. */
    char text[MESSAGE_SIZE + 4];

    if (!err)
        return;
    int formatted = vsnprintf(text, sizeof text, format, arguments);
    size_t length = formatted < 0 ? 0 : strlen(text);

    if (words)
        (void)snprintf(text + length, sizeof text - length, "%s%s", length ? ": " : "", words);
    mcp__utf8_tidy(text, strlen(text), MESSAGE_SIZE - 1);
    memcpy(err->message, text, strlen(text) + 1);
    err->status = status;
    err->offset = offset;
}

#undef mcp_error_set /* the form for the analyzer */

mcp_status mcp_error_set(mcp_error *err, mcp_status status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    store(err, status, -1, NULL, format, arguments);
    va_end(arguments);
    return status;
}

mcp_status mcp_error_at(mcp_error *err, mcp_status status, int64_t offset, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    store(err, status, offset, NULL, format, arguments);
    va_end(arguments);
    return status;
}

static mcp_status status_of_errno(int errno_value)
{
    switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
        return MCP_E_NOT_FOUND;
    case EACCES:
    case EPERM:
        return MCP_E_DENIED;
    case ENOMEM:
        return MCP_E_NOMEM;
    default:
        return MCP_E_IO;
    }
}

mcp_status mcp_error_errno(mcp_error *err, int errno_value, const char *format, ...)
{
    mcp_status st = status_of_errno(errno_value);
    char room[128];
    const char *words = strerror_r(errno_value, room, sizeof room);
    va_list arguments;

    va_start(arguments, format);
    store(err, st, -1, words, format, arguments);
    va_end(arguments);
    return st;
}

const char *mcp_status_words(mcp_status status)
{
    return statuses[row_of(status)].words;
}

const char *mcp_status_name(mcp_status status)
{
    return statuses[row_of(status)].name;
}

int mcp_status_code(mcp_status status)
{
    return statuses[row_of(status)].code;
}
