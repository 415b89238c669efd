/*
 * price.c - prices, and the long-step ratio test.
 *
 * Reduced costs move along with each pivot, and are computed from y where the signs are checked.
 *
 * Candidates are met in the order of |d| / |alpha|. The slope starts at the infeasibility of the
 * target and falls by |alpha| times its range at each column that is passed; while it stays
 * positive the column is flipped to its other bound instead of entering. Stage programs are full
 * of boxed columns, so flips are as many as pivots. Only one to three smallest ratios are needed,
 * so they are found by plain scans.
 *
 * Columns whose only element is in one row lie sorted by cost a unit. The row's price divides those
 * at their lower bounds from those at their upper ones (for a negative element the other way
 * round), and their ratios grow on both sides of it: so of such a run only the nearest one is a
 * candidate, until it is flipped.
 *
 * Among candidates whose ratio is about the smallest the one with the largest |alpha| is taken. The
 * error of the objective is delta times the range of a column, and a storage ranges far: so delta
 * starts at 1e-13, and grows only where the pivot would be small.
 */
#include "lp/dual/price.h"

#include <math.h>
#include <string.h>

#include "lp/dual/rows.h"

/* Smaller elements are no candidates. */
#define ALPHA_LEAST 1e-8

static const double deltas[] = { 1e-13, 1e-10, 1e-9 };

#define DELTAS (sizeof deltas / sizeof deltas[0])

/* Keys of a run that lie so near its price, by 1 + the price, may be on either side of it. */
#define KEY_SPARE 1e-8

/* A pivot below both, absolutely and by the largest candidate, is small. */
#define SMALL 1e-2
#define SMALL_RELATIVE 1e-3

/* A reduced cost up to here, by 1 + its cost, is rounding. */
#define ROUNDING 1e-12

/* A slope up to here, by the infeasibility, is rounding too: the flips make up for all of it. */
#define SLOPE_ROUNDING 1e-12

/* ---- prices ---------------------------------------------------------------------------------- */

static void write_prices(dual_work *w)
{
    memcpy(w->price, w->program->cost, (size_t)w->program->movable * sizeof *w->price);
    for (int r = 0; r < w->size; r++)
        if (w->y[r] != 0.0)
            rows_add(w, w->kernel_row[r], -w->y[r], w->price);
}

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
    write_prices(w);
}

static void add_scaled(double *restrict to, double factor, const double *restrict from, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++)
        to[i] += factor * from[i];
}

void price_move(dual_work *w, double t, const double *rho)
{
    int singles = w->program->singles;

    add_scaled(w->y, t, rho, w->size);
    add_scaled(w->price + singles, -t, w->alpha + singles, w->program->movable - singles);
}

