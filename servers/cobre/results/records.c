/*
 * records.c - solver/iterations, solver/retry_histogram, cut_selection/iterations and
 * timing/mpi_ranks.
 */
#include "results/records.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guard/paths.h"

static const struct {
    const char *folder, *name;
    results_table table;
} places[RECORD_FILES] = {
    [RECORD_SOLVER] = { "solver", "iterations.parquet", RESULTS_SOLVER_ITERATIONS },
    [RECORD_RETRIES] = { "solver", "retry_histogram.parquet", RESULTS_RETRY_HISTOGRAM },
    [RECORD_SELECTION] = { "cut_selection", "iterations.parquet", RESULTS_CUT_SELECTION },
    [RECORD_RANKS] = { "timing", "mpi_ranks.parquet", RESULTS_RANK_TIMING },
};

static const char *const phase_names[] = {
    [SDDP_PHASE_FORWARD] = "forward",
    [SDDP_PHASE_BACKWARD] = "backward",
    [SDDP_PHASE_LOWER_BOUND] = "lower_bound",
    [SDDP_PHASE_SIMULATION] = "simulation",
};

void records_begin(struct record_files *self, mcp_arena *arena, int out_fd, const char *phase)
{
    records_abort(self);
    *self = (struct record_files){ .arena = arena, .out_fd = out_fd, .phase = phase };
    for (size_t i = 0; i < RECORD_FILES; i++)
        self->files[i].dir_fd = -1;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_index(sheet *to, int32_t index)
{
    if (index == SDDP_NO_INDEX)
        sheet_null(to);
    else
        sheet_i32(to, index);
}

static void fill_solver(sheet *to, uint32_t number, const sddp_solver_row *row)
{
    sheet_row(to);
    sheet_u32(to, number);
    sheet_text(to, phase_names[row->phase]);
    sheet_i32(to, row->stage);
    put_index(to, row->opening);
    put_index(to, row->rank);
    put_index(to, row->worker);
    sheet_u32(to, row->solves);
    sheet_u32(to, row->first_try);
    sheet_u32(to, row->retried);
    sheet_u32(to, row->failed);
    sheet_u32(to, row->attempts);
    sheet_u32(to, row->bases_offered);
    sheet_u32(to, row->bases_rejected);
    sheet_u64(to, row->pivots);
    sheet_f64(to, row->solve_ms);
    sheet_f64(to, row->load_ms);
    sheet_f64(to, row->bounds_ms);
    sheet_f64(to, row->basis_ms);
    sheet_u64(to, row->bases_rebuilt);
}

/* One row a level that ended a solve of the phase at the stage: over its openings and workers,
 * which follow one another. Returns the number of solver rows used. */
static size_t fill_retries(sheet *to, uint32_t number, const sddp_solver_row *rows, size_t count)
{
    uint64_t levels[SDDP_RETRY_LEVELS] = { 0 };
    size_t used = 0;

    while (used < count && rows[used].phase == rows->phase && rows[used].stage == rows->stage) {
        for (size_t level = 0; level < SDDP_RETRY_LEVELS; level++)
            levels[level] += rows[used].levels[level];
        used++;
    }
    for (uint32_t level = 0; level < SDDP_RETRY_LEVELS; level++) {
        if (levels[level] == 0)
            continue;
        sheet_row(to);
        sheet_u32(to, number);
        sheet_text(to, phase_names[rows->phase]);
        sheet_i32(to, rows->stage);
        sheet_u32(to, level);
        sheet_u64(to, levels[level]);
    }
    return used;
}

static void fill_selection(sheet *to, uint32_t number, const sddp_selection_row *row)
{
    sheet_row(to);
    sheet_i32(to, (int32_t)number);
    sheet_i32(to, row->stage);
    sheet_i32(to, row->populated);
    sheet_i32(to, row->active_before);
    sheet_i32(to, row->deactivated);
    sheet_i32(to, row->active_after);
    sheet_f64(to, row->time_ms);
    if (row->has_budget) {
        sheet_i32(to, row->evicted);
        sheet_i32(to, row->active_after_budget);
    } else {
        sheet_null(to);
        sheet_null(to);
    }
}

static void fill_rank(sheet *to, uint32_t number, const sddp_rank_times *times)
{
    sheet_row(to);
    sheet_i32(to, (int32_t)number);
    sheet_i32(to, times->rank);
    sheet_i64(to, times->forward_ms);
    sheet_i64(to, times->backward_ms);
    sheet_i64(to, times->exchange_ms);
    sheet_i64(to, times->waiting_ms);
    sheet_i64(to, times->lp_solves);
    sheet_i32(to, times->scenarios);
}

/* ---- files ----------------------------------------------------------------------------------- */

static mcp_status open_file(struct record_files *self, size_t which, mcp_error *err)
{
    struct record_file *file = &self->files[which];
    char path[64];

    snprintf(path, sizeof path, "%s/%s", self->phase, places[which].folder);
    mcp_status st = guard_make_dir(&file->dir_fd, self->out_fd, path, err);
    if (st == MCP_OK)
        st = sheet_file_open(&file->writer, places[which].table, file->dir_fd, places[which].name,
                             err);
    return st;
}

/* An empty batch with room for `rows`; opens the file. */
static mcp_status begin_batch(struct record_files *self, size_t which, size_t rows, mcp_error *err)
{
    struct record_file *file = &self->files[which];

    if (file->batch_rows < rows) {
        file->batch = sheet_new(self->arena, places[which].table, 2 * rows);
        file->batch_rows = file->batch ? 2 * rows : 0;
        if (!file->batch)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu records", rows);
    }
    sheet_clear(file->batch);
    return file->writer ? MCP_OK : open_file(self, which, err);
}

static bool has_retries(const sddp_records *rows)
{
    for (size_t i = 0; i < rows->solver_count; i++)
        for (size_t level = 0; level < SDDP_RETRY_LEVELS; level++)
            if (rows->solver[i].levels[level] > 0)
                return true;
    return false;
}

static mcp_status append_solver(struct record_files *self, const sddp_records *rows, mcp_error *err)
{
    struct record_file *file = &self->files[RECORD_SOLVER];
    mcp_status st = begin_batch(self, RECORD_SOLVER, rows->solver_count, err);

    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < rows->solver_count; i++)
        fill_solver(file->batch, rows->number, &rows->solver[i]);
    return sheet_append(file->batch, file->writer, err);
}

