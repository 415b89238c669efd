/*
 * policies.c - see policies.h.
 */
#include "query/policies.h"

#include <math.h>
#include <stdio.h>

#include "findings/record.h"

#define CURRENCY 1000.0 /* cuts are in thousands */

void query_policy_write_summary(mcp_json_writer *writer, const policy_summary *summary)
{
    mcp_write_member_int(writer, "stages", (int64_t)summary->stage_count);
    mcp_write_member_int(writer, "total_cuts", (int64_t)summary->cuts);
    mcp_write_member_int(writer, "state_dimension", (int64_t)summary->dimension);
    mcp_write_member_array(writer, "cuts_per_stage");
    for (size_t i = 0; i < summary->stage_count; i++)
        mcp_write_int(writer, (int64_t)summary->stages[i].cuts);
    mcp_write_end(writer);
}

/* The file may hold any double; JSON has no NaN. */
static void write_currency(mcp_json_writer *writer, double thousands)
{
    mcp_write_double_or_null(writer, CURRENCY * thousands);
}

void query_policy_write_stage(mcp_json_writer *writer, const policy *all, size_t stage)
{
    const policy_stage *one = &all->stages[stage];

    mcp_write_member_int(writer, "stage", (int64_t)stage + 1);
    mcp_write_member_int(writer, "cuts", (int64_t)one->cut_count);
    mcp_write_member_int(writer, "state_dimension", (int64_t)all->dimension);
    mcp_write_member_array(writer, "intercepts");
    for (size_t i = 0; i < one->cut_count; i++)
        write_currency(writer, one->cuts[i].intercept);
    mcp_write_end(writer);
    mcp_write_member_array(writer, "coefficients_sample");
    for (size_t i = 0; i < one->cut_count && i < QUERY_CUTS_SHOWN; i++) {
        mcp_write_array(writer);
        for (size_t j = 0; j < all->dimension; j++)
            write_currency(writer, policy_coefficient(one, i, j));
        mcp_write_end(writer);
    }
    mcp_write_end(writer);
    mcp_write_member_bool(writer, "coefficients_truncated", one->cut_count > QUERY_CUTS_SHOWN);
}

/* ---- a comparison ---------------------------------------------------------------------------- */

static void write_bounds(mcp_json_writer *writer, const policy_metadata *metadata)
{
    double lower = metadata->final_lower_bound;
    double upper = metadata->best_upper_bound;

    mcp_write_name(writer, "final_lower_bound");
    mcp_write_double_or_null(writer, lower);
    mcp_write_name(writer, "final_upper_bound");
    mcp_write_double_or_null(writer, upper);
    mcp_write_name(writer, "final_gap");
    mcp_write_double_or_null(writer, (upper - lower) / fmax(1.0, fabs(upper)));
    mcp_write_member_int(writer, "iterations", metadata->completed_iterations);
}

static void write_policy(mcp_json_writer *writer, const query_policy *one, query_metrics metrics)
{
    const policy_summary *summary = one->summary;

    mcp_write_object(writer);
    mcp_write_member_string(writer, "policy_dir", one->directory);
    mcp_write_member_int(writer, "stages", (int64_t)summary->stage_count);
    mcp_write_member_int(writer, "total_cuts", (int64_t)summary->cuts);
    mcp_write_member_int(writer, "state_dimension", (int64_t)summary->dimension);
    if (metrics.convergence)
        write_bounds(writer, &summary->metadata);
    mcp_write_end(writer);
}

/* What cannot be computed is left out. */
static void write_delta(mcp_json_writer *writer, const char *name, const char *share_name,
                        double first, double second)
{
    double delta = second - first;
    double share = delta / fabs(first);

    if (isfinite(delta))
        mcp_write_member_double(writer, name, delta);
    if (isfinite(share))
        mcp_write_member_double(writer, share_name, share);
}

static void write_deltas(mcp_json_writer *writer, const policy_summary *first,
                         const policy_summary *second, query_metrics metrics)
{
    mcp_write_member_object(writer, "deltas");
    if (metrics.convergence) {
        write_delta(writer, "lb_delta", "lb_delta_pct", first->metadata.final_lower_bound,
                    second->metadata.final_lower_bound);
        write_delta(writer, "ub_delta", "ub_delta_pct", first->metadata.best_upper_bound,
                    second->metadata.best_upper_bound);
    }
    if (metrics.cut_counts)
        mcp_write_member_int(writer, "cut_count_delta",
                             (int64_t)second->cuts - (int64_t)first->cuts);
    mcp_write_end(writer);
}

/* In what a policy differs from the first; NULL: in nothing that matters. */
static const char *difference(const policy_summary *first, const policy_summary *other,
                              size_t values[2])
{
    values[0] = first->stage_count;
    values[1] = other->stage_count;
    if (values[0] != values[1])
        return "stages";
    values[0] = first->dimension;
    values[1] = other->dimension;
    return values[0] != values[1] ? "state_dimension" : NULL;
}

static void write_incompatibility(mcp_json_writer *writer, const char *field,
                                  const size_t values[2], const query_policy *first,
                                  const query_policy *other)
{
    char message[200];

    snprintf(message, sizeof message, "The policies differ in %s: %zu and %zu", field, values[0],
             values[1]);
    mcp_write_name(writer, "incompatibility");
    cobre_record_begin(writer, "IncompatibleRuns", message);
    mcp_write_member_string(writer, "field", field);
    mcp_write_member_int(writer, "run_a_value", (int64_t)values[0]);
    mcp_write_member_int(writer, "run_b_value", (int64_t)values[1]);
    mcp_write_member_array(writer, "detail");
    mcp_write_string(writer, first->directory);
    mcp_write_string(writer, other->directory);
    mcp_write_end(writer);
    cobre_record_end(writer, "Compare policies of one study.");
    mcp_write_end(writer);
}

void query_policies_write_comparison(mcp_json_writer *writer, const query_policy *policies,
                                     size_t count, query_metrics metrics)
{
    const char *field = NULL;
    size_t values[2] = { 0, 0 };
    size_t other = 0;

    mcp_write_member_array(writer, "policies");
    for (size_t i = 0; i < count; i++)
        write_policy(writer, &policies[i], metrics);
    mcp_write_end(writer);
    while (!field && ++other < count)
        field = difference(policies[0].summary, policies[other].summary, values);
    mcp_write_member_bool(writer, "compatible", !field);
    if (!field && count == 2)
        write_deltas(writer, policies[0].summary, policies[1].summary, metrics);
    else
        mcp_write_member_null(writer, "deltas");
    if (field)
        write_incompatibility(writer, field, values, &policies[0], &policies[other]);
}
