/*
 * correlation.c - reads correlation.json: profiles of correlated groups, and their schedule.
 *
 * A matrix is square, symmetric to 1e-10, of 1 on the diagonal and within [-1, 1]. Source: the case
 * page, section 7.
 */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "case/read/readers.h"

/* The words of cobre_noise_class. */
static const char *const types[] = { "inflow", "load", "ncs", NULL };

struct root {
    cobre_raw_correlation kept;
    const mcp_json *profiles, *schedule, *groups;
    const char *schema;
};

static const cobre_field root_fields[] = {
    COBRE_F(struct root, "$schema", TEXT, COBRE_OPTIONAL, schema),
    COBRE_F(struct root, "method", TEXT, COBRE_REQUIRED, kept.method),
    COBRE_F(struct root, "profiles", OBJECT, COBRE_REQUIRED, profiles),
    COBRE_F(struct root, "schedule", ARRAY, COBRE_OPTIONAL, schedule), COBRE_FIELDS_END
};
static const cobre_field profile_fields[] = {
    COBRE_F(struct root, "correlation_groups", ARRAY, COBRE_REQUIRED, groups), COBRE_FIELDS_END
};
static const cobre_field group_fields[] = {
    COBRE_F(cobre_raw_group, "name", TEXT, COBRE_REQUIRED, name),
    COBRE_F(cobre_raw_group, "entities", ARRAY, COBRE_REQUIRED, entities_json),
    COBRE_F(cobre_raw_group, "matrix", ARRAY, COBRE_REQUIRED, matrix_json), COBRE_FIELDS_END
};
static const cobre_field member_fields[] = {
    COBRE_C(cobre_raw_member, "type", COBRE_REQUIRED, type, types, -1),
    COBRE_F(cobre_raw_member, "id", INT32, COBRE_REQUIRED, id), COBRE_FIELDS_END
};
static const cobre_field schedule_fields[] = {
    COBRE_F(cobre_raw_schedule, "stage_id", INT32, COBRE_REQUIRED, stage),
    COBRE_F(cobre_raw_schedule, "profile_name", TEXT, COBRE_REQUIRED, profile_name),
    COBRE_FIELDS_END
};

/* ---- matrices -------------------------------------------------------------------------------- */

static void check_entry(cobre_reader *reader, const cobre_raw_group *group, size_t row,
                        size_t column, const char *path)
{
    double value = group->matrix[row * group->count + column];
    double mirror = group->matrix[column * group->count + row];

    if (!(value >= -1 && value <= 1))
        cobre_reader_range(reader, path, value, -1, 1, "must lie in -1 to 1");
    else if (row == column && fabs(value - 1) > DBL_EPSILON)
        cobre_reader_range(reader, path, value, 1, 1, "must be 1 on the diagonal");
    else if (fabs(value - mirror) > 1e-10)
        cobre_reader_violation(reader, path, "a symmetric matrix",
                               cobre_report_text(reader->report,
                                                 "%.12g and %.12g in entries %zu and %zu", value,
                                                 mirror, row, column),
                               "Give both entries of a pair the same value.");
}

static void read_matrix(cobre_reader *reader, const char *prefix, cobre_raw_group *group)
{
    char path[192];

    snprintf(path, sizeof path, "%.150smatrix", prefix);
    if (mcp_json_count(group->matrix_json) != group->count) {
        cobre_reader_violation(
            reader, path, cobre_report_text(reader->report, "%zu rows", group->count),
            cobre_report_text(reader->report, "%zu", mcp_json_count(group->matrix_json)),
            "Give one row per entity.");
        return;
    }
    group->matrix = cobre_reader_array(reader, group->count, group->count * sizeof *group->matrix);
    for (size_t i = 0; i < group->count && !reader->failed; i++) {
        const mcp_json *row = mcp_json_item(group->matrix_json, i);
        snprintf(path, sizeof path, "%.150smatrix[%zu]", prefix, i);
        if (!mcp_json_is_array(row) || mcp_json_count(row) != group->count) {
            cobre_reader_violation(reader, path,
                                   cobre_report_text(reader->report, "%zu numbers", group->count),
                                   mcp_json_is_array(row) ? cobre_report_text(reader->report, "%zu",
                                                                              mcp_json_count(row))
                                                          : "no array",
                                   "Give one number per entity.");
            return;
        }
        const double *values = cobre_reader_numbers(reader, row, path);
        if (values)
            memcpy(&group->matrix[i * group->count], values, group->count * sizeof *values);
    }
    for (size_t i = 0; i < group->count && !reader->failed; i++) {
        snprintf(path, sizeof path, "%.150smatrix[%zu]", prefix, i);
        for (size_t k = 0; k < group->count && !reader->failed; k++)
            check_entry(reader, group, i, k, path);
    }
}

/* ---- profiles -------------------------------------------------------------------------------- */

static void read_group(cobre_reader *reader, const mcp_json *json, const char *place,
                       cobre_raw_group *group)
{
    char path[192];

    if (!cobre_reader_is_object(reader, json, place))
        return;
    snprintf(path, sizeof path, "%s.", place);
    cobre_read_fields(reader, json, path, group_fields, group);
    if (reader->failed)
        return;
    group->count = mcp_json_count(group->entities_json);
    group->members = cobre_reader_array(reader, group->count, sizeof *group->members);
    for (size_t i = 0; i < group->count && !reader->failed; i++) {
        const mcp_json *item = mcp_json_item(group->entities_json, i);
        snprintf(path, sizeof path, "%.150s.entities[%zu]", place, i);
        if (!cobre_reader_is_object(reader, item, path))
            return;
        snprintf(path, sizeof path, "%.150s.entities[%zu].", place, i);
        cobre_read_fields(reader, item, path, member_fields, &group->members[i]);
    }
    snprintf(path, sizeof path, "%s.", place);
    if (!reader->failed)
        read_matrix(reader, path, group);
}

