/*
 * control.c - copies of tables of the state, as CSV files without a name.
 *
 * Every value is quoted and NULL is not, which is how the outputs that are CSV are read, too.
 */
#include "jobs/state/control.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "jobs/state/rows.h"

enum { COLUMNS_MAX = 16, SQL_SIZE = 4096 };

typedef struct control_column {
    const char *name;
    const char *sql; /* NULL: the column has the view's name. Times are milliseconds */
    casparian_kind kind;
} control_column;

typedef struct control_table {
    const char *name, *from, *order;
    control_column columns[COLUMNS_MAX + 1];
} control_table;

#define TEXT(name_)                                                                                \
    {                                                                                              \
        name_, NULL, CASPARIAN_KIND_STRING                                                         \
    }
#define NUMBER(name_)                                                                              \
    {                                                                                              \
        name_, NULL, CASPARIAN_KIND_INT64                                                          \
    }
#define TIME(name_)                                                                                \
    {                                                                                              \
        name_, NULL, CASPARIAN_KIND_TIMESTAMP_TZ                                                   \
    }

/* clang-format off */
static const control_table tables[] = {
    { "jobs", "cf_api_jobs", "job_id DESC",
      { NUMBER("job_id"), TEXT("job_type"), TEXT("status"), TEXT("plugin_name"),
        TEXT("plugin_version"), TEXT("artifact_hash"), TEXT("input_dir"), TEXT("output_sink"),
        TEXT("approval_id"), TIME("created_at"), TIME("started_at"), TIME("finished_at"),
        TEXT("error_code"), TEXT("error_message"),
        { "rows", "result_rows_processed", CASPARIAN_KIND_INT64 },
        { "bytes", "result_bytes_written", CASPARIAN_KIND_INT64 }, { 0 } } },
    { "events", "cf_api_events", "job_id DESC, event_id DESC",
      { NUMBER("job_id"), NUMBER("event_id"), TEXT("event_type"), TIME("timestamp"),
        { "payload", "payload_json", CASPARIAN_KIND_STRING }, { 0 } } },
    { "approvals", "cf_api_approvals", "created_at DESC, approval_id",
      { TEXT("approval_id"), TEXT("status"), { "operation", "operation_type", CASPARIAN_KIND_STRING },
        TEXT("summary"), TEXT("requested_by"), TIME("created_at"), TIME("expires_at"),
        TIME("decided_at"), TEXT("decided_by"), TEXT("rejection_reason"), NUMBER("job_id"), { 0 } } },
    { "files", "scout_files", "id DESC",
      { { "file_id", "id", CASPARIAN_KIND_INT64 },
        { "source", "(SELECT name FROM scout_sources WHERE scout_sources.id = source_id)",
          CASPARIAN_KIND_STRING },
        TEXT("path"), TEXT("rel_path"), TEXT("name"), TEXT("extension"), NUMBER("size"),
        { "modified_at", "mtime * 1000", CASPARIAN_KIND_TIMESTAMP_TZ }, TEXT("content_hash"),
        TEXT("status"), TIME("first_seen_at"), TIME("last_seen_at"), TEXT("last_error"), { 0 } } },
};
/* clang-format on */

enum { TABLE_COUNT = sizeof tables / sizeof tables[0] };

/* What a copy is made of. */
typedef struct control_copy {
    const control_table *table;
    casparian_store *store;
} control_copy;

static size_t column_count(const control_table *table)
{
    size_t count = 0;
    while (table->columns[count].name)
        count++;
    return count;
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Every value as a text, the newest rows first. */
static void put_select(mcp_buf *sql, const control_table *table)
{
    mcp_buf_puts(sql, "SELECT ");
    for (size_t i = 0; table->columns[i].name; i++) {
        const control_column *column = &table->columns[i];
        const char *value = column->sql ? column->sql : column->name;
        if (i > 0)
            mcp_buf_puts(sql, ", ");
        if (column->kind == CASPARIAN_KIND_TIMESTAMP_TZ)
            mcp_buf_printf(sql, "strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ', %s / 1000.0, 'unixepoch')",
                           value);
        else
            mcp_buf_printf(sql, "CAST(%s AS TEXT)", value);
    }
    mcp_buf_printf(sql, " FROM %s ORDER BY %s LIMIT %d", table->from, table->order,
                   CASPARIAN_CONTROL_ROWS_MAX);
}

static void put_value(mcp_buf *out, const char *text)
{
    if (!text)
        return;
    mcp_buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            mcp_buf_putc(out, '"');
        mcp_buf_putc(out, *text);
    }
    mcp_buf_putc(out, '"');
}

