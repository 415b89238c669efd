/*
 * duckdb.c - one transaction into a DuckDB file; counting rows of outputs.
 *
 * The marker is a table that the same transaction makes. If it is there after a crash, so are the
 * rows; it is dropped when something else says so, the manifest of the job.
 */
#include "sinks/duckdb.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "columns/engine.h"
#include "columns/quote.h"
#include "guard/paths.h"
#include "mcp/alloc.h"
#include "mcp/buf.h"
#include "mcp/clock.h"

#define SQL_MAX ((size_t)64 << 10)
#define HEADER_MAX ((size_t)1 << 20) /* of a CSV file */
#define OPEN_WAIT_MS 20000           /* for readers to close the file */
#define OPEN_PAUSE_MS 50

mcp_status casparian_duckdb_check(mcp_error *err)
{
    struct engine engine = { .api = NULL };
    mcp_status st = engine_open(&engine, err);

    engine_close(&engine);
    return st;
}

/* ---- statements ------------------------------------------------------------------------------ */

/* Run the statement in `sql`, and empty it. @param numbers receives the first values of the
 * result's only row, which are of BIGINT */
static mcp_status run_for(struct engine *engine, mcp_buf *sql, int64_t *numbers, size_t count,
                          mcp_error *err)
{
    duckdb_result result;
    mcp_status st = sql->status;

    if (st != MCP_OK)
        return mcp_error_set(err, st, "no room for a statement");
    st = engine_query(engine, &result, sql->data, MCP_E_PARAMS, err);
    mcp_buf_reset(sql);
    if (st != MCP_OK)
        return st;
    duckdb_data_chunk chunk = count > 0 ? engine->api->fetch_chunk(result) : NULL;
    for (size_t i = 0; chunk && i < count; i++)
        numbers[i] = *(const int64_t *)engine->api->vector_get_data(
            engine->api->data_chunk_get_vector(chunk, i));
    if (chunk)
        engine->api->destroy_data_chunk(&chunk);
    engine->api->destroy_result(&result);
    return MCP_OK;
}

/* @param number receives the result's only value; may be NULL */
static mcp_status run(struct engine *engine, mcp_buf *sql, int64_t *number, mcp_error *err)
{
    return run_for(engine, sql, number, number ? 1 : 0, err);
}

static mcp_status run_text(struct engine *engine, mcp_buf *sql, const char *text, mcp_error *err)
{
    mcp_buf_puts(sql, text);
    return run(engine, sql, NULL, err);
}

