/*
 * schema.c - the tables of the policy directory, field by field.
 */
#include "policy/schema.h"

#define COUNT(fields) (sizeof fields / sizeof fields[0])

static const flat_field cut[] = {
    { "cut_id", FLAT_U64 },
    { "slot_index", FLAT_U32 },
    { "iteration", FLAT_U32 },
    { "forward_pass_index", FLAT_U32 },
    { "domination_count", FLAT_UNUSED }, /* deprecated */
    { "intercept", FLAT_F64 },
    { "coefficients", FLAT_REF },
    { "state_at_generation", FLAT_REF },
    { "is_active", FLAT_U8 },
    { "opening", FLAT_U32 },
};
const flat_layout policy_cut_layout = { "Cut", cut, COUNT(cut) };

static const flat_field cuts[] = {
    { "stage_id", FLAT_U32 },
    { "state_dimension", FLAT_U32 },
    { "capacity", FLAT_U32 },
    { "warm_start_count", FLAT_U32 },
    { "cuts", FLAT_REF },
    { "active_cut_indices", FLAT_REF },
    { "populated_count", FLAT_U32 },
    { "num_openings", FLAT_U32 },
};
const flat_layout policy_cuts_layout = { "StageCuts", cuts, COUNT(cuts) };

static const flat_field basis[] = {
    { "stage_id", FLAT_U32 },     { "iteration", FLAT_U32 },     { "num_columns", FLAT_U32 },
    { "num_rows", FLAT_U32 },     { "column_status", FLAT_REF }, { "row_status", FLAT_REF },
    { "num_cut_rows", FLAT_U32 },
};
const flat_layout policy_basis_layout = { "StageBasis", basis, COUNT(basis) };

static const flat_field states[] = {
    { "stage_id", FLAT_U32 },
    { "state_dimension", FLAT_U32 },
    { "count", FLAT_U32 },
    { "data", FLAT_REF },
};
const flat_layout policy_states_layout = { "StageStates", states, COUNT(states) };

static const flat_field resume[] = {
    { "version", FLAT_U32 }, { "completed_iterations", FLAT_U32 },
    { "stages", FLAT_REF },  { "iterations", FLAT_REF },
    { "means", FLAT_REF },   { "elapsed_ns", FLAT_I64 },
};
const flat_layout policy_resume_layout = { "Resume", resume, COUNT(resume) };

static const flat_field resumed[] = {
    { "last_active", FLAT_REF }, { "active_count", FLAT_REF }, { "activity_bits", FLAT_REF },
    { "num_columns", FLAT_U32 }, { "num_rows", FLAT_U32 },     { "working_set", FLAT_REF },
    { "basis_count", FLAT_U32 }, { "bases", FLAT_REF },        { "states", FLAT_REF },
};
const flat_layout policy_resumed_layout = { "ResumeStage", resumed, COUNT(resumed) };

static const flat_field row[] = {
    { "iteration", FLAT_I32 },
    { "lower_bound", FLAT_F64 },
    { "upper_bound", FLAT_F64 },
    { "upper_bound_std", FLAT_F64 },
    { "ci_95", FLAT_F64 },
    { "gap", FLAT_F64 },
    { "cuts_added", FLAT_I32 },
    { "cuts_removed", FLAT_I32 },
    { "cuts_active", FLAT_I64 },
    { "time_forward_ms", FLAT_I64 },
    { "time_backward_ms", FLAT_I64 },
    { "time_total_ms", FLAT_I64 },
    { "wall_time_ms", FLAT_I64 },
    { "lower_bound_ms", FLAT_I64 },
    { "overhead_ms", FLAT_I64 },
    { "forward_passes", FLAT_I32 },
    { "lp_solves", FLAT_I64 },
    { "has_inner_bound", FLAT_U8 },
    { "inner_upper_bound", FLAT_F64 },
};
const flat_layout policy_row_layout = { "ResumeIteration", row, COUNT(row) };
