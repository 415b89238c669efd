/*
 * price.c - prices, and the long-step ratio test.
 *
 * The part of the cuts in reduced costs is added up once a pivot, since their rows are dense.
 *
 * Candidates are met in the order of |d| / |alpha|. The slope starts at the infeasibility of the
 * target and falls by |alpha| times its range at each column that is passed; while it stays
 * positive the column is flipped to its other bound instead of entering. Stage programs are full
 * of boxed columns, so flips are as many as pivots. Only one to three smallest ratios are needed,
 * so they are found by plain scans.
 *
 * Among candidates whose ratio is about the smallest the one with the largest |alpha| is taken. The
 * error of the objective is delta times the range of a column, and a storage ranges far: so delta
 * starts at 1e-13, and grows only where the pivot would be small.
 */
#include "lp/dual/price.h"

#include <math.h>

#include "lp/dual/rows.h"

/* Smaller elements are no candidates. */
#define ALPHA_LEAST 1e-8

static const double deltas[] = { 1e-13, 1e-10, 1e-9 };

#define DELTAS (sizeof deltas / sizeof deltas[0])

/* A pivot below both, absolutely and by the largest candidate, is small. */
#define SMALL 1e-2
#define SMALL_RELATIVE 1e-3

/* A reduced cost up to here, by 1 + its cost, is rounding. */
#define ROUNDING 1e-12

/* A slope up to here, by the infeasibility, is rounding too: the flips make up for all of it. */
#define SLOPE_ROUNDING 1e-12

/* ---- prices ---------------------------------------------------------------------------------- */

void price_compute(dual_work *w)
{
    for (int r = 0; r < w->size; r++)
        w->y[r] = 0.0;
    for (int c = 0; c < w->size; c++) {
        const double *line = task_inverse(w, c);
        double cost = w->program->cost[w->kernel_column[c]];
        for (int r = 0; cost != 0.0 && r < w->size; r++)
            w->y[r] += cost * line[r];
    }
    price_spread(w);
}

/* The price of a cut in the columns of its row. */
static void spread_cut(dual_work *w, int slot, double price)
{
    const double *slope = w->slope + slot * w->program->states;
    const int *state = w->program->layout.state;

    w->cut_price[w->slot_theta[slot]] += price;
    for (int j = 0; j < w->program->states; j++)
        w->cut_price[state[j]] -= price * slope[j];
}

void price_spread(dual_work *w)
{
    const dual_program *p = w->program;

    for (int j = 0; j < p->states; j++)
        w->cut_price[p->layout.state[j]] = 0.0;
    for (int j = 0; j < w->thetas; j++)
        w->cut_price[p->layout.theta + j] = 0.0;
    for (int r = 0; r < w->size; r++) {
        int row = w->kernel_row[r];
        w->row_price[row] = w->y[r];
        if (row >= p->rows)
            spread_cut(w, row - p->rows, w->y[r]);
    }
}

static double loss(double price, uint8_t place, double range)
{
    double wrong = place == LP_AT_LOWER ? -price : place == LP_AT_UPPER ? price : fabs(price);

    return wrong > 0.0 ? wrong * (isfinite(range) ? range : 1.0) : 0.0;
}

/* A basic column has no reduced cost, but for rounding. */
static double loss_of_basic(const dual_work *w, int column, double price)
{
    price = fabs(price) - ROUNDING * (1.0 + fabs(w->program->cost[column]));
    return price > 0.0 ? loss(price, LP_BASIC, w->upper[column] - w->lower[column]) : 0.0;
}

/* The reduced costs of all movable columns. */
static void write_prices(const dual_work *w, double *price)
{
    for (int j = 0; j < w->program->columns; j++)
        price[j] = w->program->cost[j];
    for (int r = 0; r < w->size; r++)
        if (w->y[r] != 0.0)
            rows_add(w, w->kernel_row[r], -w->y[r], price);
}

