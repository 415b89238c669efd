/*
 * rng.c - xoshiro128** and what is drawn from it (universe.md 13.1).
 *
 * Where the formulas would give infinity (log of 0) the draw is made again.
 */
#include "generate/system/rng.h"

#include <math.h>

#define FNV_OFFSET 2166136261u
#define FNV_PRIME 16777619u
#define PI 3.141592653589793

static uint32_t rotl(uint32_t x, int k)
{
    return k == 0 ? x : (x << k) | (x >> (32 - k));
}

static uint32_t split_mix(uint32_t *state)
{
    uint32_t z = *state += 0x9e3779b9u;
    z = (z ^ (z >> 16)) * 0x85ebca6bu;
    z = (z ^ (z >> 13)) * 0xc2b2ae35u;
    return z ^ (z >> 16);
}

universe_rng universe_rng_number(uint32_t seed)
{
    universe_rng rng;
    for (int i = 0; i < 4; i++)
        rng.s[i] = split_mix(&seed);
    if ((rng.s[0] | rng.s[1] | rng.s[2] | rng.s[3]) == 0)
        rng.s[0] = 1;
    return rng;
}

/* ---- text as UTF-16 -------------------------------------------------------------------------- */

static uint32_t fnv_unit(uint32_t hash, uint32_t unit)
{
    return (hash ^ unit) * FNV_PRIME;
}

/* The code point at `text`, which is valid UTF-8, and how many bytes it has. */
static uint32_t code_point(const unsigned char *text, size_t left, size_t *bytes)
{
    size_t n = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    if (n > left)
        n = 1;
    uint32_t point = n == 1 ? text[0] : text[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++)
        point = point << 6 | (text[i] & 0x3f);
    *bytes = n;
    return point;
}

static uint32_t fnv_text(const char *text, size_t length)
{
    uint32_t hash = FNV_OFFSET;
    for (size_t at = 0, bytes = 0; at < length; at += bytes) {
        uint32_t point = code_point((const unsigned char *)text + at, length - at, &bytes);
        if (point >= 0x10000) {
            hash = fnv_unit(hash, 0xd800 + ((point - 0x10000) >> 10));
            point = 0xdc00 + ((point - 0x10000) & 0x3ff);
        }
        hash = fnv_unit(hash, point);
    }
    return hash;
}

universe_rng universe_rng_text(const char *text, size_t length)
{
    return universe_rng_number(fnv_text(text, length));
}

universe_rng universe_rng_fork(const universe_rng *rng, const char *label)
{
    static const int turns[4] = { 0, 8, 16, 24 };
    universe_rng copy = *rng, fork;
    size_t length = 0;
    while (label[length])
        length++;
    uint32_t hash = fnv_text(label, length);
    for (int i = 0; i < 4; i++)
        fork.s[i] = universe_rng_next(&copy) ^ rotl(hash, turns[i]);
    return fork;
}

/* ---- draws ----------------------------------------------------------------------------------- */

uint32_t universe_rng_next(universe_rng *rng)
{
    uint32_t *s = rng->s;
    uint32_t result = rotl(s[1] * 5, 7) * 9;
    uint32_t t = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 11);
    return result;
}

double universe_rng_float(universe_rng *rng)
{
    double high = universe_rng_next(rng) >> 5;
    double low = universe_rng_next(rng) >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

int64_t universe_rng_int(universe_rng *rng, int64_t min, int64_t max)
{
    uint64_t range = (uint64_t)(max - min) + 1;
    if (max <= min)
        return min;
    uint64_t limit = 4294967296u / range * range;
    uint32_t draw = 0;
    do
        draw = universe_rng_next(rng);
    while (draw >= limit);
    return min + (int64_t)(draw % range);
}

bool universe_rng_bool(universe_rng *rng, double p)
{
    return universe_rng_float(rng) < p;
}

double universe_rng_uniform(universe_rng *rng, double min, double max)
{
    return min + universe_rng_float(rng) * (max - min);
}

double universe_rng_normal(universe_rng *rng, double mean, double sigma)
{
    double u1 = 0;
    do
        u1 = universe_rng_float(rng);
    while (u1 == 0);
    double u2 = universe_rng_float(rng);
    return sqrt(-2 * log(u1)) * cos(2 * PI * u2) * sigma + mean;
}

double universe_rng_log_normal(universe_rng *rng, double mean, double sigma)
{
    return exp(universe_rng_normal(rng, mean, sigma));
}

int64_t universe_rng_geometric(universe_rng *rng, double p)
{
    double u = 0;
    if (!(p > 0 && p < 1))
        return 0;
    do
        u = universe_rng_float(rng);
    while (u == 0);
    return (int64_t)floor(log(u) / log(1 - p));
}

size_t universe_rng_weighted(universe_rng *rng, const double *weights, size_t count)
{
    double total = 0;
    for (size_t i = 0; i < count; i++)
        total += weights[i];
    double r = universe_rng_float(rng) * total;
    for (size_t i = 0; i < count; i++) {
        r -= weights[i];
        if (r <= 0)
            return i;
    }
    return count - 1;
}
