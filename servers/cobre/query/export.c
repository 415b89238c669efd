/*
 * export.c - rows as CSV, JSON or Arrow IPC, batch after batch, into one file.
 *
 * Each export has a temporary name of its own, so two of the same name do not mix; the one that
 * ends last stays.
 */
#include "query/export.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "columns/arrow.h"
#include "guard/paths.h"
#include "query/text.h"

#define NAME_MAX_BYTES 100 /* of the entities in a file's name */
#define FLUSH_BYTES ((size_t)1 << 16)
#define TEXT_MAX ((size_t)64 << 20) /* of one row */

struct export
{
    query_format format;
    const char *const *shown; /* the columns as the client names them */
    bool (*should_stop)(void *data);
    void *data;
    arrow_writer *arrow; /* of an Arrow file; the rest is of the others */
    int fd;
    mcp_buf text; /* not yet written */
    mcp_json_writer json;
    uint64_t rows;
};

/* ---- the file -------------------------------------------------------------------------------- */

static mcp_status flush(struct export *export, mcp_error *err)
{
    const char *at = export->text.data;
    size_t left = export->text.length;

    if (export->text.status != MCP_OK)
        return mcp_error_set(err, export->text.status, "a row is too long");
    while (left > 0) {
        ssize_t written = write(export->fd, at, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return mcp_error_set(
                err,
                errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? MCP_E_STORAGE : MCP_E_IO,
                "the file cannot be written: %s", strerror(errno));
        at += written;
        left -= (size_t)written;
    }
    mcp_buf_reset(&export->text);
    return MCP_OK;
}

static void put_row(struct export *export, const columns_table *rows, size_t row)
{
    if (export->format == QUERY_JSON)
        mcp_write_object(&export->json);
    for (size_t i = 0; i < rows->column_count; i++) {
        const columns_column *column = &rows->columns[i];
        if (export->format == QUERY_JSON) {
            mcp_write_name(&export->json, export->shown[i]);
            query_json_value(&export->json, column, row);
            continue;
        }
        query_csv_value(&export->text, column, row);
        mcp_buf_putc(&export->text, i + 1 < rows->column_count ? ',' : '\n');
    }
    if (export->format == QUERY_JSON)
        mcp_write_end(&export->json);
}

/* A batch of an Arrow file, under the names of its schema. */
static mcp_status append(struct export *export, const columns_table *rows, mcp_error *err)
{
    columns_column renamed[QUERY_COLUMNS_MAX];
    columns_table named = *rows;

    named.columns = renamed;
    for (size_t i = 0; i < rows->column_count; i++) {
        renamed[i] = rows->columns[i];
        renamed[i].name = export->shown[i];
    }
    return arrow_writer_append(export->arrow, &named, err);
}

static mcp_status take(const columns_table *rows, void *data, mcp_error *err)
{
    struct export *export = data;
    mcp_status st = MCP_OK;

    export->rows += rows->rows;
    if (export->format == QUERY_ARROW)
        return append(export, rows, err);
    for (size_t row = 0; row < rows->rows && st == MCP_OK; row++) {
        put_row(export, rows, row);
        if (export->text.length >= FLUSH_BYTES || export->text.status != MCP_OK)
            st = flush(export, err);
    }
    return st;
}

static bool is_stopped(void *data)
{
    const struct export *export = data;

    return export->should_stop && export->should_stop(export->data);
}

static void put_header(struct export *export, const query_question *question)
{
    if (export->format == QUERY_JSON) {
        mcp_write_array(&export->json);
        return;
    }
    for (size_t i = 0; i < question->name_count; i++) {
        query_csv_text(&export->text, export->shown[i]);
        mcp_buf_putc(&export->text, i + 1 < question->name_count ? ',' : '\n');
    }
}

static mcp_status read_rows(query_export_result *out, struct export *export, columns *engine,
                            int out_fd, const query_question *question, mcp_arena *arena,
                            mcp_error *err)
{
    const query_sink sink = { .take = take, .should_stop = is_stopped, .data = export };
    mcp_status st = query_rows(&out->answer, engine, out_fd, question, &sink, arena, err);

    out->rows = export->rows;
    return st;
}

/* The text of a CSV or JSON file. */
static mcp_status write_text(query_export_result *out, struct export *export, columns *engine,
                             int out_fd, const query_question *question, mcp_arena *arena,
                             mcp_error *err)
{
    mcp_buf_init(&export->text, TEXT_MAX);
    mcp_json_writer_init(&export->json, &export->text);
    put_header(export, question);
    mcp_status st = read_rows(out, export, engine, out_fd, question, arena, err);
    if (st == MCP_OK && export->format == QUERY_JSON)
        mcp_write_end(&export->json);
    if (st == MCP_OK)
        st = flush(export, err);
    if (st == MCP_OK && fsync(export->fd) != 0)
        st = mcp_error_set(err, MCP_E_IO, "the file cannot be completed: %s", strerror(errno));
    mcp_buf_clear(&export->text);
    return st;
}

/* ---- its name -------------------------------------------------------------------------------- */

static bool is_plain(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static void put_entities(mcp_buf *name, const query_filters *filters)
{
    size_t room = NAME_MAX_BYTES;

    for (size_t i = 0; i < filters->entity_count && room > 0; i++) {
        mcp_buf_putc(name, i == 0 ? '_' : '-');
        for (const char *c = filters->entities[i]; *c && room > 0; c++, room--)
            mcp_buf_putc(name, is_plain(*c) ? *c : '_');
        room -= room > 0;
    }
}

static void put_range(mcp_buf *name, char letter, const query_range *range)
{
    if (range->is_set)
        mcp_buf_printf(name, "_%c%" PRId64 "-%" PRId64, letter, range->first, range->last);
}

static const char *make_name(const query_question *question, const query_filters *filters,
                             query_format format, mcp_arena *arena)
{
    static const char *const endings[] = { ".csv", ".json", ".arrow" };
    mcp_buf name;
    const char *made = NULL;

    mcp_buf_init(&name, 1024);
    mcp_buf_puts(&name, question->table->name);
    put_entities(&name, filters);
    put_range(&name, 's', &question->stages);
    put_range(&name, 'n', &question->scenarios);
    mcp_buf_puts(&name, endings[format]);
    if (name.status == MCP_OK)
        made = mcp_arena_strdup(arena, name.data);
    mcp_buf_clear(&name);
    return made;
}

/* ---- all ------------------------------------------------------------------------------------- */

static mcp_status write_text_file(query_export_result *out, struct export *export, columns *engine,
                                  int out_fd, int folder_fd, const char *temporary,
                                  const query_question *question, mcp_arena *arena, mcp_error *err)
{
    mcp_status st = guard_create(&export->fd, folder_fd, temporary, err);

    if (st != MCP_OK)
        return st;
    st = write_text(out, export, engine, out_fd, question, arena, err);
    if (close(export->fd) != 0 && st == MCP_OK)
        st = mcp_error_set(err, MCP_E_IO, "the file cannot be closed: %s", strerror(errno));
    return st;
}

static void describe(parquet_column *to, const struct export *export,
                     const query_question *question)
{
    const results_schema *schema = results_schema_of(question->table->schema);

    for (size_t i = 0; i < question->name_count; i++) {
        to[i] = (parquet_column){ .name = export->shown[i], .type = COLUMNS_I32 };
        for (size_t k = 0; k < schema->count; k++)
            if (strcmp(schema->fields[k].name, question->names[i]) == 0)
                to[i] = (parquet_column){ export->shown[i], schema->fields[k].type,
                                          schema->fields[k].is_nullable };
    }
}

static mcp_status write_arrow_file(query_export_result *out, struct export *export, columns *engine,
                                   int out_fd, int folder_fd, const char *temporary,
                                   const query_question *question, mcp_arena *arena, mcp_error *err)
{
    parquet_column schema[QUERY_COLUMNS_MAX];

    describe(schema, export, question);
    mcp_status st = arrow_writer_open(&export->arrow, folder_fd, temporary, schema,
                                      question->name_count, err);
    if (st != MCP_OK)
        return st;
    st = read_rows(out, export, engine, out_fd, question, arena, err);
    if (st == MCP_OK)
        return arrow_writer_close(export->arrow, err);
    arrow_writer_abort(export->arrow);
    return st;
}

static mcp_status write_file(query_export_result *out, struct export *export, columns *engine,
                             int out_fd, int folder_fd, const query_question *question,
                             mcp_arena *arena, mcp_error *err)
{
    static atomic_uint next;
    char temporary[300];
    struct stat about;

    snprintf(temporary, sizeof temporary, "%s.%ld-%u.tmp", out->name, (long)getpid(),
             atomic_fetch_add(&next, 1));
    mcp_status st = (export->format == QUERY_ARROW ? write_arrow_file : write_text_file)(
        out, export, engine, out_fd, folder_fd, temporary, question, arena, err);
    if (st == MCP_OK && fstatat(folder_fd, temporary, &about, AT_SYMLINK_NOFOLLOW) != 0)
        st = mcp_error_set(err, MCP_E_IO, "the file cannot be measured: %s", strerror(errno));
    if (st == MCP_OK)
        st = guard_replace(folder_fd, temporary, out->name, err);
    if (st != MCP_OK)
        (void)unlinkat(folder_fd, temporary, 0);
    else
        out->size_bytes = (int64_t)about.st_size;
    return st;
}

/* What is not there is no empty file. */
static mcp_status find_table(query_export_result *out, const query_table *table, int out_fd,
                             mcp_arena *arena, mcp_error *err)
{
    const char *name = table->folder ? mcp_arena_printf(arena, "simulation/%s", table->folder)
                                     : "training/convergence.parquet";

    if (!name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a name");
    if (guard_is_taken(out_fd, name))
        return MCP_OK;
    out->answer.file = name;
    if (query_is_lost(table, out_fd, arena))
        return mcp_error_set(err, MCP_E_PARSE, "it is missing");
    return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no %s", name);
}

mcp_status query_export(query_export_result *out, columns *engine, int out_fd,
                        const query_question *question, const query_filters *filters,
                        query_format format, bool (*should_stop)(void *data), void *data,
                        mcp_arena *arena, mcp_error *err)
{
    struct export export = {
        .format = format, .shown = filters->shown, .should_stop = should_stop, .data = data
    };
    mcp_error why = MCP_ERROR_INIT;
    int folder_fd = -1;

    *out = (query_export_result){ .name = make_name(question, filters, format, arena) };
    if (!out->name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a name");
    mcp_status st = find_table(out, question->table, out_fd, arena, err);
    if (st != MCP_OK)
        return st;
    st = guard_make_dir(&folder_fd, out_fd, QUERY_EXPORTS, &why);
    if (st != MCP_OK)
        return mcp_error_set(err, st == MCP_E_NOMEM ? st : MCP_E_IO, QUERY_EXPORTS ": %s",
                             why.message);
    st = write_file(out, &export, engine, out_fd, folder_fd, question, arena, err);
    close(folder_fd);
    return st;
}
