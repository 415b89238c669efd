/*
 * schema.h - the FlatBuffers tables of the policy directory. docs/policy.fbs is their schema.
 *
 * An enum gives the ids of a table's fields, with the table's name before them.
 *
 * Source: the output page, 6.2 and 6.3.
 */
#ifndef COBRE_POLICY_SCHEMA_H
#define COBRE_POLICY_SCHEMA_H

#include "flat/layout.h"

/* clang-format off */
enum {
    CUT_ID, CUT_SLOT, CUT_ITERATION, CUT_FORWARD_PASS, CUT_DOMINATION, CUT_INTERCEPT,
    CUT_COEFFICIENTS, CUT_STATE, CUT_IS_ACTIVE, CUT_OPENING
};
enum {
    CUTS_STAGE, CUTS_DIMENSION, CUTS_CAPACITY, CUTS_WARM_COUNT, CUTS_CUTS, CUTS_ACTIVE,
    CUTS_POPULATED, CUTS_OPENINGS
};
enum {
    BASIS_STAGE, BASIS_ITERATION, BASIS_COLUMNS, BASIS_ROWS, BASIS_COLUMN_STATUS, BASIS_ROW_STATUS,
    BASIS_CUT_ROWS
};
enum { STATES_STAGE, STATES_DIMENSION, STATES_COUNT, STATES_DATA };
enum {
    RESUME_VERSION, RESUME_COMPLETED, RESUME_STAGES, RESUME_ITERATIONS, RESUME_MEANS, RESUME_ELAPSED
};
enum {
    RESUMED_LAST_ACTIVE, RESUMED_ACTIVE_COUNT, RESUMED_ACTIVITY, RESUMED_COLUMNS, RESUMED_ROWS,
    RESUMED_WORKING_SET, RESUMED_BASIS_COUNT, RESUMED_BASES, RESUMED_STATES
};
enum {
    ROW_ITERATION, ROW_LOWER_BOUND, ROW_UPPER_BOUND, ROW_UPPER_BOUND_STD, ROW_CI_95, ROW_GAP,
    ROW_CUTS_ADDED, ROW_CUTS_REMOVED, ROW_CUTS_ACTIVE, ROW_TIME_FORWARD, ROW_TIME_BACKWARD,
    ROW_TIME_TOTAL, ROW_WALL_TIME, ROW_LOWER_BOUND_TIME, ROW_OVERHEAD, ROW_FORWARD_PASSES,
    ROW_LP_SOLVES, ROW_HAS_INNER_BOUND, ROW_INNER_BOUND
};
/* clang-format on */

/* The version of resume.bin that this program writes and reads. */
#define POLICY_RESUME_VERSION 1

extern const flat_layout policy_cut_layout, policy_cuts_layout, policy_basis_layout,
    policy_states_layout, policy_resume_layout, policy_resumed_layout, policy_row_layout;

#endif
