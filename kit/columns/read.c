/*
 * read.c - rows of Parquet files into arrays: one whole file, a selection from many, or a statement
 * over many.
 *
 * DuckDB opens /proc/self/fd/N, which is the file of the descriptor and no other. A query is
 * limited to one row more than allowed, so neither a file nor its footer decides how much memory is
 * used.
 *
 * A selection is one statement: the rows that match are materialised once, counted, sorted and cut.
 * Its text has the numbers of descriptors and names of columns that the caller has as constants;
 * values are bound.
 */
#include "columns/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "columns/columns_int.h"
#include "columns/result.h"
#include "mcp/buf.h"

#define ROWS_MAX_DEFAULT 10000000
#define STATEMENT_MAX ((size_t)4 << 20)

static mcp_status read_in_turn(const columns_table **out, columns *self, int fd, size_t rows_max,
                               mcp_arena *arena, mcp_error *err)
{
    char sql[160];
    duckdb_result result;
    mcp_status st = engine_open(&self->engine, err);

    if (st != MCP_OK)
        return st;
    snprintf(sql, sizeof sql,
             "SELECT * FROM read_parquet('/proc/self/fd/%d', hive_partitioning = false) LIMIT %zu",
             fd, rows_max + 1);
    st = engine_query(&self->engine, &result, sql, MCP_E_PARSE, err);
    if (st != MCP_OK)
        return st;
    st = result_take(out, self->engine.api, &result, rows_max, arena, err);
    self->engine.api->destroy_result(&result);
    return st;
}

mcp_status columns_read(const columns_table **out, columns *self, int fd,
                        const columns_read_options *options, mcp_arena *arena, mcp_error *err)
{
    size_t rows_max = options && options->rows_max ? options->rows_max : ROWS_MAX_DEFAULT;
    struct stat about;

    /* DuckDB would read a folder as all Parquet files in it. */
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        return mcp_error_set(err, MCP_E_PARAMS, "not a regular file");
    pthread_mutex_lock(&self->turn);
    mcp_status st = read_in_turn(out, self, fd, rows_max, arena, err);
    pthread_mutex_unlock(&self->turn);
    return st;
}

/* ---- a selection ----------------------------------------------------------------------------- */

static const columns_table no_rows;

static void put_name(mcp_buf *sql, const char *name)
{
    mcp_buf_putc(sql, '"');
    for (; *name; name++) {
        if (*name == '"')
            mcp_buf_putc(sql, '"');
        mcp_buf_putc(sql, *name);
    }
    mcp_buf_putc(sql, '"');
}

static void put_files(mcp_buf *sql, const columns_selection *what)
{
    mcp_buf_puts(sql, " FROM read_parquet([");
    for (size_t i = 0; i < what->fd_count; i++)
        mcp_buf_printf(sql, "%s'/proc/self/fd/%d'", i > 0 ? "," : "", what->fds[i]);
    mcp_buf_puts(sql, "], hive_partitioning = false)");
}

/* Parameters are numbered from 1, in the order in which bind_conditions() binds them. */
static void put_conditions(mcp_buf *sql, const columns_selection *what)
{
    size_t parameter = 0;

    for (size_t i = 0; i < what->condition_count; i++) {
        const columns_condition *condition = &what->conditions[i];
        mcp_buf_puts(sql, i > 0 ? " AND " : " WHERE ");
        put_name(sql, condition->column);
        if (!condition->values) {
            mcp_buf_printf(sql, " BETWEEN $%zu AND $%zu", parameter + 1, parameter + 2);
            parameter += 2;
            continue;
        }
        mcp_buf_puts(sql, " IN (");
        for (size_t k = 0; k < condition->count; k++)
            mcp_buf_printf(sql, "%s$%zu", k > 0 ? "," : "", ++parameter);
        mcp_buf_puts(sql, condition->count > 0 ? ")" : "NULL)");
    }
}

/* The columns that sort are selected a second time, in front: those of the caller may not have
 * them. Then comes the index of the file. */
static void put_statement(mcp_buf *sql, const columns_selection *what)
{
    if (what->rows_max == 0) {
        mcp_buf_puts(sql, "SELECT count(*)");
        put_files(sql, what);
        put_conditions(sql, what);
        return;
    }
    mcp_buf_puts(sql, "WITH found AS MATERIALIZED (SELECT ");
    for (size_t i = 0; i < what->order_count; i++) {
        put_name(sql, what->order[i]);
        mcp_buf_printf(sql, " AS \"(order %zu)\", ", i);
    }
    mcp_buf_puts(sql, what->fd_count > 1 ? "file_index" : "0::UBIGINT");
    mcp_buf_puts(sql, " AS \"" COLUMNS_FILE "\"");
    for (size_t i = 0; i < what->name_count; i++) {
        mcp_buf_putc(sql, ',');
        put_name(sql, what->names[i]);
    }
    mcp_buf_puts(sql, what->name_count > 0 ? "" : ", *");
    put_files(sql, what);
    put_conditions(sql, what);
    mcp_buf_printf(sql, ") SELECT (SELECT count(*) FROM found), * FROM found ORDER BY %zu",
                   what->order_count + 2);
    for (size_t i = 0; i < what->order_count; i++)
        mcp_buf_printf(sql, ", %zu NULLS FIRST", i + 2);
    mcp_buf_printf(sql, " LIMIT %zu", what->rows_max);
}

