/*
 * correlation.c - fills the correlation profiles and the profile of each stage.
 *
 * A stage has the profile of its schedule, else the default one: the profile of that name, else the
 * only one. Source: the case page, section 7.
 */
#include <string.h>

#include "case/build/builder.h"

static const cobre_registry registries[] = {
    [COBRE_CLASS_INFLOW] = COBRE_HYDROS,
    [COBRE_CLASS_LOAD] = COBRE_BUSES,
    [COBRE_CLASS_NCS] = COBRE_SOURCES,
};

static void set_group(cobre_builder *b, const cobre_raw_group *raw, cobre_correlation_group *group)
{
    size_t *members = cobre_make(b, raw->count, sizeof *members);

    for (size_t i = 0; i < raw->count && members; i++)
        members[i] = cobre_input_index(b->input, registries[raw->members[i].type],
                                       raw->members[i].id);
    *group = (cobre_correlation_group){
        .type = (cobre_noise_class)raw->members[0].type,
        .name = raw->name,
        .members = members,
        .count = raw->count,
        .matrix = raw->matrix,
    };
}

static void set_profile(cobre_builder *b, const cobre_raw_profile *raw,
                        cobre_correlation_profile *profile)
{
    cobre_correlation_group *groups = cobre_make(b, raw->group_count, sizeof *groups);
    size_t count = 0;

    for (size_t i = 0; i < raw->group_count && groups; i++) {
        if (raw->groups[i].count > 0)
            set_group(b, &raw->groups[i], &groups[count++]);
    }
    *profile = (cobre_correlation_profile){ raw->name, groups, count };
}

static void set_schedule(cobre_builder *b, cobre_scenarios *out)
{
    const cobre_raw_correlation *raw = &b->input->correlation;
    size_t *by_stage = cobre_make(b, b->built->stage_count, sizeof *by_stage);

    for (size_t i = 0; i < b->built->stage_count && by_stage; i++)
        by_stage[i] = out->default_profile;
    for (size_t i = 0; i < raw->schedule_count && by_stage; i++) {
        size_t stage = cobre_stage_index(b, raw->schedule[i].stage);
        if (stage != COBRE_NONE)
            by_stage[stage] = raw->schedule[i].profile;
    }
    out->profile_of_stage = by_stage;
}

void cobre_build_correlation(cobre_builder *b)
{
    const cobre_raw_correlation *raw = &b->input->correlation;
    cobre_scenarios *out = &b->built->scenarios;

    if (!raw->present)
        return;
    cobre_correlation_profile *profiles = cobre_make(b, raw->profile_count, sizeof *profiles);
    for (size_t i = 0; i < raw->profile_count && profiles; i++) {
        set_profile(b, &raw->profiles[i], &profiles[i]);
        if (strcmp(raw->profiles[i].name, "default") == 0)
            out->default_profile = i;
    }
    out->has_correlation = true;
    out->profiles = profiles;
    out->profile_count = raw->profile_count;
    set_schedule(b, out);
}