static mcp_status append_retries(struct record_files *self, const sddp_records *rows,
                                 mcp_error *err)
{
    struct record_file *file = &self->files[RECORD_RETRIES];
    mcp_status st = begin_batch(self, RECORD_RETRIES, rows->solver_count * SDDP_RETRY_LEVELS, err);

    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < rows->solver_count;)
        i += fill_retries(file->batch, rows->number, rows->solver + i, rows->solver_count - i);
    return sheet_append(file->batch, file->writer, err);
}

static mcp_status append_selection(struct record_files *self, const sddp_records *rows,
                                   mcp_error *err)
{
    struct record_file *file = &self->files[RECORD_SELECTION];
    mcp_status st = begin_batch(self, RECORD_SELECTION, rows->selection_count, err);

    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < rows->selection_count; i++)
        fill_selection(file->batch, rows->number, &rows->selection[i]);
    return sheet_append(file->batch, file->writer, err);
}

static mcp_status append_ranks(struct record_files *self, const sddp_records *rows, mcp_error *err)
{
    struct record_file *file = &self->files[RECORD_RANKS];
    mcp_status st = begin_batch(self, RECORD_RANKS, rows->rank_count, err);

    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < rows->rank_count; i++)
        fill_rank(file->batch, rows->number, &rows->ranks[i]);
    return sheet_append(file->batch, file->writer, err);
}