static bool bind_conditions(const struct engine_api *api, duckdb_prepared_statement statement,
                            const columns_selection *what)
{
    idx_t parameter = 0;
    bool is_bound = true;

    for (size_t i = 0; i < what->condition_count && is_bound; i++) {
        const columns_condition *condition = &what->conditions[i];
        const int64_t range[2] = { condition->least, condition->most };
        const int64_t *values = condition->values ? condition->values : range;
        size_t count = condition->values ? condition->count : 2;
        for (size_t k = 0; k < count && is_bound; k++)
            is_bound = api->bind_int64(statement, ++parameter, values[k]) == DuckDBSuccess;
    }
    return is_bound;
}

static mcp_status run_selection(struct engine *engine, duckdb_result *result, const char *sql,
                                const columns_selection *what, mcp_error *err)
{
    const struct engine_api *api = engine->api;
    duckdb_prepared_statement statement = NULL;
    mcp_status st = engine_prepare(engine, &statement, sql, MCP_E_PARSE, err);

    if (st != MCP_OK)
        return st;
    if (bind_conditions(api, statement, what))
        st = engine_execute(engine, result, statement, MCP_E_PARSE, err);
    else
        st = mcp_error_set(err, MCP_E_INTERNAL, "DuckDB does not take a value");
    api->destroy_prepare(&statement);
    return st;
}

/* The first column of a result is the number of rows that match, in every row; then come those that
 * have sorted it. */
static mcp_status take_selection(const columns_table **out, uint64_t *total,
                                 const columns_table *table, size_t order_count, mcp_arena *arena,
                                 mcp_error *err)
{
    size_t skipped = 1 + order_count;
    const columns_column *count = &table->columns[0];

    if (table->rows > 0 && count->type != COLUMNS_I64)
        return mcp_error_set(err, MCP_E_INTERNAL, "DuckDB counts in an unknown type");
    columns_table *rest = mcp_arena_alloc(arena, sizeof *rest);
    if (!rest)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a table");
    *total = table->rows > 0 ? (uint64_t)((const int64_t *)count->values)[0] : 0;
    *rest = (columns_table){ .rows = table->rows,
                             .column_count = table->column_count - skipped,
                             .columns = table->columns + skipped };
    *out = rest;
    return MCP_OK;
}

static mcp_status select_in_turn(const columns_table **out, uint64_t *total, columns *self,
                                 const char *sql, const columns_selection *what, mcp_arena *arena,
                                 mcp_error *err)
{
    const columns_table *table = NULL;
    duckdb_result result;
    mcp_status st = engine_open(&self->engine, err);

    if (st != MCP_OK)
        return st;
    st = run_selection(&self->engine, &result, sql, what, err);
    if (st != MCP_OK)
        return st;
    st = result_take(&table, self->engine.api, &result, what->rows_max + 1, arena, err);
    self->engine.api->destroy_result(&result);
    if (st == MCP_OK)
        st = take_selection(out, total, table, what->rows_max > 0 ? what->order_count : 0, arena,
                            err);
    if (st == MCP_OK && what->rows_max == 0)
        *out = &no_rows;
    return st;
}

mcp_status columns_select(const columns_table **out, uint64_t *total, columns *self,
                          const columns_selection *what, mcp_arena *arena, mcp_error *err)
{
    mcp_buf sql;
    struct stat about;

    for (size_t i = 0; i < what->fd_count; i++)
        if (fstat(what->fds[i], &about) != 0 || !S_ISREG(about.st_mode))
            return mcp_error_set(err, MCP_E_PARAMS, "not a regular file");
    if (what->fd_count == 0) {
        *out = &no_rows;
        *total = 0;
        return MCP_OK;
    }
    mcp_buf_init(&sql, STATEMENT_MAX);
    put_statement(&sql, what);
    mcp_status st = sql.status;
    if (st == MCP_OK) {
        pthread_mutex_lock(&self->turn);
        st = select_in_turn(out, total, self, sql.data, what, arena, err);
        pthread_mutex_unlock(&self->turn);
    } else {
        mcp_error_set(err, st, "the selection names too much");
    }
    mcp_buf_clear(&sql);
    return st;
}

/* ---- a survey -------------------------------------------------------------------------------- */

