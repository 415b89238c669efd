/*
 * test_tracks.c - statistics and correlations across seasons, counted by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stochastic/history/tracks.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static const int32_t years[] = { 2000, 2001, 2002, 2003, 2004, 2005 };

static season_track track(const double *values, size_t count, size_t first_year)
{
    season_track made = { .count = count, .years = years + first_year, .values = values };

    tracks_moments(&made);
    return made;
}

static void deviations_divide_by_the_number(void **state)
{
    const double plain[] = { 2.2, 4.4, 9.0 }, alike[] = { 5.0, 5.0000005, 4.9999995 };
    const double usual[] = { 7.1, 6.9, 7.4, 30.0, 2.0 }, negative[] = { -1, 7, 7, 7, 7 };

    (void)state;
    season_track made = track(plain, 3, 0);
    NEAR(made.mean, 5.2);
    NEAR(made.std, sqrt((9.0 + 0.64 + 14.44) / 3));
    made = track(alike, 3, 0);
    assert_true(made.mean == 5.0 && made.std == 0.0);
    made = track(usual, 5, 0);
    assert_true(made.mean == 7.0 && made.std == 0.0);
    made = track(usual, 4, 0);
    assert_true(made.mean == 7.0);
    made = track(usual + 1, 4, 0);
    assert_true(made.std > 0.0);
    made = track(negative, 5, 0);
    NEAR(made.mean, 5.4);
}

/* Two seasons; deviations of A: -1.5 -0.5 0.5 1.5 (variance 1.25), of B: -2 2 -1 1 (variance 2.5).
 * B with A of its year: (3 - 1 - 0.5 + 1.5) / 4. A with B of the year before: (1 + 1 - 1.5) / 3, of
 * three pairs. A with itself two lags before: (0.75 - 0.25 + 0.75) / 3. */
static void seasons_are_paired_across_years(void **state)
{
    const double a[] = { 1, 2, 3, 4 }, b[] = { 10.2, 14.2, 11.2, 13.2 };
    season_track flow[] = { track(a, 4, 0), track(b, 4, 0) };
    hydro_tracks tracks = { .seasons = 2, .flow = flow };

    (void)state;
    for (int i = 0; i < 2; i++, tracks.is_original = true) {
        NEAR(tracks_correlation(&tracks, 1, 1), 3.0 / 4 / sqrt(1.25 * 2.5));
        NEAR(tracks_correlation(&tracks, 0, 1), 0.5 / 3 / sqrt(1.25 * 2.5));
        NEAR(tracks_correlation(&tracks, 0, 2), 1.25 / 3 / 1.25);
        assert_true(tracks_correlation(&tracks, 1, 0) == 1.0);
    }
}

/* A begins a year later than B. A with B of the year before: all of A's years have one. */
static void years_decide_who_is_paired(void **state)
{
    const double a[] = { 1, 2, 3, 4 }, b[] = { 10.2, 14.2, 11.2, 13.2 };
    season_track flow[] = { track(a, 4, 1), track(b, 4, 0) };
    hydro_tracks tracks = { .seasons = 2, .flow = flow };

    (void)state;
    NEAR(tracks_correlation(&tracks, 0, 1), 3.0 / 4 / sqrt(1.25 * 2.5));
    tracks.is_original = true;
    NEAR(tracks_correlation(&tracks, 0, 1), 0.5 / 3 / sqrt(1.25 * 2.5));
}

/* Three seasons: four lags before season 0 is season 2, two years before. The original takes the
 * year before. */
static void long_lags_reach_into_earlier_years(void **state)
{
    const double a[] = { 1, 2, 3, 4 }, b[] = { 10.2, 14.2, 11.2, 13.2 };
    season_track flow[] = { track(a, 4, 0), track(a, 4, 0), track(b, 4, 0) };
    hydro_tracks tracks = { .seasons = 3, .flow = flow };

    (void)state;
    assert_int_equal(tracks_season_before(&tracks, 0, 4), 2);
    /* 0.5 * -2 + 1.5 * 2, of two pairs */
    NEAR(tracks_correlation(&tracks, 0, 4), 2.0 / 2 / sqrt(1.25 * 2.5));
    tracks.is_original = true;
    NEAR(tracks_correlation(&tracks, 0, 4), 0.5 / 3 / sqrt(1.25 * 2.5));
}

static void seasons_without_deviation_do_not_correlate(void **state)
{
    const double a[] = { 1, 2, 3, 4 }, same[] = { 3, 3, 3, 3 };
    season_track flow[] = { track(a, 4, 0), track(same, 4, 0) };
    hydro_tracks tracks = { .seasons = 2, .flow = flow };

    (void)state;
    assert_true(tracks_correlation(&tracks, 1, 1) == 0.0);
    assert_true(tracks_correlation(&tracks, 0, 1) == 0.0);
}

/* Annual means of season 1 from 2001 on: -1 0 1 in deviations. With B of the same years (2 -1 1):
 * -2 + 1 = -1; with A of the same years (-0.5 0.5 1.5): 2; with A of the next years, of which there
 * are two (0.5 1.5): -0.5; all over four values, the longer. */
static void annual_means_divide_by_the_longer(void **state)
{
    const double a[] = { 1, 2, 3, 4 }, b[] = { 10.2, 14.2, 11.2, 13.2 }, year[] = { 6, 7, 8 };
    season_track flow[] = { track(a, 4, 0), track(b, 4, 0) };
    season_track annual[] = { { 0 }, track(year, 3, 1) };
    hydro_tracks tracks = { .seasons = 2, .flow = flow, .annual = annual };
    double scale = sqrt(2.0 / 3);

    (void)state;
    for (int i = 0; i < 2; i++, tracks.is_original = true) {
        NEAR(tracks_annual_correlation(&tracks, 1, 0), -1.0 / 4 / (scale * sqrt(2.5)));
        NEAR(tracks_annual_correlation(&tracks, 1, 1), 2.0 / 4 / (scale * sqrt(1.25)));
        NEAR(tracks_annual_with_next(&tracks, 1), -0.5 / 4 / (scale * sqrt(1.25)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deviations_divide_by_the_number),
        cmocka_unit_test(seasons_are_paired_across_years),
        cmocka_unit_test(years_decide_who_is_paired),
        cmocka_unit_test(long_lags_reach_into_earlier_years),
        cmocka_unit_test(seasons_without_deviation_do_not_correlate),
        cmocka_unit_test(annual_means_divide_by_the_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
