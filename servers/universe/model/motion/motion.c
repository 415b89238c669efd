/*
 * motion.c - the motion of bound bodies and of rogues.
 *
 * Nothing is integrated: the angle is uniform in time, the orbit an ellipse round the parent,
 * turned about z, y and x and moved. Angles are brought into a right angle in degrees, where that
 * is exact, before they become radians, so a clock of 1e15 seconds costs no more digits than its
 * product with the speed already has. Speeds and periods may be any finite number: where their
 * product with the time is not finite, the angle on the orbit is 0.
 */
#include "model/motion/motion.h"

#include <math.h>
#include <string.h>

#define RADIANS 0.017453292519943295 /* of a degree */
#define ROUNDER 6755399441055744.0   /* 1.5 * 2^52: the sum has the integer in its lowest bits */
#define EXACT_MAX 4e15               /* multiples of 90 up to here are exact */

/* Four at once: the angle of a body and the three by which its orbit is turned. */
typedef double four __attribute__((vector_size(32)));
typedef int64_t four_bits __attribute__((vector_size(32)));

/* Taylor's series: on 45 degrees the first term left out is below 1e-17. */
static void series(four *sine, four *cosine, const four *angle)
{
    four x = *angle;
    four q = x * x;
    four s = q * (1.0 / 355687428096000) - 1.0 / 1307674368000;
    four c = q * (1.0 / 20922789888000) - 1.0 / 87178291200;

    s = s * q + 1.0 / 6227020800;
    c = c * q + 1.0 / 479001600;
    s = s * q - 1.0 / 39916800;
    c = c * q - 1.0 / 3628800;
    s = s * q + 1.0 / 362880;
    c = c * q + 1.0 / 40320;
    s = s * q - 1.0 / 5040;
    c = c * q - 1.0 / 720;
    s = s * q + 1.0 / 120;
    c = c * q + 1.0 / 24;
    s = s * q - 1.0 / 6;
    c = c * q - 0.5;
    *sine = x + x * q * s;
    *cosine = 1 + q * c;
}

/* Which quarter the angle lies in says which series is which, and the signs. */
static void sincos_four(four *sine, four *cosine, four *degrees)
{
    for (int i = 0; i < 4; i++)
        if (!(fabs((*degrees)[i]) < EXACT_MAX))
            (*degrees)[i] = fmod((*degrees)[i], 360);
    four rounded = *degrees * (1.0 / 90) + ROUNDER;
    four_bits quarter = (four_bits)rounded;
    four rest = (*degrees - (rounded - ROUNDER) * 90) * RADIANS;
    four s;
    four c;

    series(&s, &c, &rest);
    four_bits swapped = -(quarter & 1);
    four_bits sine_bits = ((four_bits)c & swapped) | ((four_bits)s & ~swapped);
    four_bits cosine_bits = ((four_bits)s & swapped) | ((four_bits)c & ~swapped);
    *sine = (four)(sine_bits ^ (quarter & 2) << 62);
    *cosine = (four)(cosine_bits ^ ((quarter + 1) & 2) << 62);
}

void universe_sincos(double degrees, double *sine, double *cosine)
{
    four angles = { degrees, 0, 0, 0 };
    four s;
    four c;

    sincos_four(&s, &c, &angles);
    *sine = s[0] + 0.0;
    *cosine = c[0] + 0.0;
}

/* The optional numbers that a motion uses, absent ones being zero; `from` and `count` in slots. */
static void read_slots(double *out, const universe_orbit *orbit, unsigned from, unsigned count)
{
    uint32_t mask = orbit->mask >> from;
    const double *value = orbit->values + __builtin_popcount(orbit->mask & ((1u << from) - 1));

    for (unsigned i = 0; i < count; i++)
        out[i] = mask >> i & 1 ? *value++ : 0;
}

/* An ellipse in the plane of x and z, turned about z, then y, then x. */
static void add_ellipse(double xyz[3], double a, double e, double degrees, const double offset[3],
                        const double rotation[3])
{
    four angles = { isfinite(degrees) ? degrees : 0, rotation[0], rotation[1], rotation[2] };
    four s;
    four c;

    sincos_four(&s, &c, &angles);
    double x = a * c[0];
    double z = e == 0 ? a * s[0] : a * sqrt(1 - e * e) * s[0];
    double y = x * s[3];
    x *= c[3];
    double turned = x * c[2] + z * s[2];
    z = -x * s[2] + z * c[2];
    x = turned;
    turned = y * c[1] - z * s[1];
    z = y * s[1] + z * c[1];
    xyz[0] += x + offset[0];
    xyz[1] += turned + offset[1];
    xyz[2] += z + offset[2];
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

void universe_motion_add(double xyz[3], const universe_body *body, const universe_orbit *orbit,
                         double time)
{
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