static mcp_status take_survey(columns_survey *out, const columns_table *table, mcp_error *err)
{
    int64_t *const to[] = { &out->rows, &out->distinct, &out->least, &out->most };

    *out = (columns_survey){ 0 };
    for (size_t i = 0; i < 4; i++) {
        const columns_column *column = &table->columns[i];
        if (table->rows != 1 || column->type != COLUMNS_I64)
            return mcp_error_set(err, MCP_E_PARSE, "the column has no integers");
        *to[i] = ((const int64_t *)column->values)[0];
    }
    return MCP_OK;
}

static mcp_status look_in_turn(columns_survey *out, columns *self, const char *sql,
                               mcp_arena *arena, mcp_error *err)
{
    const columns_table *table = NULL;
    duckdb_result result;
    mcp_status st = engine_open(&self->engine, err);

    if (st == MCP_OK)
        st = engine_query(&self->engine, &result, sql, MCP_E_PARSE, err);
    if (st != MCP_OK)
        return st;
    st = result_take(&table, self->engine.api, &result, 1, arena, err);
    self->engine.api->destroy_result(&result);
    return st == MCP_OK ? take_survey(out, table, err) : st;
}

mcp_status columns_look(columns_survey *out, columns *self, int fd, const char *column,
                        mcp_error *err)
{
    const columns_selection what = { .fds = &fd, .fd_count = 1 };
    mcp_arena *arena = mcp_arena_new(0);
    struct stat about;
    mcp_buf sql;

    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a survey");
    mcp_buf_init(&sql, STATEMENT_MAX);
    mcp_buf_puts(&sql, "SELECT count(*), count(DISTINCT c), coalesce(min(c), 0), "
                       "coalesce(max(c), 0) FROM (SELECT CAST(");
    put_name(&sql, column);
    mcp_buf_puts(&sql, " AS BIGINT) AS c");
    put_files(&sql, &what);
    mcp_buf_putc(&sql, ')');
    mcp_status st = sql.status;
    if (st == MCP_OK && (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)))
        st = mcp_error_set(err, MCP_E_PARAMS, "not a regular file");
    if (st == MCP_OK) {
        pthread_mutex_lock(&self->turn);
        st = look_in_turn(out, self, sql.data, arena, err);
        pthread_mutex_unlock(&self->turn);
    }
    mcp_buf_clear(&sql);
    mcp_arena_free(arena);
    return st;
}

/* ---- a statement ----------------------------------------------------------------------------- */

/* DuckDB numbers the files of a list; a single file has no number. */
static void put_table(mcp_buf *text, const int *fds, size_t count)
{
    mcp_buf_printf(text, "WITH files AS (SELECT *, %s AS \"" COLUMNS_FILE "\" FROM read_parquet([",
                   count > 1 ? "file_index" : "0::UBIGINT");
    for (size_t i = 0; i < count; i++)
        mcp_buf_printf(text, "%s'/proc/self/fd/%d'", i > 0 ? "," : "", fds[i]);
    mcp_buf_puts(text, "], hive_partitioning = false)) ");
}

static mcp_status query_in_turn(const columns_table **out, columns *self, const char *sql,
                                size_t rows_max, mcp_arena *arena, mcp_error *err)
{
    duckdb_result result;
    mcp_status st = engine_open(&self->engine, err);

    if (st != MCP_OK)
        return st;
    st = engine_query(&self->engine, &result, sql, MCP_E_PARSE, err);
    if (st != MCP_OK)
        return st;
    st = result_take(out, self->engine.api, &result, rows_max, arena, err);
    self->engine.api->destroy_result(&result);
    return st;
}

mcp_status columns_query(const columns_table **out, columns *self, const int *fds, size_t count,
                         const char *sql, const columns_read_options *options, mcp_arena *arena,
                         mcp_error *err)
{
    size_t rows_max = options && options->rows_max ? options->rows_max : ROWS_MAX_DEFAULT;
    struct stat about;
    mcp_buf text;

    if (count == 0)
        return mcp_error_set(err, MCP_E_PARAMS, "there is no file to read");
    /* DuckDB would read a folder as all Parquet files in it. */
    for (size_t i = 0; i < count; i++)
        if (fstat(fds[i], &about) != 0 || !S_ISREG(about.st_mode))
            return mcp_error_set(err, MCP_E_PARAMS, "not a regular file");
    mcp_buf_init(&text, COLUMNS_QUERY_MAX);
    put_table(&text, fds, count);
    mcp_buf_puts(&text, sql);
    mcp_status st = text.status;
    if (st == MCP_OK) {
        pthread_mutex_lock(&self->turn);
        st = query_in_turn(out, self, text.data, rows_max, arena, err);
        pthread_mutex_unlock(&self->turn);
    } else {
        mcp_error_set(err, st, "the statement names too many files");
    }
    mcp_buf_clear(&text);
    return st;
}