/* How many tables have that name: 0 or 1. */
static mcp_status count_tables(struct engine *engine, mcp_buf *sql, int64_t *out, const char *name,
                               mcp_error *err)
{
    mcp_buf_puts(sql, "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'main' AND "
                      "lower(table_name) = lower(");
    columns_quote(sql, name, '\'');
    mcp_buf_putc(sql, ')');
    return run(engine, sql, out, err);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* A file must be a regular one or missing: the engine follows links, out of the folder that was
 * allowed. */
static mcp_status check_file(const duckdb_file *file, const char *suffix, mcp_error *err)
{
    char name[NAME_MAX + 1];
    struct stat about;

    if (snprintf(name, sizeof name, "%s%s", file->name, suffix) >= (int)sizeof name)
        return mcp_error_set(err, MCP_E_PARAMS, "'%.100s' is too long for a name", file->name);
    if (fstatat(file->dir_fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? MCP_OK : mcp_error_errno(err, errno, "'%.100s'", name);
    if (!S_ISREG(about.st_mode))
        return mcp_error_set(err, MCP_E_DENIED, "'%.100s' is %s, not the file of a database", name,
                             S_ISLNK(about.st_mode) ? "a link" : "something else");
    return MCP_OK;
}

/* The engine opens its log by the name of the database. */
static mcp_status check_files(const duckdb_file *file, mcp_error *err)
{
    mcp_status st = check_file(file, "", err);
    return st == MCP_OK ? check_file(file, ".wal", err) : st;
}

/* Take the folder's descriptor out of a message, which has no meaning to a reader. */
static mcp_status say(mcp_status st, const char *folder, const mcp_error *cause, mcp_error *err)
{
    char text[sizeof cause->message];
    size_t length = strlen(folder), used = 0;

    for (const char *at = cause->message; *at;) {
        if (strncmp(at, folder, length) == 0)
            at += length;
        else
            text[used++] = *at++;
    }
    text[used] = '\0';
    return mcp_error_set(err, st, "%s", text);
}

/* Open the file, once nobody else has it open. It is opened in the folder that was checked, by the
 * folder's descriptor, so that no part of its path can be exchanged; its own name is looked at
 * again afterwards, because the engine may have followed a link that came meanwhile. */
static mcp_status open_file(struct engine *engine, const duckdb_file *file, bool is_read_only,
                            mcp_error *err)
{
    char folder[64], path[sizeof folder + NAME_MAX + 1];
    mcp_error cause = MCP_ERROR_INIT;
    int64_t until = mcp_clock_mono_ms() + OPEN_WAIT_MS;
    mcp_status st = check_files(file, err);

    if (st != MCP_OK)
        return st;
    snprintf(folder, sizeof folder, "/proc/self/fd/%d/", file->dir_fd);
    snprintf(path, sizeof path, "%s%s", folder, file->name);
    st = engine_open_file(engine, path, is_read_only, &cause);
    while (st == MCP_E_BUSY && mcp_clock_mono_ms() < until) {
        usleep(OPEN_PAUSE_MS * 1000);
        st = engine_open_file(engine, path, is_read_only, &cause);
    }
    if (st != MCP_OK)
        return say(st, folder, &cause, err);
    st = check_files(file, err);
    if (st != MCP_OK)
        engine_close(engine);
    return st;
}

/* Give the new file its name, unless there is one meanwhile. */
static mcp_status name_file(const duckdb_file *made, const duckdb_file *file, mcp_error *err)
{
    int failed = renameat2(made->dir_fd, made->name, file->dir_fd, file->name, RENAME_NOREPLACE);

    if (failed && errno == EINVAL) /* not on this file system */
        failed = renameat(made->dir_fd, made->name, file->dir_fd, file->name);
    if ((failed && errno != EEXIST) || fsync(file->dir_fd) != 0)
        return mcp_error_errno(err, errno, "'%.100s'", file->name);
    return MCP_OK;
}

/* Make the file if it is missing: under another name, so that a failure leaves none that is not a
 * database. */
static mcp_status make_file(const duckdb_file *file, mcp_error *err)
{
    struct engine engine = { .api = NULL };
    char name[NAME_MAX + 1], log[NAME_MAX + 1];
    const duckdb_file made = { file->dir_fd, name };

    if (faccessat(file->dir_fd, file->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return MCP_OK;
    snprintf(name, sizeof name, ".%.200s.tmp", file->name);
    snprintf(log, sizeof log, "%.210s.wal", name);
    unlinkat(made.dir_fd, name, 0);
    unlinkat(made.dir_fd, log, 0);
    mcp_status st = open_file(&engine, &made, false, err);
    engine_close(&engine);
    if (st == MCP_OK)
        st = name_file(&made, file, err);
    unlinkat(made.dir_fd, name, 0);
    unlinkat(made.dir_fd, log, 0);
    return st;
}

static mcp_status load_stage(struct engine *engine, mcp_buf *sql, const duckdb_stage *stage, int fd,
                             mcp_error *err)
{
    int64_t tables = 0;
    mcp_status st = count_tables(engine, sql, &tables, stage->table, err);

    if (st == MCP_OK && tables > 0 && stage->mode == CASPARIAN_SINK_ERROR)
        st = mcp_error_set(err, MCP_E_EXISTS, "the database has a table '%.100s' already",
                           stage->table);
    if (st != MCP_OK)
        return st;
    if (tables > 0 && stage->mode == CASPARIAN_SINK_APPEND)
        mcp_buf_puts(sql, "INSERT INTO ");
    else
        mcp_buf_puts(sql, "CREATE OR REPLACE TABLE ");
    columns_quote(sql, stage->table, '"');
    mcp_buf_puts(sql, tables > 0 && stage->mode == CASPARIAN_SINK_APPEND ? " BY NAME " : " AS ");
    mcp_buf_printf(sql, "SELECT * FROM read_parquet('/proc/self/fd/%d', hive_partitioning = false)",
                   fd);
    return run(engine, sql, NULL, err);
}

static mcp_status load_stages(struct engine *engine, mcp_buf *sql, const duckdb_load *load,
                              mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < load->count && st == MCP_OK; i++) {
        int fd = -1;
        st = guard_open_file(&fd, load->file.dir_fd, load->stages[i].file, err);
        if (st == MCP_OK)
            st = load_stage(engine, sql, &load->stages[i], fd, err);
        if (fd >= 0)
            close(fd);
    }
    return st;
}

static mcp_status load_all(struct engine *engine, mcp_buf *sql, const duckdb_load *load,
                           mcp_error *err)
{
    mcp_status st = run_text(engine, sql, "BEGIN", err);

    if (st == MCP_OK)
        st = load_stages(engine, sql, load, err);
    if (st == MCP_OK) {
        mcp_buf_puts(sql, "CREATE TABLE ");
        columns_quote(sql, load->marker, '"');
        mcp_buf_puts(sql, " (committed BOOLEAN)");
        st = run(engine, sql, NULL, err);
    }
    if (st == MCP_OK)
        st = run_text(engine, sql, "COMMIT", err);
    return st;
}

mcp_status casparian_duckdb_load(const duckdb_load *load, mcp_error *err)
{
    struct engine engine = { .api = NULL };
    mcp_buf sql;
    mcp_status st = check_files(&load->file, err);

    if (st == MCP_OK)
        st = make_file(&load->file, err);
    if (st == MCP_OK)
        st = open_file(&engine, &load->file, false, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&sql, SQL_MAX);
    st = load_all(&engine, &sql, load, err);
    mcp_buf_clear(&sql);
    /* Closing rolls back what was not committed, and makes a checkpoint. */
    engine_close(&engine);
    return st;
}

/* ---- the marker ------------------------------------------------------------------------------ */

mcp_status casparian_duckdb_is_marked(bool *out, const duckdb_file *file, const char *marker,
                                      mcp_error *err)
{
    struct engine engine = { .api = NULL };
    struct stat about;
    mcp_buf sql;
    int64_t tables = 0;

    *out = false;
    if (fstatat(file->dir_fd, file->name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? MCP_OK : mcp_error_errno(err, errno, "'%.100s'", file->name);
    /* For writing: a crash may have left a log, which only a writer can read in. */
    mcp_status st = open_file(&engine, file, false, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&sql, SQL_MAX);
    st = count_tables(&engine, &sql, &tables, marker, err);
    mcp_buf_clear(&sql);
    engine_close(&engine);
    *out = tables > 0;
    return st;
}

mcp_status casparian_duckdb_unmark(const duckdb_file *file, const char *marker, mcp_error *err)
{
    struct engine engine = { .api = NULL };
    mcp_buf sql;
    mcp_status st = open_file(&engine, file, false, err);

    if (st != MCP_OK)
        return st;
    mcp_buf_init(&sql, SQL_MAX);
    mcp_buf_puts(&sql, "DROP TABLE IF EXISTS ");
    columns_quote(&sql, marker, '"');
    st = run(&engine, &sql, NULL, err);
    if (st == MCP_OK)
        st = run_text(&engine, &sql, "CHECKPOINT", err);
    mcp_buf_clear(&sql);
    engine_close(&engine);
    return st;
}

mcp_status casparian_duckdb_count(int64_t *out, const duckdb_file *file, const char *table,
                                  const char *job, mcp_error *err)
{
    struct engine engine = { .api = NULL };
    mcp_buf sql;
    int64_t tables = 0;
    mcp_status st = open_file(&engine, file, true, err);

    if (st != MCP_OK)
        return st;
    mcp_buf_init(&sql, SQL_MAX);
    *out = -1;
    st = count_tables(&engine, &sql, &tables, table, err);
    if (st == MCP_OK && tables > 0) {
        mcp_buf_puts(&sql, "SELECT count(*) FROM ");
        columns_quote(&sql, table, '"');
        mcp_buf_puts(&sql, " WHERE _cf_job_id = ");
        columns_quote(&sql, job, '\'');
        st = run(&engine, &sql, out, err);
    }
    mcp_buf_clear(&sql);
    engine_close(&engine);
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The delimiter of a CSV file of ours: it stands between two columns of lineage. @return '\0': the
 * file has no header */
static char delimiter_of(int fd)
{
    static const char before[] = "_cf_source_hash", after[] = "_cf_job_id";
    char *head = mcp_alloc(HEADER_MAX + 1);
    ssize_t length = head ? pread(fd, head, HEADER_MAX, 0) : 0;
    char found = '\0';

    if (length > 0) {
        head[length] = '\0';
        head[strcspn(head, "\n")] = '\0';
        const char *at = strstr(head, before);
        if (at && at[sizeof before - 1] &&
            strncmp(at + sizeof before, after, sizeof after - 1) == 0)
            found = at[sizeof before - 1];
    }
    free(head);
    return found;
}

static mcp_status put_file(mcp_buf *from, const char *name, int fd, mcp_error *err)
{
    const char *ending = strrchr(name, '.');
    char delimiter[2] = { '\0', '\0' };

    if (!ending || strcmp(ending, ".csv") != 0) {
        mcp_buf_printf(from, "read_parquet('/proc/self/fd/%d', hive_partitioning = false)", fd);
        return MCP_OK;
    }
    delimiter[0] = delimiter_of(fd);
    if (delimiter[0] == '\0')
        return mcp_error_set(err, MCP_E_UNSUPPORTED, "'%.100s' has no header", name);
    mcp_buf_printf(from, "read_csv('/proc/self/fd/%d', delim = ", fd);
    columns_quote(from, delimiter, '\'');
    mcp_buf_puts(from, ", quote = '\"', escape = '\"', new_line = '\\n', header = true, "
                       "max_line_size = 8388608, buffer_size = 16777216, all_varchar = true)");
    return MCP_OK;
}

/* The column that has the row's place in its source: quarantine has its own. NULL: none. */
static mcp_status find_row_column(const char **out, struct engine *engine, mcp_buf *sql,
                                  const char *from, mcp_error *err)
{
    int64_t found = 0;

    mcp_buf_printf(sql,
                   "SELECT CAST(coalesce(max(CASE column_name WHEN '_source_row' THEN 2 WHEN "
                   "'__cf_row_id' THEN 1 ELSE 0 END), 0) AS BIGINT) FROM (DESCRIBE SELECT * FROM "
                   "%s)",
                   from);
    mcp_status st = run(engine, sql, &found, err);
    *out = found == 2 ? "_source_row" : found == 1 ? "\"__cf_row_id\"" : NULL;
    return st;
}

static mcp_status count_rows(duckdb_counts *out, struct engine *engine, const char *from,
                             const duckdb_rows *what, mcp_error *err)
{
    const char *column = NULL;
    int64_t numbers[3] = { 0 };
    mcp_buf sql;

    mcp_buf_init(&sql, SQL_MAX);
    mcp_status st = find_row_column(&column, engine, &sql, from, err);
    mcp_buf_puts(&sql, "SELECT count(*), count(*) FILTER (is_its), count(*) FILTER (is_its AND ");
    if (column)
        mcp_buf_printf(&sql, "TRY_CAST(%s AS BIGINT) = %" PRId64, column, what->row);
    else
        mcp_buf_puts(&sql, "false");
    mcp_buf_puts(&sql, ") FROM (SELECT *, _cf_job_id = ");
    columns_quote(&sql, what->job, '\'');
    mcp_buf_puts(&sql, " AND _cf_source_hash = ");
    columns_quote(&sql, what->source_hash, '\'');
    mcp_buf_printf(&sql, " AS is_its FROM %s)", from);
    if (st == MCP_OK)
        st = run_for(engine, &sql, numbers, 3, err);
    mcp_buf_clear(&sql);
    if (st == MCP_OK)
        *out = (duckdb_counts){ numbers[0], numbers[1], numbers[2], column != NULL };
    return st;
}

/* Rows of a table of a database. */
static mcp_status count_in_table(duckdb_counts *out, const duckdb_rows *what, mcp_error *err)
{
    struct engine engine = { .api = NULL };
    mcp_buf from;
    mcp_status st = open_file(&engine, &what->file, true, err);

    if (st != MCP_OK)
        return st;
    mcp_buf_init(&from, SQL_MAX);
    columns_quote(&from, what->table, '"');
    st = from.status == MCP_OK ? count_rows(out, &engine, from.data, what, err) : from.status;
    mcp_buf_clear(&from);
    engine_close(&engine);
    return st;
}

static mcp_status count_in_file(duckdb_counts *out, const duckdb_rows *what, mcp_error *err)
{
    struct engine engine = { .api = NULL };
    mcp_buf from;
    int fd = -1;
    mcp_status st = guard_open_file(&fd, what->file.dir_fd, what->file.name, err);

    if (st != MCP_OK)
        return st;
    mcp_buf_init(&from, SQL_MAX);
    st = put_file(&from, what->file.name, fd, err);
    if (st == MCP_OK)
        st = from.status == MCP_OK ? engine_open(&engine, err) : from.status;
    if (st == MCP_OK)
        st = count_rows(out, &engine, from.data, what, err);
    engine_close(&engine);
    mcp_buf_clear(&from);
    close(fd);
    return st;
}

mcp_status casparian_duckdb_rows(duckdb_counts *out, const duckdb_rows *what, mcp_error *err)
{
    if (strchr(what->file.name, '/'))
        return mcp_error_set(err, MCP_E_DENIED, "'%.100s' is no name in the folder",
                             what->file.name);
    return what->table ? count_in_table(out, what, err) : count_in_file(out, what, err);
}
