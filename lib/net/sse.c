/*
 * sse.c - events as lines.
 *
 * A line ends at LF, CR or CR LF, and the reader takes all three alike. So data is cut at each of
 * them, or a lone CR inside it would begin a new field; and what stands in a one-line field must
 * have none.
 */
#include "net/sse.h"

#include <stdbool.h>
#include <string.h>

static bool is_one_line(const char *text)
{
    return !text || strpbrk(text, "\r\n") == NULL;
}

static void put_line(mcp_buf *out, const char *name, const char *value, size_t length)
{
    (void)mcp_buf_puts(out, name);
    (void)mcp_buf_append(out, value, length);
    (void)mcp_buf_putc(out, '\n');
}

/* Where the line ends that begins at `at`. */
static size_t line_end(const char *data, size_t at, size_t length)
{
    while (at < length && data[at] != '\n' && data[at] != '\r')
        at++;
    return at;
}

static void put_data(mcp_buf *out, const char *data, size_t length)
{
    size_t at = 0;

    for (;;) {
        size_t end = line_end(data, at, length);
        put_line(out, "data: ", data + at, end - at);
        if (end == length)
            return;
        at = end + 1;
        if (data[end] == '\r' && at < length && data[at] == '\n')
            at++;
    }
}

mcp_status mcp__sse_event(mcp_buf *out, const char *event, const char *id, const char *data,
                          size_t length)
{
    if (!is_one_line(event) || !is_one_line(id))
        return MCP_E_PARAMS;
    if (id)
        put_line(out, "id: ", id, strlen(id));
    if (event)
        put_line(out, "event: ", event, strlen(event));
    put_data(out, data, length);
    return mcp_buf_putc(out, '\n');
}

mcp_status mcp__sse_priming(mcp_buf *out, const char *id)
{
    return mcp__sse_event(out, NULL, id, "", 0);
}

mcp_status mcp__sse_retry(mcp_buf *out, int64_t delay_ms)
{
    return mcp_buf_printf(out, "retry: %lld\n\n", (long long)(delay_ms > 0 ? delay_ms : 0));
}

mcp_status mcp__sse_comment(mcp_buf *out, const char *words)
{
    if (!is_one_line(words))
        return MCP_E_PARAMS;
    return mcp_buf_printf(out, ": %s\n\n", words);
}
