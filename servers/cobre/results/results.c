/*
 * results.c - begins a run's output; the helpers of its phases.
 *
 * The order is the guarantee: markers and metadata of the coming phases are removed first, data
 * files are written under temporary names and renamed, metadata.json follows, everything is flushed
 * to the disk, and _SUCCESS is written last. A run that is interrupted leaves no marker.
 */
#include "results/results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard/paths.h"
#include "mcp/clock.h"
#include "results/results_int.h"

#define ARENA_MAX ((size_t)8 << 30)
#define ROWS_BYTES_MAX ((size_t)1 << 30)

static const char *const void_for_training[] = {
    "training/_SUCCESS",
    "training/metadata.json",
    "training/convergence.parquet",
    "training/inner_bound.parquet",
    "training/timing/iterations.parquet",
    "training/timing/mpi_ranks.parquet",
    "training/solver",
    "training/cut_selection",
};
static const char *const void_for_all[] = { "simulation/_SUCCESS", "simulation/metadata.json",
                                            "simulation/solver" };

static mcp_status remove_all(int out_fd, const char *const *names, size_t count, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < count && st == MCP_OK; i++)
        st = guard_remove_tree(out_fd, names[i], err);
    return st;
}

/* A run without a training keeps the dictionaries of the last one, or has its own in a directory
 * where nothing was trained: queries find entities by name in them. */
static mcp_status prepare_directory(results *self, mcp_error *err)
{
    bool describes = self->options.trains ||
                     !guard_exists(self->out_fd, "training/dictionaries/entities.csv");
    mcp_status st = remove_all(self->out_fd, void_for_all,
                               sizeof void_for_all / sizeof void_for_all[0], err);

    if (st == MCP_OK && self->options.trains)
        st = remove_all(self->out_fd, void_for_training,
                        sizeof void_for_training / sizeof void_for_training[0], err);
    if (st == MCP_OK && self->options.trains)
        st = guard_make_dir(NULL, self->out_fd, "training/timing", err);
    if (st == MCP_OK)
        st = guard_make_dir(NULL, self->out_fd, "simulation", err);
    if (st == MCP_OK && describes)
        st = guard_make_dir(NULL, self->out_fd, "training/dictionaries", err);
    if (st == MCP_OK && describes)
        st = results_write_dictionaries(self, err);
    return st;
}

void results_begin_phase(results *self)
{
    self->began_ms = mcp_clock_mono_ms();
    self->began_wall_ms = mcp_clock_wall_ms();
}

mcp_status results_begin(results **out, const cobre_case *input, int out_fd,
                         const results_options *options, mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    results *self = arena ? mcp_arena_alloc(arena, sizeof *self) : NULL;

    if (!self) {
        mcp_arena_free(arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the results");
    }
    self->arena = arena;
    self->input = input;
    self->out_fd = out_fd;
    self->options = *options;
    mcp_buf_init(&self->rows, ROWS_BYTES_MAX);
    mcp_buf_init(&self->process_times, ROWS_BYTES_MAX);
    mcp_buf_init(&self->worker_times, ROWS_BYTES_MAX);
    for (size_t i = 0; i < ENTITY_COUNT; i++)
        self->entity_fds[i] = -1;
    results_begin_phase(self);
    self->shown_ms = self->began_ms;
    const columns_table *past[RECORD_FILES] = { NULL };
    if (options->trains && options->resumed > 0)
        records_recall(past, options->engine, out_fd, options->resumed, arena);
    mcp_status st = entity_case_make(&self->entities, arena, input, options->hydros,
                                     options->inflow ? options->inflow->lags : 0, err);
    if (st == MCP_OK)
        st = prepare_directory(self, err);
    if (st == MCP_OK && options->trains)
        records_begin(&self->records, arena, out_fd, "training");
    if (st == MCP_OK)
        st = records_repeat(&self->records, past, err);
    if (st == MCP_OK)
        *out = self;
    else
        results_free(self);
    return st;
}

void results_free(results *self)
{
    if (!self)
        return;
    results_end_scenarios(self);
    records_abort(&self->records);
    mcp_buf_clear(&self->rows);
    mcp_buf_clear(&self->process_times);
    mcp_buf_clear(&self->worker_times);
    mcp_arena_free(self->arena);
}

void results_describe_run(const results *self, mcp_json_writer *writer, const char *status)
{
    char host[256] = "", started[MCP_CLOCK_UTC_SIZE], completed[MCP_CLOCK_UTC_SIZE];

    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    mcp_clock_utc(started, self->began_wall_ms, 0);
    mcp_clock_utc(completed, mcp_clock_wall_ms(), 0);
    mcp_write_member_string(writer, "cobre_version", self->options.version);
    mcp_write_member_string(writer, "hostname", host);
    mcp_write_member_string(writer, "solver", self->options.solver);
    if (self->options.solver_version)
        mcp_write_member_string(writer, "solver_version", self->options.solver_version);
    mcp_write_member_string(writer, "started_at", started);
    mcp_write_member_string(writer, "completed_at", completed);
    mcp_write_member_double(writer, "duration_seconds",
                            (double)(mcp_clock_mono_ms() - self->began_ms) / 1000.0);
    mcp_write_member_string(writer, "status", status);
}

void results_describe_distribution(const results *self, mcp_json_writer *writer)
{
    const results_distribution *all = &self->options.distribution;
    unsigned ranks = all->ranks > 0 ? all->ranks : 1;

    mcp_write_member_object(writer, "distribution");
    mcp_write_member_string(writer, "backend", all->library ? "mpi" : "local");
    mcp_write_member_int(writer, "world_size", ranks);
    mcp_write_member_int(writer, "ranks_participated", ranks);
    mcp_write_member_int(writer, "num_nodes", all->nodes > 0 ? all->nodes : 1);
    mcp_write_member_int(writer, "threads_per_rank", self->options.threads);
    if (all->library) {
        mcp_write_member_string(writer, "mpi_library", all->library);
        mcp_write_member_string(writer, "mpi_standard", all->standard);
        mcp_write_member_string(writer, "thread_level", all->thread_level);
    }
    if (all->job)
        mcp_write_member_string(writer, "slurm_job_id", all->job);
    mcp_write_end(writer);
}

mcp_status results_write_text(const results *self, const char *relative, mcp_buf *text,
                              mcp_error *err)
{
    mcp_status st = text->status;

    if (st == MCP_OK)
        st = guard_write_file(self->out_fd, relative, text->data, text->length, err);
    else
        mcp_error_set(err, st, "%s cannot be put together", relative);
    mcp_buf_clear(text);
    return st;
}

mcp_status results_write_json(const results *self, const char *relative, mcp_json_writer *writer,
                              mcp_error *err)
{
    mcp_status st = mcp_json_writer_status(writer);

    mcp_buf_putc(writer->buf, '\n');
    if (st != MCP_OK)
        writer->buf->status = st;
    return results_write_text(self, relative, writer->buf, err);
}

mcp_status results_mark_success(const results *self, const char *phase, mcp_error *err)
{
    char name[64];

    if (syncfs(self->out_fd) != 0)
        return mcp_error_errno(err, errno, "the results cannot be put on the disk");
    snprintf(name, sizeof name, "%s/_SUCCESS", phase);
    return guard_write_file(self->out_fd, name, "", 0, err);
}