mcp_status records_append(struct record_files *self, const sddp_records *rows, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (!self->phase)
        return MCP_OK;
    if (rows->solver_count > 0)
        st = append_solver(self, rows, err);
    if (st == MCP_OK && has_retries(rows))
        st = append_retries(self, rows, err);
    if (st == MCP_OK && rows->selection_count > 0)
        st = append_selection(self, rows, err);
    if (st == MCP_OK && rows->rank_count > 0)
        st = append_ranks(self, rows, err);
    return st;
}

/* ---- the rows of an earlier training --------------------------------------------------------- */

static bool has_columns_of(const columns_table *table, results_table kind)
{
    const results_schema *schema = results_schema_of(kind);

    if (table->column_count != schema->count)
        return false;
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(table->columns[i].name, schema->fields[i].name) != 0 ||
            table->columns[i].type != schema->fields[i].type)
            return false;
    return true;
}

/* Rows are in the order of their iterations, the first column: 32 bits, of either sign. */
static size_t rows_up_to(const columns_table *table, uint32_t last)
{
    const char *values = table->columns[0].values;
    size_t rows = 0;

    for (; rows < table->rows; rows++) {
        uint32_t iteration;
        memcpy(&iteration, values + rows * sizeof iteration, sizeof iteration);
        if (iteration > last)
            break;
    }
    return rows;
}

static const columns_table *recall(size_t which, columns *engine, int out_fd, uint32_t last,
                                   mcp_arena *arena)
{
    const columns_table *found = NULL;
    mcp_error none = MCP_ERROR_INIT;
    char path[96];
    int fd = -1;

    snprintf(path, sizeof path, "training/%s/%s", places[which].folder, places[which].name);
    if (!engine || guard_open_file(&fd, out_fd, path, &none) != MCP_OK)
        return NULL;
    mcp_status st = columns_read(&found, engine, fd, NULL, arena, &none);
    close(fd);
    columns_table *kept = st == MCP_OK ? mcp_arena_alloc(arena, sizeof *kept) : NULL;
    if (!kept || !has_columns_of(found, places[which].table))
        return NULL;
    *kept = *found;
    kept->rows = rows_up_to(found, last);
    return kept->rows > 0 ? kept : NULL;
}

void records_recall(const columns_table *past[RECORD_FILES], columns *engine, int out_fd,
                    uint32_t last, mcp_arena *arena)
{
    for (size_t i = 0; i < RECORD_FILES; i++)
        past[i] = recall(i, engine, out_fd, last, arena);
}

mcp_status records_repeat(struct record_files *self, const columns_table *const past[RECORD_FILES],
                          mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < RECORD_FILES && st == MCP_OK; i++) {
        if (!past[i])
            continue;
        st = open_file(self, i, err);
        if (st == MCP_OK)
            st = parquet_writer_append(self->files[i].writer, past[i], err);
    }
    return st;
}

static mcp_status end_file(struct record_file *file, mcp_error *err)
{
    mcp_status st = file->writer ? parquet_writer_close(file->writer, err) : MCP_OK;

    if (file->dir_fd >= 0)
        close(file->dir_fd);
    *file = (struct record_file){ .dir_fd = -1 };
    return st;
}

mcp_status records_end(struct record_files *self, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; self->phase && i < RECORD_FILES; i++) {
        mcp_status ended = end_file(&self->files[i], st == MCP_OK ? err : NULL);
        if (st == MCP_OK)
            st = ended;
    }
    self->phase = NULL;
    return st;
}

void records_abort(struct record_files *self)
{
    for (size_t i = 0; self->phase && i < RECORD_FILES; i++) {
        parquet_writer_abort(self->files[i].writer);
        self->files[i].writer = NULL;
        end_file(&self->files[i], NULL);
    }
    self->phase = NULL;
}
