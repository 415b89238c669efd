/*
 * convergence.c - reads a training's convergence record, and derives further columns.
 *
 * The marker is not needed: a record without metadata belongs to a run that continues or was
 * interrupted, and the lock decides which. A file with other bytes or other columns is MCP_E_PARSE.
 */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "guard/paths.h"
#include "results/results_int.h"

#define RECORD "training/convergence.parquet"
#define INNER_BOUND "training/inner_bound.parquet"
#define METADATA "training/metadata.json"
#define METADATA_MAX ((size_t)1 << 20)

/* The columns of the record in the order of its schema. */
enum {
    C_ITERATION,
    C_LOWER,
    C_UPPER,
    C_STD,
    C_GAP,
    C_ADDED,
    C_REMOVED,
    C_ACTIVE,
    C_FORWARD,
    C_BACKWARD,
    C_TOTAL,
    C_PASSES,
    C_SOLVES,
    C_COUNT
};

/* The column of a field; NULL with an error when it is absent or of another type. */
static const columns_column *find_column(const columns_table *table, const char *file,
                                         const results_field *field, mcp_error *err)
{
    const columns_column *column = columns_find(table, field->name);

    if (!column) {
        mcp_error_set(err, MCP_E_PARSE, "%s: there is no column %s", file, field->name);
        return NULL;
    }
    if (column->type != field->type) {
        const char *required = columns_type_name(field->type);
        if (column->type == COLUMNS_OTHER)
            mcp_error_set(err, MCP_E_PARSE, "%s: column %s has an unsupported type, %s is required",
                          file, field->name, required);
        else
            mcp_error_set(err, MCP_E_PARSE, "%s: column %s has type %s but %s is required", file,
                          field->name, columns_type_name(column->type), required);
        return NULL;
    }
    if (column->valid && !field->is_nullable && memchr(column->valid, 0, table->rows)) {
        mcp_error_set(err, MCP_E_PARSE, "%s: column %s has missing values", file, field->name);
        return NULL;
    }
    return column;
}

/* The columns of a file in the order of its schema. */
static bool find_columns(const columns_column **found, const columns_table *table, const char *file,
                         results_table kind, mcp_error *err)
{
    const results_schema *schema = results_schema_of(kind);

    for (size_t i = 0; i < schema->count; i++) {
        found[i] = find_column(table, file, &schema->fields[i], err);
        if (!found[i])
            return false;
    }
    return true;
}

static double f64_at(const columns_column *column, size_t row)
{
    return ((const double *)column->values)[row];
}

static int32_t i32_at(const columns_column *column, size_t row)
{
    return ((const int32_t *)column->values)[row];
}

static int64_t i64_at(const columns_column *column, size_t row)
{
    return ((const int64_t *)column->values)[row];
}

/* One row; `wall_ms` is the time before it. */
static void take_row(sddp_iteration *row, const columns_column *const found[C_COUNT], size_t i,
                     int64_t wall_ms)
{
    row->iteration = i32_at(found[C_ITERATION], i);
    row->lower_bound = f64_at(found[C_LOWER], i);
    row->upper_bound = f64_at(found[C_UPPER], i);
    row->upper_bound_std = f64_at(found[C_STD], i);
    row->cuts_added = i32_at(found[C_ADDED], i);
    row->cuts_removed = i32_at(found[C_REMOVED], i);
    row->cuts_active = i64_at(found[C_ACTIVE], i);
    row->time_forward_ms = i64_at(found[C_FORWARD], i);
    row->time_backward_ms = i64_at(found[C_BACKWARD], i);
    row->time_total_ms = i64_at(found[C_TOTAL], i);
    row->forward_passes = i32_at(found[C_PASSES], i);
    row->lp_solves = i64_at(found[C_SOLVES], i);
    row->wall_time_ms = (int64_t)((uint64_t)wall_ms + (uint64_t)row->time_total_ms);
    if (row->forward_passes > 0)
        row->ci_95 = 1.96 * row->upper_bound_std / sqrt(row->forward_passes);
    row->gap = (row->upper_bound - row->lower_bound) / fmax(1.0, fabs(row->upper_bound));
}

static mcp_status take_rows(sddp_iteration **out, const columns_table *table, mcp_arena *arena,
                            mcp_error *err)
{
    const columns_column *found[C_COUNT];

    if (!find_columns(found, table, RECORD, RESULTS_CONVERGENCE, err))
        return MCP_E_PARSE;
    sddp_iteration *rows = mcp_arena_array(arena, table->rows, sizeof *rows);
    if (!rows)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu iterations", table->rows);
    for (size_t i = 0; i < table->rows; i++) {
        take_row(&rows[i], found, i, i > 0 ? rows[i - 1].wall_time_ms : 0);
        if (!isfinite(rows[i].gap) || !isfinite(rows[i].ci_95))
            return mcp_error_set(err, MCP_E_PARSE, RECORD ": row %zu has a bound that is no number",
                                 i + 1);
    }
    *out = rows;
    return MCP_OK;
}

