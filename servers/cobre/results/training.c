/*
 * training.c - the convergence record, the upper bounds, timing, and the training's metadata.
 *
 * The observer's rows are kept, so that the record can be written while the training runs; at its
 * end the study's own rows are written, which are equal.
 */
#include <string.h>
#include <unistd.h>

#include "guard/paths.h"
#include "mcp/clock.h"
#include "results/results_int.h"

#define SHOW_EACH_MS 1000

static void fill_convergence(sheet *to, const sddp_iteration *row)
{
    sheet_row(to);
    sheet_i32(to, row->iteration);
    sheet_f64(to, row->lower_bound);
    sheet_f64(to, row->upper_bound);
    sheet_f64(to, row->upper_bound_std);
    if (row->lower_bound > 0.0)
        sheet_f64(to, row->gap * 100.0);
    else
        sheet_null(to);
    sheet_i32(to, row->cuts_added);
    sheet_i32(to, row->cuts_removed);
    sheet_i64(to, row->cuts_active);
    sheet_i64(to, row->time_forward_ms);
    sheet_i64(to, row->time_backward_ms);
    sheet_i64(to, row->time_total_ms);
    sheet_i32(to, row->forward_passes);
    sheet_i64(to, row->lp_solves);
}

/* ---- timing ---------------------------------------------------------------------------------- */

/* Times of the whole process: the columns that a worker does not fill. */
static void fill_process_timing(sheet *to, const struct process_row *row)
{
    const sddp_process_times *times = &row->times;

    sheet_row(to);
    sheet_i32(to, (int32_t)row->iteration);
    sheet_i32(to, 0);
    sheet_null(to);
    sheet_zeros(to, 2); /* forward_wall, backward_wall */
    sheet_i64(to, times->cut_selection_ms);
    sheet_i64(to, times->allreduce_ms);
    sheet_i64(to, times->cut_sync_ms);
    sheet_i64(to, times->lower_bound_ms);
    sheet_i64(to, times->state_exchange_ms);
    sheet_i64(to, times->cut_batch_ms);
    sheet_i64(to, 0); /* bwd_setup */
    sheet_i64(to, times->backward_imbalance_ms);
    sheet_i64(to, times->backward_scheduling_ms);
    sheet_i64(to, 0); /* fwd_setup */
    sheet_i64(to, times->forward_imbalance_ms);
    sheet_i64(to, times->forward_scheduling_ms);
    sheet_i64(to, times->overhead_ms);
}

static void fill_worker_timing(sheet *to, const struct worker_row *row)
{
    const sddp_worker_times *times = &row->times;

    sheet_row(to);
    sheet_i32(to, (int32_t)row->iteration);
    sheet_i32(to, times->rank);
    sheet_i32(to, times->worker);
    sheet_i64(to, times->forward_ms);
    sheet_i64(to, times->backward_ms);
    sheet_zeros(to, 6); /* cut_selection to cut_batch_build */
    sheet_i64(to, times->backward_setup_ms);
    sheet_zeros(to, 2); /* bwd_load_imbalance, bwd_scheduling_overhead */
    sheet_i64(to, times->forward_setup_ms);
    sheet_zeros(to, 3); /* fwd_load_imbalance to overhead */
}

/* Rows of one iteration in a buffer that is sorted by iteration; `from` moves on to them. */
static size_t rows_in(const mcp_buf *buf, size_t size, size_t *from, uint32_t iteration)
{
    const char *bytes = (const char *)buf->data;
    size_t all = buf->length / size, count = 0;
    uint32_t number = 0;

    for (; *from < all; ++*from) {
        memcpy(&number, bytes + *from * size, sizeof number);
        if (number >= iteration)
            break;
    }
    while (*from + count < all) {
        memcpy(&number, bytes + (*from + count) * size, sizeof number);
        if (number != iteration)
            break;
        count++;
    }
    return count;
}

/* Iterations without records, as those before a resume, have what the convergence record holds. */
static void fill_process(sheet *to, const results *self, const sddp_iteration *row, size_t *from)
{
    const struct process_row *rows = (const struct process_row *)(const void *)
                                         self->process_times.data;

    if (rows_in(&self->process_times, sizeof *rows, from, (uint32_t)row->iteration) > 0)
        fill_process_timing(to, &rows[*from]);
    else
        fill_process_timing(to, &(struct process_row){ (uint32_t)row->iteration,
                                                       { .lower_bound_ms = row->lower_bound_ms,
                                                         .overhead_ms = row->overhead_ms } });
}