double price_loss(dual_work *w)
{
    const dual_program *p = w->program;
    double sum = 0.0, *price = w->alpha;

    write_prices(w, price);
    for (int j = 0; j < p->columns; j++)
        if (price[j] * w->direction[j] < 0.0)
            sum += loss(price[j], w->place[j], w->upper[j] - w->lower[j]);
    for (int i = 0; i < p->unbounded_count; i++)
        if (w->place[p->unbounded[i]] == LP_FREE)
            sum += loss(price[p->unbounded[i]], LP_FREE, INFINITY);
    for (int c = 0; c < w->size; c++)
        sum += loss_of_basic(w, w->kernel_column[c], price[w->kernel_column[c]]);
    for (int r = 0; r < w->size; r++) {
        int row = w->kernel_row[r];
        double range = w->row_upper[row] - w->row_lower[row];
        if (range > 0.0)
            sum += loss(w->y[r], w->row_place[row], range);
    }
    return sum;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static void compute_alpha(dual_work *w, const ratio_row *leaving)
{
    for (int j = 0; j < w->program->columns; j++)
        w->alpha[j] = 0.0;
    for (int r = 0; r < w->size; r++)
        if (leaving->rho[r] != 0.0)
            rows_add(w, w->kernel_row[r], leaving->rho[r], w->alpha);
    if (leaving->row >= 0)
        rows_add(w, leaving->row, -1.0, w->alpha);
}

static void add_candidate(dual_work *w, int number, double alpha, double price, double range)
{
    int at = w->candidates++;
    double size = fabs(alpha);

    w->candidate[at] = number;
    w->size_of[at] = size;
    w->inverse_of[at] = 1.0 / size;
    w->ratio[at] = price / size;
    w->range[at] = range;
}

/* A reduced cost of a wrong sign counts as zero. */
static double price_of(double d, double direction)
{
    double price = d * direction;

    return price > 0.0 ? price : 0.0;
}

static void add_columns(dual_work *w, double sigma, size_t target)
{
    const dual_program *p = w->program;
    int found = 0, *column = w->flips;

    for (int j = 0; j < p->columns; j++) {
        column[found] = j;
        found += -sigma * w->alpha[j] * w->direction[j] > ALPHA_LEAST;
    }
    for (int i = 0; i < found; i++) {
        int j = column[i];
        const double *bound = task_lane_upper(w, j);
        double range = (bound ? bound[target] : w->upper[j]) - w->lower[j];
        double price = price_of(price_column(w, j), w->direction[j]);
        add_candidate(w, j, w->alpha[j], price, range);
    }
    for (int i = 0; i < p->unbounded_count; i++) {
        int j = p->unbounded[i];
        if (w->place[j] == LP_FREE && fabs(w->alpha[j]) > ALPHA_LEAST)
            add_candidate(w, j, w->alpha[j], fabs(price_column(w, j)), INFINITY);
    }
}

/* The logicals of the kernel's inequalities; their alpha is -rho. */
static void add_logicals(dual_work *w, const ratio_row *leaving)
{
    for (int r = 0; r < w->size; r++) {
        int row = w->kernel_row[r];
        double direction = w->row_place[row] == LP_AT_UPPER ? -1.0 : 1.0;
        if (w->row_lower[row] < w->row_upper[row] &&
            leaving->sigma * leaving->rho[r] * direction > ALPHA_LEAST)
            add_candidate(w, w->program->columns + r, leaving->rho[r], price_of(w->y[r], direction),
                          INFINITY);
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* A place that no candidate has: its ratio is above all. */
static void clear_candidate(dual_work *w, int at)
{
    w->ratio[at] = INFINITY;
    w->inverse_of[at] = 0.0;
}

/* The least (d + delta) / |alpha|. A minimum has the same bits in any order. */
static double least_limit(const dual_work *w, double delta)
{
    double least[CANDIDATE_SPARE];

    for (int k = 0; k < CANDIDATE_SPARE; k++)
        least[k] = INFINITY;
    for (int first = 0; first < w->candidates; first += CANDIDATE_SPARE) {
        const double *ratio = w->ratio + first, *inverse = w->inverse_of + first;
#pragma omp simd
        for (int k = 0; k < CANDIDATE_SPARE; k++) {
            double limit = ratio[k] + delta * inverse[k];
            least[k] = limit < least[k] ? limit : least[k];
        }
    }
    for (int k = 1; k < CANDIDATE_SPARE; k++)
        least[0] = least[k] < least[0] ? least[k] : least[0];
    return least[0];
}

static int pick(const dual_work *w, double delta)
{
    double most = least_limit(w, delta), largest = 0.0;
    int best = 0;

    for (int i = 0; i < w->candidates; i++)
        if (w->ratio[i] <= most && w->size_of[i] > largest) {
            largest = w->size_of[i];
            best = i;
        }
    return best;
}

static int pick_graded(const dual_work *w, double largest)
{
    int best = 0;

    for (size_t i = 0; i < DELTAS; i++) {
        best = pick(w, deltas[i]);
        if (w->size_of[best] >= SMALL || w->size_of[best] >= SMALL_RELATIVE * largest)
            break;
    }
    return best;
}

static void drop_candidate(dual_work *w, int at)
{
    int last = --w->candidates;

    w->candidate[at] = w->candidate[last];
    w->size_of[at] = w->size_of[last];
    w->inverse_of[at] = w->inverse_of[last];
    w->ratio[at] = w->ratio[last];
    w->range[at] = w->range[last];
    clear_candidate(w, last);
}

int ratio_test(dual_work *w, const ratio_row *leaving, size_t target)
{
    double slope = leaving->miss, largest = 0.0, rest = FEASIBILITY + SLOPE_ROUNDING * slope;

    compute_alpha(w, leaving);
    w->candidates = w->flip_count = 0;
    add_columns(w, leaving->sigma, target);
    add_logicals(w, leaving);
    for (int k = 0; k < CANDIDATE_SPARE; k++)
        clear_candidate(w, w->candidates + k);
    for (int i = 0; i < w->candidates; i++)
        largest = w->size_of[i] > largest ? w->size_of[i] : largest;
    while (w->candidates > 0) {
        int best = pick_graded(w, largest), entering = w->candidate[best];
        slope -= w->size_of[best] * w->range[best];
        if (!(slope > rest))
            return entering;
        w->flips[w->flip_count++] = entering;
        drop_candidate(w, best);
    }
    return RATIO_NONE;
}
