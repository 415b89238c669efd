/**
 * policy.h - a trained policy in memory: what the policy directory holds.
 *
 * Two sorts of policy have this shape. One that is read from disk belongs to an arena. One that is
 * to be written is a view: the study points its own arrays out, without a copy, and they must not
 * change until the writing is done.
 *
 * Units: theta, intercepts and coefficients are in thousands of currency, bounds in currency;
 * states are in hm3 and m3/s, in the order of the study's state vector (lag-major). Stages are
 * numbered by index.
 *
 * Source: the output page, section 6; the method page, sections 8, 10 and 11.
 */
#ifndef COBRE_POLICY_POLICY_H
#define COBRE_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Larger policies are refused when they are read. */
#define POLICY_DIMENSION_MAX 1000000
#define POLICY_STAGES_MAX 100000

/** One row of the convergence record (output page, 3.1). Bounds in currency. */
typedef struct policy_iteration {
    int32_t iteration; /* 1-based */
    double lower_bound, upper_bound, upper_bound_std, ci_95, gap;
    int32_t cuts_added, cuts_removed;
    int64_t cuts_active;
    int64_t time_forward_ms, time_backward_ms, time_total_ms;
    int64_t wall_time_ms; /* since training began, at the end of this iteration */
    int64_t lower_bound_ms, overhead_ms;
    int32_t forward_passes;
    int64_t lp_solves;
    bool has_inner_bound;
    double inner_upper_bound; /* that holds for certain (method page, 16) */
} policy_iteration;

/** One cut: theta >= intercept + coefficients . (outgoing state). */
typedef struct policy_cut {
    uint64_t id;            /* cut_id */
    uint32_t slot;          /* its place in the pool; slots may be left out */
    uint32_t iteration;     /* that made it, 1-based */
    uint32_t forward_pass;  /* its trial point within the iteration */
    uint32_t opening;       /* multi-cut: of the next stage, whose cost it bounds; else 0 */
    bool is_active;         /* not taken out by selection or budget */
    double intercept;       /* thousands of currency */
    uint32_t last_active;   /* the iteration that needed it last; here and below: of resume.bin */
    uint32_t active_count;  /* how often it was active */
    uint32_t activity_bits; /* of the latest iterations, the newest lowest */
} policy_cut;

/** The place of a column or a row in a basis. The numbers are those of lp_place. */
typedef enum policy_place {
    POLICY_PLACE_FREE,
    POLICY_PLACE_BASIC,
    POLICY_PLACE_AT_UPPER,
    POLICY_PLACE_AT_LOWER,
    POLICY_PLACE_SUPER, /* neither basic nor at a bound */
    POLICY_PLACE_FIXED  /* both bounds are equal */
} policy_place;

/**
 * The starting bases of a stage's solves, all for the same rows.
 *
 * A basis is one byte (a policy_place) a line: first the columns and the rows of the stage program,
 * then the cuts of the working set in their order.
 */
typedef struct policy_bases {
    size_t columns, rows; /* of the program without cuts */
    const uint32_t *set;  /* the working set: positions in `cuts` of the stage */
    size_t set_count;
    const uint8_t *bytes; /* [basis * stride] */
    size_t stride;        /* >= columns + rows + set_count */
    size_t count;         /* the study's number: one a forward pass; 0: none are kept */
} policy_bases;

/** The policy of one stage. */
typedef struct policy_stage {
    uint32_t warm_count;    /* cuts of an earlier training, in the slots below this number */
    uint32_t passes;        /* trial points that an iteration adds */
    uint32_t opening_count; /* multi-cut: the cuts of a trial point; 0: single cut */
    const policy_cut *cuts; /* by slot, ascending; no slot that was never filled */
    size_t cut_count;
    const double *const *coefficients; /* by chunk of cuts: see policy_coefficient */
    size_t cuts_a_chunk, cut_stride, state_stride;
    policy_bases bases;
    const double *const *states; /* visited ones, by chunk: see policy_state */
    size_t states_a_chunk;
    size_t state_count; /* 0: none are kept */
} policy_stage;

/** How a stage that may be a part of a month ends, for the inflow lags. */
typedef struct policy_period {
    bool is_last; /* no later stage has a share in its month */
    double spill; /* its share in the next month, 0 to 1 */
} policy_period;

/** What metadata.json holds, less the counts that the stages give. */
typedef struct policy_metadata {
    const char *cobre_version;
    const char *created_at; /* RFC 3339, UTC */
    uint32_t completed_iterations;
    double final_lower_bound; /* NAN: none */
    double best_upper_bound;  /* of the last iteration; NAN: none */
    uint32_t max_iterations, forward_passes;
    uint64_t rng_seed;
    const int32_t *hydro_ids; /* in the order of the storages; NULL: not stored */
    size_t hydro_count;
    const char *case_digest; /* of the case that the cuts are of; NULL: not stored */
    const double *floors; /* by stage: its future cost is no less, currency; NULL: all are zero */
    const policy_period *periods; /* by stage; NULL: every stage is a whole period, or not stored */
} policy_metadata;

typedef struct policy {
    policy_metadata metadata;
    size_t dimension; /* of the state */
    const policy_stage *stages;
    size_t stage_count;

    /** Whether the members below are there, and of each stage the bases, and of each cut the
     *  activity: a resume then gives the bits of a training that was never stopped. */
    bool is_exact;
    const policy_iteration *iterations; /* of this training, from the first; also without the
                                           others, where they are known from elsewhere */
    size_t iteration_count;
    const double *means; /* what the simulation rules look back on; the study's layout */
    size_t mean_count;
    int64_t elapsed_ns; /* of the training */
} policy;

/** Coefficient j of a cut. */
static inline double policy_coefficient(const policy_stage *stage, size_t cut, size_t j)
{
    const double *chunk = stage->coefficients[cut / stage->cuts_a_chunk];

    return chunk[cut % stage->cuts_a_chunk * stage->cut_stride + j * stage->state_stride];
}

/** A visited state: `dimension` numbers. */
static inline const double *policy_state(const policy_stage *stage, size_t state, size_t dimension)
{
    return stage->states[state / stage->states_a_chunk] + state % stage->states_a_chunk * dimension;
}

/**
 * The place of a new cut in its pool, from the iteration, forward pass and opening that made it;
 * the cut_id is the same number less `warm_count`.
 */
static inline uint64_t policy_slot(const policy_stage *stage, uint32_t iteration,
                                   uint32_t forward_pass, uint32_t opening)
{
    uint64_t number = (uint64_t)iteration * stage->passes + forward_pass;

    if (stage->opening_count > 0)
        number = number * stage->opening_count + opening;
    return number + stage->warm_count;
}

#endif
