/*
 * loop.h - a bare SDDP loop, to compare the training with: the same stage programs, states,
 * openings and cuts, and nothing around them.
 *
 * Each stage has one model of a solver's own, scaled once by powers of two as the training scales
 * its programs. All cuts are rows. A solve sets the varying columns and starts from the basis that
 * the model's last solve left. The loop follows a study: loop_run solves again all programs of the
 * study's last iteration, so both solve the same ones, and its lower bound must be the study's.
 *
 *     loop_new(&loop, study, &loop_clp);
 *     train the study by one iteration;
 *     solves = loop_run(loop, &bound);
 */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "lp/lp.h"
#include "sddp/sddp.h"

/* A solver's model. Failures end the bench. */
typedef struct loop_solver {
    const char *name;
    void *(*load)(const lp_program *program);
    void (*free)(void *model);
    /* Fix a column. */
    void (*fix)(void *model, int column, double value);
    /* Append the row `lower` <= values . x. */
    void (*append)(void *model, double lower, int count, const int *columns, const double *values);
    /* To optimality, by the dual simplex, from the current basis. @return the objective */
    double (*solve)(void *model);
    double (*reduced_cost)(void *model, int column); /* of the last solve */
} loop_solver;

extern const loop_solver loop_clp;

/* NULL without libglpk. */
extern const loop_solver *const loop_glpk;

typedef struct loop loop;

/* A loop over a study without lags, whose loads are certain; both are borrowed. */
void loop_new(loop **out, const sddp *study, const loop_solver *solver);

/* NULL is fine. */
void loop_free(loop *it);

/*
 * Solve what the study's last iteration has solved: forward, backward, lower bound. Cuts of
 * iterations that were not followed are brought in first.
 *
 * @param bound receives the lower bound; may be NULL
 * @return the number of solves
 */
int64_t loop_run(loop *it, double *bound);

#endif
