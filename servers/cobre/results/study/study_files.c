/*
 * study_files.c - writes a table, or a text, below the output directory.
 */
#include "results/study/study_files.h"

#include <unistd.h>

#include "guard/paths.h"
#include "mcp/buf.h"
#include "results/study/study_files_int.h"

#define TABLE_BYTES_MAX ((size_t)4 << 30)

mcp_status study_table_begin(struct study_table *out, results_table table, size_t rows,
                             mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(TABLE_BYTES_MAX);
    sheet *made = arena ? sheet_new(arena, table, rows) : NULL;

    if (!made) {
        mcp_arena_free(arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu rows", rows);
    }
    *out = (struct study_table){ arena, made };
    return MCP_OK;
}

mcp_status study_table_write(struct study_table *self, int out_fd, const char *folder,
                             const char *name, mcp_error *err)
{
    int fd = -1;
    mcp_status st = guard_make_dir(&fd, out_fd, folder, err);

    if (st == MCP_OK) {
        st = sheet_write(self->rows, fd, name, err);
        close(fd);
    }
    mcp_arena_free(self->arena);
    *self = (struct study_table){ 0 };
    return st;
}

mcp_status study_write_json(int out_fd, const char *relative, mcp_json_writer *writer,
                            mcp_error *err)
{
    mcp_status st = mcp_json_writer_status(writer);

    mcp_buf_putc(writer->buf, '\n');
    if (st == MCP_OK)
        st = writer->buf->status;
    if (st == MCP_OK)
        st = guard_write_file(out_fd, relative, writer->buf->data, writer->buf->length, err);
    else
        mcp_error_set(err, st, "%s cannot be put together", relative);
    mcp_buf_clear(writer->buf);
    return st;
}
