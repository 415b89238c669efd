/*
 * quote.c - a text between quotes.
 */
#include "columns/quote.h"

void columns_quote(mcp_buf *out, const char *text, char quote)
{
    mcp_buf_putc(out, quote);
    for (; *text; text++) {
        if (*text == quote)
            mcp_buf_putc(out, quote);
        mcp_buf_putc(out, *text);
    }
    mcp_buf_putc(out, quote);
}
