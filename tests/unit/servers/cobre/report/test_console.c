/*
 * test_console.c - the text of a run for people, as in the output page.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/console.h"

struct page {
    FILE *stream;
    char *text;
    size_t length;
};

static void page_open(struct page *page)
{
    page->stream = open_memstream(&page->text, &page->length);
    assert_non_null(page->stream);
}

/* All that was written; the page is closed. */
static const char *page_text(struct page *page)
{
    fclose(page->stream);
    return page->text;
}

static const cobre_case small = {
    .stage_count = 4,
    .bus_count = 1,
    .hydro_count = 2,
    .thermal_count = 3,
    .line_count = 0,
    .config = { .max_iterations = 2 },
};

static const sddp_iteration rows[] = {
    { .iteration = 1,
      .lower_bound = 100,
      .upper_bound = 400,
      .upper_bound_std = 10,
      .gap = 0.75,
      .time_forward_ms = 2,
      .time_backward_ms = 9 },
    { .iteration = 2,
      .lower_bound = 300,
      .upper_bound = 400,
      .upper_bound_std = 12.5,
      .gap = 0.25 },
};

static sddp_training training_of(sddp_reason reason)
{
    return (sddp_training){ .rows = rows,
                            .iterations = 2,
                            .reason = reason,
                            .total_cuts = 8,
                            .active_cuts = 6,
                            .wall_time_ms = 9100,
                            .lp_solves = 77,
                            .fallbacks = 3,
                            .solver = "own, clp" };
}

/* A run from its first word to its last; `page` is closed. */
static const char *run_said(struct page *page, sddp_reason reason, cobre_run_end end, bool quiet)
{
    const sddp_training training = training_of(reason);
    const cobre_run_result result = {
        .end = end,
        .output_dir = "/out\x1B[2J",
        .has_training = true,
        .has_simulation = reason != SDDP_SHUTDOWN,
        .simulation = { .scenarios_total = 1,
                        .scenarios_completed = 1,
                        .mean = 1036240,
                        .ci_95 = 9.8,
                        .std = 5,
                        .wall_time_ms = 125000,
                        .lp_solves = 4,
                        .solver = "clp" },
    };
    console console;

    page_open(page);
    console_begin(&console, page->stream, quiet, false, 3, "/case");
    console_started(&console, &small);
    console_iteration(&console, &rows[0]);
    console_iteration(&console, &rows[1]);
    console_trained(&console, &training);
    if (result.has_simulation)
        console_scenario(&console, 1, 1);
    console_end(&console, &result);
    return page_text(page);
}

static void assert_says(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("'%s' is not in: %s", words, text);
}

static void a_run_is_described_from_its_solver_to_its_output(void **state)
{
    struct page page;
    const char *text = run_said(&page, SDDP_ITERATION_LIMIT, COBRE_RUN_COMPLETED, false);

    (void)state;
    assert_says(text, "  Threads:        3\n");
    assert_says(text, "Loading case: /case\n");
    assert_says(text, "  4 stages, 1 buses, 2 hydros, 3 thermals, 0 lines\n");
    assert_says(text, "Training   starting... (max 2 iterations)\n");
    assert_says(text, "Training   1/2 iter  LB: 1.00000e2  UB: 4.00000e2  gap: 75.0%  "
                      "fwd: 2ms / bwd: 9ms  [00:00:00 < 00:00:00]\n");
    assert_says(text, "Training complete in 9.1s (2 iterations, iteration_limit)\n");
    assert_says(text, "  Lower bound:    $ 3.00000e2\n");
    assert_says(text, "  Upper bound:    $ 4.00000e2 +/- 1.25000e1\n");
    assert_says(text, "  Gap:            25.0% (started at 75.0%)\n");
    assert_says(text, "  Policy rows:    6 active / 8 generated\n");
    assert_says(text, "  LP solves:      77\n"
                      "  Backend:        own, clp (3 solves left to Clp)\n");
    assert_says(text, "Simulation 1/1 scenarios  [");
    assert_says(text, "Simulation complete in 2m 5s (1 of 1 scenarios)\n");
    assert_says(text, "  Expected cost:  $ 1.03624e6 +/- 9.80000e0 (std: 5.00000e0)\n");
    assert_says(text, "  LP solves:      4\n"
                      "  Backend:        clp\n");
    assert_says(text, "Output written to /out?[2J/\n");
    assert_null(strchr(text, '\x1B'));
    free(page.text);
}