static void fill_workers(sheet *to, const results *self, const sddp_iteration *row, size_t *from)
{
    const struct worker_row *rows = (const struct worker_row *)(const void *)
                                        self->worker_times.data;
    size_t count = rows_in(&self->worker_times, sizeof *rows, from, (uint32_t)row->iteration);

    for (size_t i = 0; i < count; i++)
        fill_worker_timing(to, &rows[*from + i]);
    if (count == 0)
        fill_worker_timing(to, &(struct worker_row){ (uint32_t)row->iteration,
                                                     { .forward_ms = row->time_forward_ms,
                                                       .backward_ms = row->time_backward_ms } });
}

/* Write a sheet of the training; frees `arena`, which holds it. */
static mcp_status write_sheet(results *self, mcp_arena *arena, const sheet *to, const char *folder,
                              const char *name, mcp_error *err)
{
    int fd = -1;
    mcp_status st = guard_open_subdir(&fd, self->out_fd, folder, err);

    if (st == MCP_OK) {
        st = sheet_write(to, fd, name, err);
        close(fd);
    }
    mcp_arena_free(arena);
    return st;
}

static mcp_status make_sheet(mcp_arena **arena, sheet **out, results_table table, size_t rows,
                             mcp_error *err)
{
    *arena = mcp_arena_new((size_t)4 << 30);
    *out = *arena ? sheet_new(*arena, table, rows) : NULL;
    if (*out)
        return MCP_OK;
    mcp_arena_free(*arena);
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu rows of results", rows);
}

/* The iterations after which the bound was computed, if there are any. */
static mcp_status write_inner_bound(results *self, const sddp_iteration *rows, size_t count,
                                    mcp_error *err)
{
    mcp_arena *arena = NULL;
    sheet *to = NULL;
    size_t bounds = 0;

    for (size_t i = 0; i < count; i++)
        bounds += rows[i].has_inner_bound;
    if (bounds == 0)
        return MCP_OK;
    mcp_status st = make_sheet(&arena, &to, RESULTS_INNER_BOUND, bounds, err);
    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].has_inner_bound)
            continue;
        sheet_row(to);
        sheet_i32(to, rows[i].iteration);
        sheet_f64(to, rows[i].inner_upper_bound);
    }
    return write_sheet(self, arena, to, "training", "inner_bound.parquet", err);
}

mcp_status results_write_convergence(results *self, const sddp_iteration *rows, size_t count,
                                     mcp_error *err)
{
    mcp_arena *arena = NULL;
    sheet *to = NULL;
    mcp_status st = make_sheet(&arena, &to, RESULTS_CONVERGENCE, count, err);

    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < count; i++)
        fill_convergence(to, &rows[i]);
    st = write_sheet(self, arena, to, "training", "convergence.parquet", err);
    return st == MCP_OK ? write_inner_bound(self, rows, count, err) : st;
}

mcp_status results_write_timing(results *self, const sddp_iteration *rows, size_t count,
                                mcp_error *err)
{
    size_t workers = self->worker_times.length / sizeof(struct worker_row);
    mcp_arena *arena = NULL;
    sheet *to = NULL;
    mcp_status st = make_sheet(&arena, &to, RESULTS_ITERATION_TIMING, 2 * count + workers, err);

    if (st != MCP_OK)
        return st;
    for (size_t i = 0, from = 0; i < count; i++)
        fill_process(to, self, &rows[i], &from);
    for (size_t i = 0, from = 0; i < count; i++)
        fill_workers(to, self, &rows[i], &from);
    return write_sheet(self, arena, to, "training/timing", "iterations.parquet", err);
}

static mcp_status keep_times(results *self, const sddp_records *records, mcp_error *err)
{
    struct process_row process = { records->number, records->times };
    mcp_status st = mcp_buf_append(&self->process_times, &process, sizeof process);

    for (size_t i = 0; i < records->worker_count && st == MCP_OK; i++) {
        struct worker_row worker = { records->number, records->workers[i] };
        st = mcp_buf_append(&self->worker_times, &worker, sizeof worker);
    }
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "no room for the timing record");
}

mcp_status results_add_records(results *self, const sddp_records *records, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (self->records.phase && self->records.phase[0] == 't')
        st = keep_times(self, records, err);
    return st == MCP_OK ? records_append(&self->records, records, err) : st;
}

mcp_status results_show_iterations(results *self, mcp_error *err)
{
    self->shown_ms = mcp_clock_mono_ms();
    return results_write_convergence(self, (const sddp_iteration *)(const void *)self->rows.data,
                                     self->rows.length / sizeof(sddp_iteration), err);
}

mcp_status results_add_iteration(results *self, const sddp_iteration *row, mcp_error *err)
{
    if (mcp_buf_append(&self->rows, row, sizeof *row) != MCP_OK)
        return mcp_error_set(err, self->rows.status, "no room for the convergence record");
    if (mcp_clock_mono_ms() - self->shown_ms < SHOW_EACH_MS)
        return MCP_OK;
    return results_show_iterations(self, err);
}