static void read_profile(cobre_reader *reader, const mcp_json *profiles, size_t index,
                         cobre_raw_profile *profile)
{
    const mcp_json *json = mcp_json_item(profiles, index);
    struct root root = { 0 };
    char path[128];

    profile->name = mcp_json_name(profiles, index, NULL);
    snprintf(path, sizeof path, "profiles.%.48s", profile->name);
    if (!cobre_reader_is_object(reader, json, path))
        return;
    snprintf(path, sizeof path, "profiles.%.48s.", profile->name);
    cobre_read_fields(reader, json, path, profile_fields, &root);
    profile->group_count = mcp_json_count(root.groups);
    profile->groups = cobre_reader_array(reader, profile->group_count, sizeof *profile->groups);
    for (size_t i = 0; i < profile->group_count && !reader->failed; i++) {
        snprintf(path, sizeof path, "profiles.%.48s.correlation_groups[%zu]", profile->name, i);
        read_group(reader, mcp_json_item(root.groups, i), path, &profile->groups[i]);
    }
}

/* ---- schedule -------------------------------------------------------------------------------- */

static void find_profile(cobre_reader *reader, const char *place, const cobre_raw_correlation *kept,
                         cobre_raw_schedule *entry)
{
    char path[96];

    for (size_t i = 0; i < kept->profile_count; i++) {
        if (strcmp(kept->profiles[i].name, entry->profile_name) == 0) {
            entry->profile = i;
            return;
        }
    }
    snprintf(path, sizeof path, "%sprofile_name", place);
    cobre_reader_violation(reader, path, "the name of a profile",
                           cobre_report_text(reader->report,
                                             "'%.60s', which profiles does not hold",
                                             entry->profile_name),
                           "Name one of the profiles of this file.");
}

static void read_schedule(cobre_reader *reader, const mcp_json *array, cobre_raw_correlation *kept)
{
    char path[64];

    kept->schedule_count = mcp_json_count(array);
    kept->schedule = cobre_reader_array(reader, kept->schedule_count, sizeof *kept->schedule);
    for (size_t i = 0; i < kept->schedule_count && !reader->failed; i++) {
        const mcp_json *json = mcp_json_item(array, i);
        snprintf(path, sizeof path, "schedule[%zu]", i);
        if (!cobre_reader_is_object(reader, json, path))
            return;
        snprintf(path, sizeof path, "schedule[%zu].", i);
        cobre_read_fields(reader, json, path, schedule_fields, &kept->schedule[i]);
        if (!reader->failed)
            find_profile(reader, path, kept, &kept->schedule[i]);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

void cobre_read_correlation(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    struct root members = { 0 };
    cobre_raw_correlation *kept = &members.kept;

    cobre_read_fields(reader, root, "", root_fields, &members);
    if (!reader->failed && kept->method[0] == '\0')
        cobre_reader_violation(reader, "method", "a method", "an empty text", "Use spectral.");
    if (!reader->failed && mcp_json_count(members.profiles) == 0)
        cobre_reader_violation(reader, "profiles", "at least one profile", "none",
                               "Name one profile default, or remove the file.");
    if (reader->failed)
        return;
    kept->profile_count = mcp_json_count(members.profiles);
    kept->profiles = cobre_reader_array(reader, kept->profile_count, sizeof *kept->profiles);
    for (size_t i = 0; i < kept->profile_count && !reader->failed; i++)
        read_profile(reader, members.profiles, i, &kept->profiles[i]);
    if (!reader->failed)
        read_schedule(reader, members.schedule, kept);
    for (size_t i = 0; i < kept->profile_count && !reader->failed; i++)
        input->entries[COBRE_FILE_CORRELATION] += kept->profiles[i].group_count;
    kept->present = !reader->failed;
    input->correlation = *kept;
}

/* ---- the shape ------------------------------------------------------------------------------- */

static const cobre_shape entry = { .kind = COBRE_SHAPE_NUMBER, .min = -1, .max = 1 };
static const cobre_shape matrix_row = { .kind = COBRE_SHAPE_LIST, .of = &entry };
static const cobre_shape matrix = { .kind = COBRE_SHAPE_LIST, .of = &matrix_row };
static const cobre_shape member = { .tables = { member_fields } };
static const cobre_shape members = { .kind = COBRE_SHAPE_LIST, .of = &member };
static const cobre_joint group_joints[] = { { "entities", &members },
                                            { "matrix", &matrix },
                                            { NULL, NULL } };
static const cobre_shape group_shape = { .tables = { group_fields }, .joints = group_joints };
static const cobre_shape groups = { .kind = COBRE_SHAPE_LIST, .of = &group_shape };
static const cobre_joint profile_joints[] = { { "correlation_groups", &groups }, { NULL, NULL } };
static const cobre_shape profile_shape = { .tables = { profile_fields }, .joints = profile_joints };
static const cobre_shape profiles = { .kind = COBRE_SHAPE_MAP, .of = &profile_shape, .least = 1 };
static const cobre_shape scheduled = { .tables = { schedule_fields } };
static const cobre_shape schedule = { .kind = COBRE_SHAPE_LIST, .of = &scheduled };
static const cobre_shape method = { .kind = COBRE_SHAPE_TEXT, .pattern = "." };
static const cobre_joint root_joints[] = {
    { "method", &method }, { "profiles", &profiles }, { "schedule", &schedule }, { NULL, NULL }
};

const cobre_shape cobre_shape_correlation = { .tables = { root_fields }, .joints = root_joints };