/* Into the rows of their iterations; both files have them in ascending order. */
static mcp_status take_bounds(sddp_iteration *rows, size_t count, const columns_table *table,
                              mcp_error *err)
{
    const columns_column *found[2];

    if (!find_columns(found, table, INNER_BOUND, RESULTS_INNER_BOUND, err))
        return MCP_E_PARSE;
    for (size_t i = 0, row = 0; i < table->rows; i++) {
        while (row < count && rows[row].iteration < i32_at(found[0], i))
            row++;
        if (row == count || rows[row].iteration != i32_at(found[0], i))
            continue;
        rows[row].has_inner_bound = true;
        rows[row].inner_upper_bound = f64_at(found[1], i);
    }
    return MCP_OK;
}

static mcp_status read_table(const columns_table **out, const char *file, columns *engine,
                             int out_fd, mcp_arena *arena, mcp_error *err)
{
    mcp_error why = MCP_ERROR_INIT;
    int fd = -1;
    mcp_status st = guard_open_file(&fd, out_fd, file, err);

    if (st == MCP_E_NOT_FOUND && guard_is_taken(out_fd, file))
        return mcp_error_set(err, MCP_E_PARSE, "%s: it is not a regular file", file);
    if (st != MCP_OK)
        return st;
    st = columns_read(out, engine, fd, NULL, arena, &why);
    close(fd);
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "%s: %s", file, why.message);
}

static mcp_status read_rows(results_convergence *out, columns *engine, int out_fd, mcp_arena *arena,
                            mcp_error *err)
{
    const columns_table *table = NULL, *bounds = NULL;
    sddp_iteration *rows = NULL;
    mcp_status st = read_table(&table, RECORD, engine, out_fd, arena, err);

    if (st == MCP_OK)
        st = take_rows(&rows, table, arena, err);
    if (st != MCP_OK)
        return st;
    out->file = INNER_BOUND;
    st = read_table(&bounds, INNER_BOUND, engine, out_fd, arena, err);
    if (st == MCP_OK)
        st = take_bounds(rows, table->rows, bounds, err);
    else if (st == MCP_E_NOT_FOUND)
        st = MCP_OK;
    if (st == MCP_OK)
        *out = (results_convergence){ .rows = rows, .count = table->rows };
    return st;
}

const char *results_reason(const char *stored)
{
    if (!stored)
        return "unknown";
    if (strcmp(stored, "simulation_based") == 0)
        return "simulation";
    return strcmp(stored, "graceful_shutdown") == 0 ? "shutdown" : stored;
}

static mcp_status read_reason(const char **out, int out_fd, mcp_arena *arena, mcp_error *err)
{
    mcp_error why = MCP_ERROR_INIT;
    const mcp_json *metadata = NULL;
    const char *bytes = NULL;
    size_t length = 0;
    mcp_status st = guard_read_file(&bytes, &length, out_fd, METADATA, METADATA_MAX, arena, err);

    if (st == MCP_E_NOT_FOUND && guard_is_taken(out_fd, METADATA))
        return mcp_error_set(err, MCP_E_PARSE, METADATA ": it is not a regular file");
    if (st == MCP_E_NOT_FOUND) {
        *out = results_is_locked(out_fd) ? "running" : "unknown";
        return MCP_OK;
    }
    if (st != MCP_OK)
        return st;
    st = mcp_json_read(&metadata, arena, bytes, length, &why);
    if (st != MCP_OK)
        return mcp_error_set(err, st, METADATA ": %s", why.message);
    *out = results_reason(
        mcp_json_string(mcp_json_pointer(metadata, "/convergence/termination_reason"), NULL));
    return MCP_OK;
}

mcp_status results_read_convergence(results_convergence *out, columns *engine, int out_fd,
                                    mcp_arena *arena, mcp_error *err)
{
    results_convergence found = { .file = RECORD };
    mcp_status st = read_rows(&found, engine, out_fd, arena, err);

    if (st == MCP_OK) {
        found.file = METADATA;
        st = read_reason(&found.termination_reason, out_fd, arena, err);
    }
    if (st == MCP_OK)
        *out = found;
    out->file = st == MCP_OK ? NULL : found.file;
    return st;
}