/* ---- metadata.json --------------------------------------------------------------------------- */

static const char *status_of(const sddp_training *training)
{
    if (training->reason == SDDP_ERROR)
        return "failed";
    return training->reason == SDDP_SHUTDOWN ? "partial" : "complete";
}

static void describe_configuration(const cobre_config *config, mcp_json_writer *writer)
{
    static const char *const modes[] = { "fresh", "warm_start", "resume" };

    mcp_write_member_object(writer, "configuration");
    if (config->has_tree_seed)
        mcp_write_member_int(writer, "seed", config->tree_seed);
    else
        mcp_write_member_null(writer, "seed");
    size_t i = 0;
    while (i < config->rule_count && config->rules[i].kind != COBRE_RULE_ITERATION_LIMIT)
        i++;
    if (i < config->rule_count)
        mcp_write_member_int(writer, "max_iterations", config->rules[i].limit);
    else
        mcp_write_member_null(writer, "max_iterations");
    mcp_write_member_int(writer, "forward_passes", config->forward_passes);
    mcp_write_member_string(writer, "stopping_mode", config->stop_when_all ? "all" : "any");
    mcp_write_member_string(writer, "policy_mode", modes[config->policy.mode]);
    mcp_write_end(writer);
}

static void describe_problem(const cobre_case *input, mcp_json_writer *writer)
{
    mcp_write_member_object(writer, "problem_dimensions");
    mcp_write_member_int(writer, "num_stages", (int64_t)input->stage_count);
    mcp_write_member_int(writer, "num_hydros", (int64_t)input->hydro_count);
    mcp_write_member_int(writer, "num_thermals", (int64_t)input->thermal_count);
    mcp_write_member_int(writer, "num_buses", (int64_t)input->bus_count);
    mcp_write_member_int(writer, "num_lines", (int64_t)input->line_count);
    mcp_write_end(writer);
}

static void describe_outcome(const sddp_training *training, bool has_inner_bound,
                             mcp_json_writer *writer)
{
    const sddp_iteration *last = training->iterations > 0
                                     ? &training->rows[training->iterations - 1]
                                     : NULL;

    mcp_write_member_object(writer, "iterations");
    mcp_write_member_int(writer, "completed", last ? last->iteration : 0);
    if (training->converged)
        mcp_write_member_int(writer, "converged_at", last ? last->iteration : 0);
    else
        mcp_write_member_null(writer, "converged_at");
    mcp_write_end(writer);
    mcp_write_member_object(writer, "convergence");
    mcp_write_member_bool(writer, "achieved", training->converged);
    mcp_write_name(writer, "final_gap_percent");
    if (last && last->lower_bound > 0.0)
        mcp_write_double_or_null(writer, last->gap * 100.0);
    else
        mcp_write_null(writer);
    if (has_inner_bound) {
        mcp_write_name(writer, "inner_upper_bound");
        mcp_write_double_or_null(writer, sddp_training_inner_bound(training));
    }
    mcp_write_member_string(writer, "termination_reason", sddp_reason_name(training->reason));
    mcp_write_end(writer);
    mcp_write_member_object(writer, "row_pool");
    mcp_write_member_int(writer, "total_generated", training->total_cuts);
    mcp_write_member_int(writer, "total_active", training->active_cuts);
    mcp_write_member_int(writer, "peak_active", training->peak_active_cuts);
    mcp_write_end(writer);
    mcp_write_member_int(writer, "solver_fallbacks", training->fallbacks);
}

static mcp_status write_metadata(const results *self, const sddp_training *training, mcp_error *err)
{
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, RESULTS_TEXT_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    results_describe_run(self, &writer, status_of(training));
    describe_configuration(&self->input->config, &writer);
    describe_problem(self->input, &writer);
    describe_outcome(training, self->input->config.inner_bound.enabled, &writer);
    results_describe_distribution(self, &writer);
    mcp_write_end(&writer);
    return results_write_json(self, "training/metadata.json", &writer, err);
}

mcp_status results_write_training(results *self, const sddp_training *training, mcp_error *err)
{
    mcp_status st = results_write_convergence(self, training->rows, training->iterations, err);

    if (st == MCP_OK)
        st = results_write_timing(self, training->rows, training->iterations, err);
    if (st == MCP_OK)
        st = records_end(&self->records, err);
    if (st == MCP_OK)
        st = write_metadata(self, training, err);
    if (st == MCP_OK && strcmp(status_of(training), "complete") == 0)
        st = results_mark_success(self, "training", err);
    return st;
}
