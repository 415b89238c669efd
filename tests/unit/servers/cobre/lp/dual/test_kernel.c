/*
 * test_kernel.c - each of the four exchanges leaves the inverse of the kernel that the lists name.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lp/dual/kernel.h"
#include "lp/dual/rows.h"
#include "lp_instance.h"

enum { ROWS = 14, COLUMNS = 40, PIVOTS = 1000, PIVOT_LEAST_TENTHS = 1 };

/* The largest element of M K - I. */
static double error_of(const dual_work *w)
{
    double largest = 0.0, line[ROWS];

    for (int c = 0; c < w->size; c++)
        for (int d = 0; d < w->size; d++) {
            double sum = c == d ? -1.0 : 0.0;
            for (int r = 0; r < w->size; r++) {
                rows_gather(w, w->kernel_row[r], line);
                sum += task_inverse(w, c)[r] * line[d];
            }
            largest = fmax(largest, fabs(sum));
        }
    return largest;
}

static bool is_large(double pivot)
{
    return fabs(pivot) >= PIVOT_LEAST_TENTHS / 10.0;
}

static void set_column(dual_work *w, int position, int column)
{
    w->kernel_column[position] = column;
    w->position[column] = position;
}

static void set_row(dual_work *w, int position, int row)
{
    w->kernel_row[position] = row;
    w->row_position[row] = position;
}

static int nonbasic_column(dual_work *w, chance *c)
{
    int j = chance_in(c, 0, COLUMNS - 1);

    return w->position[j] < 0 ? j : -1;
}

static bool column_by_column(dual_work *w, chance *c)
{
    int j = nonbasic_column(w, c), at = w->size > 0 ? chance_in(c, 0, w->size - 1) : -1;

    if (j < 0 || at < 0)
        return false;
    kernel_enter_column(w, j, w->u);
    if (!is_large(w->u[at]))
        return false;
    kernel_column_by_column(w, at, w->u);
    w->position[w->kernel_column[at]] = -1;
    set_column(w, at, j);
    return true;
}

static bool column_by_logical(dual_work *w, chance *c)
{
    int at = w->size > 0 ? chance_in(c, 0, w->size - 1) : -1, last = w->size - 1;
    int r = w->size > 0 ? chance_in(c, 0, last) : -1;

    if (w->size < ROWS / 2 || !is_large(task_inverse(w, at)[r]))
        return false;
    kernel_column_by_logical(w, at, r);
    assert_int_equal(w->size, last);
    w->position[w->kernel_column[at]] = -1;
    w->row_position[w->kernel_row[r]] = -1;
    if (at != last)
        set_column(w, at, w->kernel_column[last]);
    if (r != last)
        set_row(w, r, w->kernel_row[last]);
    return true;
}

static double element(dual_work *w, int row, int column)
{
    double value = 0.0;

    w->scatter[column] = 1.0;
    value = rows_dot(w, row, w->scatter);
    w->scatter[column] = 0.0;
    return value;
}

static bool row_by_column(dual_work *w, chance *c)
{
    int j = nonbasic_column(w, c), row = chance_in(c, 0, ROWS - 1);

    if (j < 0 || w->row_position[row] >= 0)
        return false;
    kernel_enter_column(w, j, w->u);
    kernel_row_times(w, row, w->rho);
    double alpha = -element(w, row, j);
    for (int r = 0; r < w->size; r++)
        alpha += w->rho[r] * element(w, w->kernel_row[r], j);
    if (!is_large(alpha))
        return false;
    kernel_row_by_column(w, w->u, w->rho, alpha);
    set_column(w, w->size - 1, j);
    set_row(w, w->size - 1, row);
    return true;
}

static bool row_by_logical(dual_work *w, chance *c)
{
    int row = chance_in(c, 0, ROWS - 1), r = w->size > 0 ? chance_in(c, 0, w->size - 1) : -1;

    if (r < 0 || w->row_position[row] >= 0)
        return false;
    kernel_row_times(w, row, w->rho);
    if (!is_large(w->rho[r]))
        return false;
    kernel_row_by_logical(w, r, w->rho);
    w->row_position[w->kernel_row[r]] = -1;
    set_row(w, r, row);
    return true;
}

static void fill(instance *in, chance *c)
{
    for (int i = 0; i < ROWS; i++)
        add_row(in, 0, 1);
    for (int j = 0; j < COLUMNS; j++) {
        add_column(in, 0, 1, 0);
        for (int i = 0; i < ROWS; i++)
            if (chance_in(c, 0, 2) == 0)
                add_element(in, i, chance_in(c, -9, 9) + chance_real(c));
    }
}

static void exchanges(void **state)
{
    bool (*const kinds[])(dual_work *, chance *) = { column_by_column, column_by_logical,
                                                     row_by_column, row_by_logical };
    int done[4] = { 0 };
    chance c = { .state = 5 };
    instance *in = instance_new();
    answers *a = answers_new();
    dual_program *program = NULL;
    dual_work *w = NULL;

    (void)state;
    fill(in, &c);
    assert_int_equal(dual_program_new(&program, &in->program, &in->layout, NULL), MCP_OK);
    assert_int_equal(dual_work_new(&w, NULL), MCP_OK);
    /* A solve prepares the memory and ends at the slack basis. */
    assert_int_equal(dual_solve(program, w, &in->group, &a->out), LP_OPTIMAL);
    assert_int_equal(w->size, 0);
    for (int pivots = 0; pivots < PIVOTS;) {
        int kind = chance_in(&c, 0, 3);
        if (!kinds[kind](w, &c))
            continue;
        done[kind]++;
        pivots++;
        if (pivots % 50 == 0)
            kernel_invert(w, w->size, w->size);
        double error = error_of(w);
        if (!(error <= 1e-9))
            fail_msg("exchange %d, of kind %d: M K differs from I by %g", pivots, kind, error);
    }
    for (int kind = 0; kind < 4; kind++)
        assert_true(done[kind] >= 20);
    dual_program_free(program);
    dual_work_free(w);
    free(in);
    free(a);
}

/* Column 1 is twice column 0, and there is a row too many: one column and two rows are left out. */
static void what_is_singular_is_left_out(void **state)
{
    instance *in = instance_new();
    answers *a = answers_new();
    dual_program *program = NULL;
    dual_work *w = NULL;

    (void)state;
    for (int i = 0; i < 3; i++)
        add_row(in, 0, 100);
    for (int j = 0; j < 2; j++) {
        add_column(in, 0, 1, 0);
        for (int i = 0; i < 2; i++)
            add_element(in, i, (j + 1.0) * (i + 1.0));
    }
    assert_int_equal(dual_program_new(&program, &in->program, &in->layout, NULL), MCP_OK);
    assert_int_equal(dual_work_new(&w, NULL), MCP_OK);
    assert_int_equal(dual_solve(program, w, &in->group, &a->out), LP_OPTIMAL);
    memcpy(w->kernel_column, (int[]){ 0, 1 }, 2 * sizeof(int));
    memcpy(w->kernel_row, (int[]){ 2, 0, 1 }, 3 * sizeof(int));
    kernel_invert(w, 2, 3);
    assert_int_equal(w->size, 1);
    assert_true(error_of(w) <= 1e-12);
    assert_int_equal(w->position[w->kernel_column[1]], -1);
    dual_program_free(program);
    dual_work_free(w);
    free(in);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchanges),
        cmocka_unit_test(what_is_singular_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