double price_column(const dual_work *w, int column)
{
    const dual_program *p = w->program;
    double d = p->cost[column];

    for (int e = p->start[column]; e < p->start[column + 1]; e++) {
        int at = w->row_position[p->row[e]];
        if (at >= 0)
            d -= w->y[at] * p->value[e];
    }
    for (int r = 0; task_is_cut_column(w, column) && r < w->size; r++)
        if (w->kernel_row[r] >= p->rows)
            d -= w->y[r] * rows_slot_element(w, w->kernel_row[r] - p->rows, column);
    return d;
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

double price_loss(dual_work *w)
{
    const dual_program *p = w->program;
    double sum = 0.0;
    const double *price = w->price;

    write_prices(w);
    for (int j = 0; j < p->movable; j++)
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

/* Of columns with more than one element. */
static void compute_alpha(dual_work *w, const ratio_row *leaving)
{
    const dual_program *p = w->program;

    memset(w->alpha + p->singles, 0, (size_t)(p->movable - p->singles) * sizeof *w->alpha);
    for (int r = 0; r < w->size; r++)
        if (leaving->rho[r] != 0.0)
            rows_add_others(w, w->kernel_row[r], leaving->rho[r], w->alpha);
    if (leaving->row >= 0)
        rows_add_others(w, leaving->row, -1.0, w->alpha);
}

static void write_candidate(dual_work *w, int at, int number, double alpha, double price)
{
    double size = fabs(alpha), inverse = 1.0 / size;

    w->candidate[at] = number;
    w->size_of[at] = size;
    w->inverse_of[at] = inverse;
    w->ratio[at] = price * inverse;
}

static void add_candidate(dual_work *w, int number, double alpha, double price)
{
    w->step_of[w->candidates] = 0;
    write_candidate(w, w->candidates++, number, alpha, price);
}

/* A reduced cost of a wrong sign counts as zero. */
static double price_of(double d, double direction)
{
    double price = d * direction;

    return price > 0.0 ? price : 0.0;
}

/* Whether a column moves the leaving value toward its bound. */
static bool is_candidate(const dual_work *w, double sigma, int column)
{
    return -sigma * w->alpha[column] * w->direction[column] > ALPHA_LEAST;
}

static void add_columns(dual_work *w, double sigma)
{
    const dual_program *p = w->program;

    for (int j = p->singles; j < p->movable; j++)
        if (is_candidate(w, sigma, j))
            add_candidate(w, j, w->alpha[j], price_of(w->price[j], w->direction[j]));
    for (int i = 0; i < p->unbounded_count; i++) {
        int j = p->unbounded[i];
        if (w->place[j] == LP_FREE && fabs(w->alpha[j]) > ALPHA_LEAST)
            add_candidate(w, j, w->alpha[j], fabs(w->price[j]));
    }
}

/* ---- columns with a single element ----------------------------------------------------------- */

static double price_of_row(const dual_work *w, int row)
{
    return w->row_position[row] < 0 ? 0.0 : w->y[w->row_position[row]];
}

/* Write the next candidate of a run from a column on; false: there is none. */
static bool write_next(dual_work *w, int at, int row, int column, double sigma)
{
    const dual_program *p = w->program;
    double rho = w->rho_of[at], y = price_of_row(w, row);

    for (int j = column; j >= p->run[row] && j < p->run[row + 1]; j += w->step_of[at]) {
        w->alpha[j] = rho * p->single[j];
        if (!is_candidate(w, sigma, j))
            continue;
        write_candidate(w, at, j, w->alpha[j],
                        price_of(p->cost[j] - y * p->single[j], w->direction[j]));
        return true;
    }
    return false;
}

/* The first column of a run with a key of at least this. */
static int find_key(const dual_program *p, int row, double key)
{
    int low = p->run[row], high = p->run[row + 1];

    while (low < high) {
        int middle = low + (high - low) / 2;
        if (p->key[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The candidates of a run are those with keys above its price, or those below. */
static void add_run(dual_work *w, int row, double rho, double sigma)
{
    double y = price_of_row(w, row), spare = KEY_SPARE * (1.0 + fabs(y));
    bool is_above = -sigma * rho > 0.0;
    int first = is_above ? find_key(w->program, row, y - spare)
                         : find_key(w->program, row, y + spare) - 1;

    w->rho_of[w->candidates] = rho;
    w->step_of[w->candidates] = is_above ? 1 : -1;
    w->candidates += write_next(w, w->candidates, row, first, sigma);
}

static void add_runs(dual_work *w, const ratio_row *leaving)
{
    int rows = w->program->rows;

    for (int r = 0; r < w->size; r++)
        if (w->kernel_row[r] < rows && leaving->rho[r] != 0.0)
            add_run(w, w->kernel_row[r], leaving->rho[r], leaving->sigma);
    if (leaving->row >= 0 && leaving->row < rows)
        add_run(w, leaving->row, -1.0, leaving->sigma);
}

/* ---- logicals -------------------------------------------------------------------------------- */

/* The logicals of the kernel's inequalities; their alpha is -rho. */
static void add_logicals(dual_work *w, const ratio_row *leaving)
{
    for (int r = 0; r < w->size; r++) {
        int row = w->kernel_row[r];
        double direction = w->row_place[row] == LP_AT_UPPER ? -1.0 : 1.0;
        if (w->row_lower[row] < w->row_upper[row] &&
            leaving->sigma * leaving->rho[r] * direction > ALPHA_LEAST)
            add_candidate(w, w->program->columns + r, leaving->rho[r],
                          price_of(w->y[r], direction));
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
    const double *ratio = w->ratio, *size = w->size_of;
    int best = 0, count = w->candidates;

    for (int i = 0; i < count; i++)
        if (ratio[i] <= most && size[i] > largest) {
            largest = size[i];
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
    w->rho_of[at] = w->rho_of[last];
    w->step_of[at] = w->step_of[last];
    clear_candidate(w, last);
}

/* A candidate is flipped: its place is that of the next one of its run. */
static void pass_candidate(dual_work *w, int at, double sigma)
{
    int column = w->candidate[at], step = w->step_of[at];

    if (step == 0 ||
        !write_next(w, at, w->program->row[w->program->start[column]], column + step, sigma))
        drop_candidate(w, at);
}

/* What a candidate can move by in the target lane. */
static double range_of(const dual_work *w, int number, size_t target)
{
    if (number >= w->program->columns)
        return INFINITY;
    const double *bound = task_lane_upper(w, number);
    return (bound ? bound[target] : w->upper[number]) - w->lower[number];
}

int ratio_test(dual_work *w, const ratio_row *leaving, size_t target)
{
    double slope = leaving->miss, largest = 0.0, rest = FEASIBILITY + SLOPE_ROUNDING * slope;

    compute_alpha(w, leaving);
    w->candidates = w->flip_count = 0;
    add_columns(w, leaving->sigma);
    add_runs(w, leaving);
    add_logicals(w, leaving);
    for (int k = 0; k < CANDIDATE_SPARE; k++)
        clear_candidate(w, w->candidates + k);
    for (int i = 0; i < w->candidates; i++)
        largest = w->size_of[i] > largest ? w->size_of[i] : largest;
    while (w->candidates > 0) {
        int best = pick_graded(w, largest), entering = w->candidate[best];
        slope -= w->size_of[best] * range_of(w, entering, target);
        if (!(slope > rest))
            return entering;
        w->flips[w->flip_count++] = entering;
        pass_candidate(w, best, leaving->sigma);
    }
    return RATIO_NONE;
}