/* The row that does not fit any more, and those after it, are left out. */
static mcp_status put_rows(mcp_buf *out, db_rows *rows, const control_table *table, mcp_error *err)
{
    size_t count = column_count(table);
    mcp_status st = MCP_OK;
    for (size_t i = 0; i < count; i++)
        mcp_buf_printf(out, "%s%s", i > 0 ? "," : "", table->columns[i].name);
    mcp_buf_putc(out, '\n');
    while (out->status == MCP_OK && casparian_next(rows, &st, err)) {
        size_t before = out->length;
        for (size_t i = 0; i < count; i++) {
            mcp_buf_puts(out, i > 0 ? "," : "");
            put_value(out, db_text_at(rows, (int)i, NULL));
        }
        if (mcp_buf_putc(out, '\n') == MCP_E_LIMIT) {
            out->length = before;
            out->status = MCP_OK;
            break;
        }
    }
    return st == MCP_OK ? out->status : st;
}

static mcp_status copy_rows(mcp_buf *out, const control_copy *copy, mcp_error *err)
{
    db_session *session = NULL;
    db_rows *rows = NULL;
    mcp_buf sql;
    mcp_status st = db_begin(&session, casparian_store_database(copy->store), DB_READ, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&sql, SQL_SIZE);
    put_select(&sql, copy->table);
    st = sql.status;
    if (st == MCP_OK)
        st = db_query(&rows, session, sql.data, NULL, 0, err);
    if (st == MCP_OK)
        st = put_rows(out, rows, copy->table, err);
    db_rows_free(rows);
    mcp_buf_clear(&sql);
    return casparian_store_end(session, st, err);
}

/* casparian_catalog_open */
static int open_copy(void *data, const char *location)
{
    const control_copy *copy = data;
    mcp_buf text;
    size_t done = 0;
    int fd = open(casparian_store_home(copy->store), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    (void)location;
    mcp_buf_init(&text, CASPARIAN_CONTROL_BYTES_MAX);
    bool is_made = fd >= 0 && copy_rows(&text, copy, NULL) == MCP_OK;
    while (is_made && done < text.length) {
        ssize_t wrote = write(fd, text.data + done, text.length - done);
        is_made = wrote > 0;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    mcp_buf_clear(&text);
    if (!is_made && fd >= 0)
        close(fd);
    return is_made ? fd : -1;
}

/* ---- the catalog ----------------------------------------------------------------------------- */

static mcp_status add_table(casparian_catalog_file *out, const control_table *table,
                            casparian_store *store, mcp_arena *arena)
{
    size_t count = column_count(table);
    casparian_column *columns = mcp_arena_array(arena, count, sizeof *columns);
    casparian_definition *definition = mcp_arena_alloc(arena, sizeof *definition);
    control_copy *copy = mcp_arena_alloc(arena, sizeof *copy);
    if (!columns || !definition || !copy)
        return MCP_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        columns[i] = (casparian_column){ .name = table->columns[i].name,
                                         .type = { .kind = table->columns[i].kind },
                                         .is_nullable = true };
    *definition = (casparian_definition){ .output = table->name,
                                          .count = count,
                                          .columns = columns };
    *copy = (control_copy){ .table = table, .store = store };
    *out = (casparian_catalog_file){ .output = table->name,
                                     .is_control = true,
                                     .format = "csv",
                                     .location = table->name,
                                     .schema_hash = "",
                                     .definition = definition,
                                     .open = open_copy,
                                     .data = copy };
    return MCP_OK;
}

mcp_status casparian_control_add(casparian_catalog *catalog, casparian_store *store,
                                 mcp_arena *arena, mcp_error *err)
{
    casparian_catalog_file *files = mcp_arena_array(arena, catalog->count + TABLE_COUNT,
                                                    sizeof *files);
    mcp_status st = files ? MCP_OK : MCP_E_NOMEM;
    if (st == MCP_OK && catalog->count > 0)
        memcpy(files, catalog->files, catalog->count * sizeof *files);
    for (size_t i = 0; st == MCP_OK && i < TABLE_COUNT; i++)
        st = add_table(&files[catalog->count + i], &tables[i], store, arena);
    if (st != MCP_OK)
        return mcp_error_set(err, st, "no memory for the catalog");
    catalog->files = files;
    catalog->count += TABLE_COUNT;
    return MCP_OK;
}
