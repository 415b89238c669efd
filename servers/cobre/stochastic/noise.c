/*
 * noise.c - who has a place in a noise vector, and which stages share one.
 */
#include "stochastic/noise.h"

#include <string.h>

static size_t entities_of(const cobre_case *input, cobre_noise_class class)
{
    switch (class) {
    case COBRE_CLASS_INFLOW:
        return input->hydro_count;
    case COBRE_CLASS_LOAD:
        return input->bus_count;
    default:
        return input->source_count;
    }
}

static bool is_stochastic(const cobre_case *input, cobre_noise_class class, size_t entity)
{
    switch (class) {
    case COBRE_CLASS_INFLOW:
        return true;
    case COBRE_CLASS_LOAD:
        return input->bus_is_stochastic[entity];
    default:
        return input->sources[entity].is_stochastic;
    }
}

noise_range noise_of_class(const cobre_case *input, cobre_noise_class class)
{
    noise_range range = { 0, 0 };

    for (int c = COBRE_CLASS_INFLOW; c <= (int)class; c++) {
        range.first += range.count;
        range.count = 0;
        for (size_t i = 0; i < entities_of(input, (cobre_noise_class)c); i++)
            range.count += is_stochastic(input, (cobre_noise_class)c, i);
    }
    return range;
}

size_t noise_dimension(const cobre_case *input)
{
    noise_range last = noise_of_class(input, COBRE_CLASS_NCS);
    return last.first + last.count;
}

size_t noise_place(const cobre_case *input, cobre_noise_class class, size_t entity)
{
    size_t place = noise_of_class(input, class).first;

    if (entity >= entities_of(input, class) || !is_stochastic(input, class, entity))
        return COBRE_NONE;
    for (size_t i = 0; i < entity; i++)
        place += is_stochastic(input, class, i);
    return place;
}

/* Dates are YYYY-MM-DD: the year ends at the first dash. */
static bool same_year(const char *a, const char *b)
{
    size_t length = strcspn(a, "-");
    return length == strcspn(b, "-") && strncmp(a, b, length) == 0;
}

static bool same_group(const cobre_stage *a, const cobre_stage *b)
{
    return a->has_season && b->has_season && a->season_id == b->season_id &&
           same_year(a->start_date, b->start_date);
}

const uint32_t *noise_groups(const cobre_case *input, mcp_arena *arena)
{
    uint32_t *groups = mcp_arena_array(arena, input->stage_count, sizeof *groups);
    uint32_t count = 0;

    for (size_t t = 0; groups && t < input->stage_count; t++) {
        size_t like = 0;
        while (like < t && !same_group(&input->stages[like], &input->stages[t]))
            like++;
        groups[t] = like < t ? groups[like] : count++;
    }
    return groups;
}
