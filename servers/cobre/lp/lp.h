/*
 * lp.h - one linear program in memory, solved many times with small changes: the port to the
 * solver.
 *
 * minimise c.x over lower <= x <= upper, row_lower <= A x <= row_upper. The solver is chosen when
 * linking: each has one file lp_NAME.c. An lp belongs to one thread at a time; different lps may be
 * used by different threads at once. The result of a solve depends only on the program and the
 * basis it starts from, not on earlier solves. A solver works on the program as scale.h scales it
 * when it is loaded: the tolerance is 1e-9 of what is usual in the program, whatever the units.
 *
 * A basis is one byte per column, then one per row.
 */
#ifndef LP_LP_H
#define LP_LP_H

#include <stdint.h>

#include "mcp/error.h"

/* A bound at or beyond this value means no bound. */
#define LP_INFINITY 1e30

/* Another number of a program beyond this magnitude makes its solves end in LP_FAILED. */
#define LP_LARGEST 1e20

/* So does an element of the matrix, other than 0, below this magnitude. */
#define LP_SMALLEST 1e-50

typedef struct lp lp;

/* The program to load: column by column, row numbers ascending inside a column. */
typedef struct lp_program {
    int columns, rows;
    const int *start; /* columns + 1 */
    const int *row;   /* by element */
    const double *value;
    const double *lower, *upper, *cost;  /* by column */
    const double *row_lower, *row_upper; /* by row */
} lp_program;

/* Rows to be appended, one after another. */
typedef struct lp_rows {
    int count;
    const double *lower, *upper;
    const int *start; /* count + 1 */
    const int *column;
    const double *value;
} lp_rows;

typedef enum lp_place { LP_FREE, LP_BASIC, LP_AT_UPPER, LP_AT_LOWER, LP_SUPER, LP_FIXED } lp_place;

typedef enum lp_status {
    LP_OPTIMAL,
    LP_INFEASIBLE,
    LP_UNBOUNDED,
    LP_LIMIT,
    LP_FAILED,
    LP_NO_MEMORY /* of this or an earlier change of the lp; permanent */
} lp_status;

/* Running totals; never reset. */
typedef struct lp_totals {
    int64_t solver_ns; /* wall time inside the solver */
    int64_t solves;    /* calls of lp_solve */
    int64_t pivots;
    int64_t retries; /* attempts after a first one that was not optimal */
} lp_totals;

/* Load a program. MCP_OK; MCP_E_NOMEM. `program` is not kept. */
mcp_status lp_new(lp **out, const lp_program *program, mcp_error *err);

/* NULL is fine. */
void lp_free(lp *model);

void lp_set_column(lp *model, int column, double lower, double upper);
void lp_set_row(lp *model, int row, double lower, double upper);

/* Append rows; they are basic at first. Without memory the next solve ends in LP_NO_MEMORY. */
void lp_add_rows(lp *model, const lp_rows *rows);

/* Delete rows by ascending number; the others keep their order. */
void lp_delete_rows(lp *model, int count, const int *rows);

int lp_columns(const lp *model);
int lp_rows_count(const lp *model);

/* Start the next solve from this basis: lp_columns + rows bytes. */
void lp_set_basis(lp *model, const uint8_t *basis);

/* The current basis; valid until the next change of the lp. Only the values of lp_place. */
const uint8_t *lp_basis(lp *model);

/* Solve from the current basis. A solve without optimum is repeated from scratch and by other
 * methods (ladder.h). */
lp_status lp_solve(lp *model);

/* What the solver takes for one of a column: differences below 1e-9 of it do not count. */
double lp_column_unit(const lp *model, int column);

/* That of a row with such elements: the solver lets it be violated by 1e-9 times it. */
double lp_row_unit(const lp *model, int count, const int *columns, const double *values);

/* The solution of the last lp_solve that was LP_OPTIMAL; valid until the next change of the lp. */
double lp_objective(const lp *model);
const double *lp_primal(const lp *model); /* by column */

/* By column: d objective / d value of a fixed one. By row: d objective / d right-hand side. */
const double *lp_reduced_costs(const lp *model);
const double *lp_duals(const lp *model);

const lp_totals *lp_work(const lp *model);

/* "optimal", "infeasible", "unbounded", "iteration_limit", "numerical_difficulty" (errors page,
 * 2.2), "out_of_memory". */
const char *lp_status_name(lp_status status);

/* "clp" and its version. */
const char *lp_solver_name(void);
const char *lp_solver_version(void);

#endif
