/*
 * training_sections.c - convergence, cuts and solver time: the record of the training.
 */
#include "report/sections.h"

#include <math.h>

static const char no_record[] =
    "The training has written no convergence record (training/convergence.parquet).";

/* A long record is thinned out: every `step`-th row and the last. */
static size_t step_of(const results_convergence *record)
{
    return (record->count + REPORT_POINTS_MAX - 1) / REPORT_POINTS_MAX;
}

typedef double number_of(const sddp_iteration *row);

static void write_rows(const report_context *context, const char *name, number_of *number)
{
    const results_convergence *record = &context->output->convergence;
    size_t step = step_of(record);
    mcp_write_member_array(context->writer, name);
    for (size_t i = 0; i < record->count; i++)
        if (i % step == 0 || i + 1 == record->count)
            report_write_number(context->writer, number(&record->rows[i]));
    mcp_write_end(context->writer);
}

static const char *thinning_note(const report_context *context)
{
    const results_convergence *record = &context->output->convergence;
    size_t step = step_of(record);
    return step < 2 ? NULL
                    : report_format(context, "One in %zu of the %zu iterations is shown.", step,
                                    record->count);
}

#define NUMBER(name, expression)                                                                   \
    static double name(const sddp_iteration *row)                                                  \
    {                                                                                              \
        return (double)(expression);                                                               \
    }

NUMBER(iteration_of, row->iteration)
NUMBER(lower_of, row->lower_bound)
NUMBER(upper_of, row->upper_bound)
NUMBER(interval_of, row->ci_95)
NUMBER(gap_of, row->gap)
NUMBER(active_of, row->cuts_active)
NUMBER(added_of, row->cuts_added)
NUMBER(forward_of, row->time_forward_ms)
NUMBER(backward_of, row->time_backward_ms)
NUMBER(solves_of, row->lp_solves)

static double other_of(const sddp_iteration *row)
{
    int64_t other = row->time_total_ms - row->time_forward_ms - row->time_backward_ms;
    return other > 0 ? (double)other : 0.0;
}

/* A bound holds for the iterations after it too. */
static void write_inner_bounds(const report_context *context)
{
    const results_convergence *record = &context->output->convergence;
    size_t step = step_of(record);
    double known = NAN;
    mcp_write_member_array(context->writer, "inner_upper_bound");
    for (size_t i = 0; i < record->count; i++) {
        if (record->rows[i].has_inner_bound)
            known = record->rows[i].inner_upper_bound;
        if (i % step == 0 || i + 1 == record->count)
            report_write_number(context->writer, known);
    }
    mcp_write_end(context->writer);
}

mcp_status report_convergence(const report_context *context, const char **absent, mcp_error *err)
{
    (void)err;
    if (context->output->convergence.count == 0) {
        *absent = no_record;
        return MCP_OK;
    }
    write_rows(context, "iteration", iteration_of);
    write_rows(context, "lower_bound", lower_of);
    write_rows(context, "upper_bound", upper_of);
    write_rows(context, "ci_95", interval_of);
    write_rows(context, "gap", gap_of);
    write_inner_bounds(context);
    report_write_note(context, thinning_note(context));
    return MCP_OK;
}

/* By stage, from a file that the training may not have written. */
static void write_by_stage(const report_context *context, const columns_table *table,
                           const char *first, const char *second)
{
    if (!table || table->rows == 0) {
        mcp_write_member_null(context->writer, "stages");
        return;
    }
    report_write_column(context, "stages", table, 0);
    mcp_write_member_object(context->writer, "by_stage");
    report_write_column(context, first, table, 1);
    report_write_column(context, second, table, 2);
    mcp_write_end(context->writer);
}

mcp_status report_cuts(const report_context *context, const char **absent, mcp_error *err)
{
    const columns_table *table = NULL;
    const char *note = thinning_note(context), *broken = NULL;
    if (context->output->convergence.count == 0) {
        *absent = no_record;
        return MCP_OK;
    }
    mcp_status st = report_query_file(
        &table, context, "training/cut_selection/iterations.parquet",
        "SELECT stage::DOUBLE, arg_max(cuts_populated, iteration)::DOUBLE, "
        "arg_max(coalesce(active_after_budget, cuts_active_after), iteration)::DOUBLE "
        "FROM files GROUP BY stage ORDER BY stage",
        &broken, err);
    if (st != MCP_OK)
        return st;
    write_rows(context, "iteration", iteration_of);
    write_rows(context, "active", active_of);
    write_rows(context, "added", added_of);
    write_by_stage(context, table, "populated", "active");
    if (broken)
        note = broken;
    else if (!table || table->rows == 0)
        note = "No cut selection has run, so every cut stays active and there is no record by "
               "stage.";
    report_write_note(context, note);
    return MCP_OK;
}

mcp_status report_solver(const report_context *context, const char **absent, mcp_error *err)
{
    const columns_table *table = NULL;
    const char *broken = NULL;
    if (context->output->convergence.count == 0) {
        *absent = no_record;
        return MCP_OK;
    }
    mcp_status st = report_query_file(
        &table, context, "training/solver/iterations.parquet",
        "SELECT stage::DOUBLE, sum(CASE WHEN phase = 'forward' THEN solve_time_ms ELSE 0 END), "
        "sum(CASE WHEN phase = 'backward' THEN solve_time_ms ELSE 0 END) "
        "FROM files WHERE stage >= 0 GROUP BY stage ORDER BY stage",
        &broken, err);
    if (st != MCP_OK)
        return st;
    write_rows(context, "iteration", iteration_of);
    write_rows(context, "forward", forward_of);
    write_rows(context, "backward", backward_of);
    write_rows(context, "other", other_of);
    write_rows(context, "lp_solves", solves_of);
    write_by_stage(context, table, "forward", "backward");
    report_write_note(context, broken ? broken : thinning_note(context));
    return MCP_OK;
}
