/*
 * results_int.h - the body of a `results`, for the files that write one phase each.
 */
#ifndef RESULTS_RESULTS_INT_H
#define RESULTS_RESULTS_INT_H

#include "mcp/json.h"

#include "results/entities.h"
#include "results/queue.h"
#include "results/records.h"
#include "results/results.h"
#include "results/sheet.h"

#define RESULTS_TEXT_MAX ((size_t)256 << 20) /* of one JSON or CSV file */

/* A row of timing/iterations. */
struct process_row {
    uint32_t iteration;
    sddp_process_times times;
};
struct worker_row {
    uint32_t iteration;
    sddp_worker_times times;
};

struct results {
    const cobre_case *input;
    int out_fd;
    results_options options;
    mcp_arena *arena;                /* owns this struct and the sheets */
    int64_t began_ms, began_wall_ms; /* of the phase that runs */

    mcp_buf rows;     /* sddp_iteration after sddp_iteration */
    int64_t shown_ms; /* the time of the last write of convergence.parquet */

    struct record_files records;
    mcp_buf process_times; /* struct process_row after struct process_row */
    mcp_buf worker_times;  /* struct worker_row after struct worker_row */

    struct entity_case entities;
    struct queue_slot *slots; /* of the scenarios, with their sheets */
    size_t slot_count;
    int entity_fds[ENTITY_COUNT]; /* simulation/<entity>; -1: no simulation, or no such entity */
    struct queue scenarios;
};

/* Remember when a phase began. */
void results_begin_phase(results *self);

/* Write convergence.parquet with inner_bound.parquet, and timing/iterations.parquet. */
mcp_status results_write_convergence(results *self, const sddp_iteration *rows, size_t count,
                                     mcp_error *err);
mcp_status results_write_timing(results *self, const sddp_iteration *rows, size_t count,
                                mcp_error *err);

/* Write training/dictionaries. */
mcp_status results_write_dictionaries(results *self, mcp_error *err);

/* The members that both metadata.json begin with, from cobre_version to status. */
void results_describe_run(const results *self, mcp_json_writer *writer, const char *status);
void results_describe_distribution(const results *self, mcp_json_writer *writer);

/* Write a text to a file below the output directory; frees the buffer. */
mcp_status results_write_text(const results *self, const char *relative, mcp_buf *text,
                              mcp_error *err);

/* Write the writer's text and a line end to a file; frees the buffer. */
mcp_status results_write_json(const results *self, const char *relative, mcp_json_writer *writer,
                              mcp_error *err);

/* Flush all written files to the disk, then write the marker. */
mcp_status results_mark_success(const results *self, const char *phase, mcp_error *err);

/* Wait for the scenarios that are to be written, and close entity_fds. */
void results_end_scenarios(results *self);

#endif