/* Three plants, one with planes and two that evaporate; the statistics are a file's. */
static void the_models_are_described(void **state)
{
    const cobre_run_models models = {
        .hydros = 3,
        .with_planes = 1,
        .evaporating = 2,
        .provenance = { "user_stats_white_noise", "user_file", "n/a", "n/a", "estimated" },
    };
    struct page page;
    console console;

    (void)state;
    page_open(&page);
    console_begin(&console, page.stream, false, false, 1, "/case");
    console_describe(&console, &models);
    const char *text = page_text(&page);
    assert_says(text, "Hydro models\n"
                      "  Production:     2 constant, 1 by planes (FPHA)\n"
                      "  Evaporation:    2 of 3 plants\n");
    assert_says(text, "Model provenance\n"
                      "  Estimation:     user_stats_white_noise\n"
                      "  Statistics:     user_file\n"
                      "  Coefficients:   n/a\n"
                      "  Correlation:    n/a\n"
                      "  Opening tree:   estimated\n");
    free(page.text);
}

static void a_run_that_was_stopped_says_so(void **state)
{
    struct page page;
    const char *text = run_said(&page, SDDP_SHUTDOWN, COBRE_RUN_PARTIAL, false);

    (void)state;
    assert_says(text, "Training stopped in 9.1s (2 iterations, shutdown)\n");
    assert_says(text, "Output written to ");
    assert_null(strstr(text, "Simulation"));
    free(page.text);
}

static void quiet_says_nothing(void **state)
{
    struct page page;

    (void)state;
    assert_string_equal(run_said(&page, SDDP_TIME_LIMIT, COBRE_RUN_COMPLETED, true), "");
    free(page.text);
}

static void no_output_is_named_after_a_failure(void **state)
{
    static const cobre_run_end ends[] = { COBRE_RUN_INVALID, COBRE_RUN_REFUSED,
                                          COBRE_RUN_SOLVER_FAILED, COBRE_RUN_FAILED };
    struct page page;
    console console;

    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const cobre_run_result result = { .end = ends[i] };
        page_open(&page);
        console_begin(&console, page.stream, false, false, 1, "/case");
        console_end(&console, &result);
        console_end(&console, NULL);
        assert_null(strstr(page_text(&page), "Output"));
        free(page.text);
    }
}

static void complaints_have_a_way_out_and_no_control_characters(void **state)
{
    struct page page;

    (void)state;
    page_open(&page);
    console_complain(page.stream, "error", "a\x1B[1m\n\x7F\xC2\x9B\xC3\xA9", "Do\tb.");
    console_complain(page.stream, "warning", "plain", NULL);
    console_complain(page.stream, "error", NULL, NULL);
    assert_string_equal(page_text(&page), "error: a?[1m???\xC3\xA9\n  -> Do?b.\nwarning: plain\n"
                                          "error: out of memory\n");
    free(page.text);
}

static void colours_come_only_when_wanted(void **state)
{
    struct page page;
    console console;

    (void)state;
    page_open(&page);
    console_begin(&console, page.stream, false, true, 1, "/case");
    assert_says(page_text(&page), "\x1B[");
    free(page.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_described_from_its_solver_to_its_output),
        cmocka_unit_test(the_models_are_described),
        cmocka_unit_test(a_run_that_was_stopped_says_so),
        cmocka_unit_test(quiet_says_nothing),
        cmocka_unit_test(no_output_is_named_after_a_failure),
        cmocka_unit_test(complaints_have_a_way_out_and_no_control_characters),
        cmocka_unit_test(colours_come_only_when_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
