/*
 * page.c - putting the data into the page.
 *
 * The data is the text of a script element of type application/json, which ends at "</script" and
 * changes its meaning at "<!--"; so every "<" is written as an escape, which only occurs in texts.
 */
#include "report/page.h"

#include <string.h>

#include "guard/paths.h"

#define MARK "{{DATA}}"

static void put_data(mcp_buf *page, const mcp_buf *data)
{
    size_t from = 0;
    for (size_t i = 0; i < data->length; i++) {
        if (data->data[i] != '<')
            continue;
        mcp_buf_append(page, data->data + from, i - from);
        mcp_buf_puts(page, "\\u003c");
        from = i + 1;
    }
    mcp_buf_append(page, data->data + from, data->length - from);
}

static mcp_status assemble(mcp_buf *out, const mcp_file *page, const mcp_buf *data, mcp_error *err)
{
    const char *mark = memmem(page->bytes, page->length, MARK, strlen(MARK));
    if (!mark)
        return mcp_error_set(err, MCP_E_INTERNAL, "the page has no place for its data");
    size_t before = (size_t)(mark - page->bytes), after = before + strlen(MARK);
    mcp_buf_append(out, page->bytes, before);
    put_data(out, data);
    mcp_buf_append(out, page->bytes + after, page->length - after);
    if (out->status != MCP_OK)
        return mcp_error_set(err, out->status, "the report needs more than %zu MiB",
                             REPORT_DATA_MAX >> 20);
    return MCP_OK;
}

mcp_status report_page_write(int dir_fd, const char *name, const mcp_file *page, columns *engine,
                             const report_order *order, mcp_arena *arena, mcp_error *err)
{
    mcp_buf data, whole;
    mcp_json_writer writer;
    if (!page)
        return mcp_error_set(err, MCP_E_UNSUPPORTED,
                             "this program was built without the page of the report; --json prints "
                             "its numbers");
    mcp_buf_init(&data, REPORT_DATA_MAX);
    mcp_buf_init(&whole, REPORT_DATA_MAX + page->length);
    mcp_json_writer_init(&writer, &data);
    mcp_status st = report_data_write(&writer, engine, order, arena, err);
    if (st == MCP_OK && mcp_json_writer_status(&writer) != MCP_OK)
        st = mcp_error_set(err, mcp_json_writer_status(&writer),
                           "the data of the report cannot be written");
    if (st == MCP_OK)
        st = assemble(&whole, page, &data, err);
    if (st == MCP_OK)
        st = guard_write_file(dir_fd, name, whole.data, whole.length, err);
    mcp_buf_clear(&data);
    mcp_buf_clear(&whole);
    return st;
}
