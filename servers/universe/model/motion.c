/*
 * motion.c - the motion of bound bodies and of rogues.
 *
 * Nothing is integrated: the angle is uniform in time, the orbit an ellipse round the parent, turned about z, y and x and
 * moved. Angles are brought into a right angle in degrees, where that is exact, before they become radians, so a clock
 * of 1e15 seconds costs no more digits than its product with the speed already has.
 */
#include "model/motion.h"

#include <math.h>
#include <string.h>

#include "model/entity.h"

#define RADIANS 0.017453292519943295 /* of a degree */
#define ROUNDER 6755399441055744.0 /* 1.5 * 2^52: adding and subtracting it rounds to an integer */
#define EXACT_MAX 4e15             /* multiples of 90 up to here are exact */

/* Taylor's series: on 45 degrees the first term left out is below 1e-17. */
static double sine_of(double x)
{
    double q = x * x;
    double sum = 1.0 / 355687428096000;

    sum = sum * q - 1.0 / 1307674368000;
    sum = sum * q + 1.0 / 6227020800;
    sum = sum * q - 1.0 / 39916800;
    sum = sum * q + 1.0 / 362880;
    sum = sum * q - 1.0 / 5040;
    sum = sum * q + 1.0 / 120;
    sum = sum * q - 1.0 / 6;
    return x + x * q * sum;
}

static double cosine_of(double x)
{
    double q = x * x;
    double sum = 1.0 / 20922789888000;

    sum = sum * q - 1.0 / 87178291200;
    sum = sum * q + 1.0 / 479001600;
    sum = sum * q - 1.0 / 3628800;
    sum = sum * q + 1.0 / 40320;
    sum = sum * q - 1.0 / 720;
    sum = sum * q + 1.0 / 24;
    sum = sum * q - 0.5;
    return 1 + q * sum;
}

void universe_sincos(double degrees, double *sine, double *cosine)
{
    if (!(fabs(degrees) < EXACT_MAX))
        degrees = fmod(degrees, 360);
    double quarters = degrees * (1.0 / 90) + ROUNDER - ROUNDER;
    double rest = (degrees - quarters * 90) * RADIANS;
    double s = sine_of(rest);
    double c = cosine_of(rest);
    unsigned quarter = isfinite(quarters) ? (unsigned)((int64_t)quarters & 3) : 0;

    *sine = quarter & 1 ? c : s;
    *cosine = quarter & 1 ? s : c;
    if (quarter & 2)
        *sine = -*sine;
    if (quarter == 1 || quarter == 2)
        *cosine = -*cosine;
}

/* Turn `p` about z, then y, then x. */
static void turn(double p[3], const double degrees[3])
{
    double s;
    double c;
    double x = p[0];
    double y = p[1];
    double z = p[2];

    if (degrees[2] != 0) {
        universe_sincos(degrees[2], &s, &c);
        double turned = x * c - y * s;
        y = x * s + y * c;
        x = turned;
    }
    if (degrees[1] != 0) {
        universe_sincos(degrees[1], &s, &c);
        double turned = x * c + z * s;
        z = -x * s + z * c;
        x = turned;
    }
    if (degrees[0] != 0) {
        universe_sincos(degrees[0], &s, &c);
        double turned = y * c - z * s;
        z = y * s + z * c;
        y = turned;
    }
    p[0] = x;
    p[1] = y;
    p[2] = z;
}

/* The optional numbers that a motion uses, absent ones being zero; `from` and `count` in slots. */
static void read_slots(double *out, const universe_orbit *orbit, unsigned from, unsigned count)
{
    uint32_t mask = orbit->mask >> from;
    const double *value = orbit->values + __builtin_popcount(orbit->mask & ((1u << from) - 1));

    for (unsigned i = 0; i < count; i++)
        out[i] = mask >> i & 1 ? *value++ : 0;
}

static void add_ellipse(double xyz[3], double a, double e, double degrees, const double offset[3],
                        const double rotation[3])
{
    double s;
    double c;

    universe_sincos(degrees, &s, &c);
    double p[3] = { a * c, 0, e == 0 ? a * s : a * sqrt(1 - e * e) * s };
    turn(p, rotation);
    for (int i = 0; i < 3; i++)
        xyz[i] += p[i] + offset[i];
}

static void add_path(double xyz[3], const universe_orbit *orbit, double time)
{
    double slots[UNIVERSE_O_SLOTS];

    read_slots(slots, orbit, 0, UNIVERSE_O_SLOTS);
    const double *start = slots + UNIVERSE_O_START;
    const double *velocity = slots + UNIVERSE_O_VELOCITY;
    const double *offset = slots + UNIVERSE_O_PATH_OFFSET;
    if (slots[UNIVERSE_O_CURVATURE] == 0) {
        for (int i = 0; i < 3; i++)
            xyz[i] += start[i] + velocity[i] * time;
        return;
    }
    double a = universe_orbit_value(orbit, UNIVERSE_O_PATH_AXIS, 100);
    double period = universe_orbit_value(orbit, UNIVERSE_O_PATH_PERIOD, 5 * a);
    double centre[3] = { start[0] + offset[0], start[1] + offset[1], start[2] + offset[2] };
    add_ellipse(xyz, a, slots[UNIVERSE_O_PATH_ECCENTRICITY], time * (360 / period), centre,
                slots + UNIVERSE_O_PATH_ROTATION);
}

void universe_motion_add(double xyz[3], const universe_core *core, const universe_body *body,
                         double time)
{
    const universe_orbit *orbit = universe_orbit_of(core, body);
    double slots[UNIVERSE_O_MEMBERS];

    if (body->row.flags & UNIVERSE_ROGUE && body->row.flags & UNIVERSE_DRIFTS) {
        add_path(xyz, orbit, time);
        return;
    }
    if (body->distance == 0)
        return;
    read_slots(slots, orbit, 0, UNIVERSE_O_MEMBERS);
    double a = orbit->mask & 1 ? slots[UNIVERSE_O_AXIS] : body->distance;
    add_ellipse(xyz, a, slots[UNIVERSE_O_ECCENTRICITY], time * body->speed + body->phase,
                slots + UNIVERSE_O_OFFSET, slots + UNIVERSE_O_ROTATION);
}
