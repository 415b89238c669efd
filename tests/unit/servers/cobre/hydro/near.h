/*
 * near.h - the comparison of numbers in the tests of the hydro models.
 */
#ifndef TESTS_HYDRO_NEAR_H
#define TESTS_HYDRO_NEAR_H

#include <math.h>

#define assert_near(value, expected, tolerance)                                                    \
    do {                                                                                           \
        double value_ = (value), expected_ = (expected);                                           \
        if (!(fabs(value_ - expected_) <= (tolerance)))                                            \
            fail_msg("%s is %.17g, expected %.17g", #value, value_, expected_);                    \
    } while (0)

#endif
