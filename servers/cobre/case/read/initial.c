/*
 * initial.c - reads initial_conditions.json: storages, past inflows, recent observations.
 *
 * A hydro has at most one entry per array, and never one in both storage arrays.
 * Source: the case page, section 4.
 */
#include <stdio.h>
#include <stdlib.h>

#include "case/read/readers.h"

struct root {
    const mcp_json *storage, *filling, *past, *recent;
    const char *schema;
};

static const cobre_field root_fields[] = {
    COBRE_F(struct root, "$schema", TEXT, COBRE_OPTIONAL, schema),
    COBRE_F(struct root, "storage", ARRAY, COBRE_REQUIRED, storage),
    COBRE_F(struct root, "filling_storage", ARRAY, COBRE_REQUIRED, filling),
    COBRE_F(struct root, "past_inflows", ARRAY, COBRE_OPTIONAL, past),
    COBRE_F(struct root, "recent_observations", ARRAY, COBRE_OPTIONAL, recent),
    COBRE_FIELDS_END
};

static const cobre_field storage_fields[] = {
    COBRE_F(cobre_raw_storage, "hydro_id", INT32, COBRE_REQUIRED, hydro),
    COBRE_F(cobre_raw_storage, "value_hm3", REAL, COBRE_REQUIRED | COBRE_NOT_NEGATIVE, value),
    COBRE_FIELDS_END
};

/* Set the current hydro, for the findings that follow. */
static void at_hydro(cobre_reader *reader, const mcp_json *entry)
{
    reader->noun = "hydro";
    reader->has_id = mcp_json_int(mcp_json_get(entry, "hydro_id"), &reader->id);
}

/* "name[index]" when the entry is an object; else NULL and reported. */
static const char *entry_prefix(cobre_reader *reader, const mcp_json *entry, const char *name,
                                size_t index, char *prefix, size_t size)
{
    snprintf(prefix, size, "%s[%zu]", name, index);
    if (!cobre_reader_is_object(reader, entry, prefix))
        return NULL;
    snprintf(prefix, size, "%s[%zu].", name, index);
    at_hydro(reader, entry);
    return prefix;
}

static int compare(const void *a, const void *b)
{
    int64_t x = ((const cobre_raw_storage *)a)->hydro, y = ((const cobre_raw_storage *)b)->hydro;

    return x < y ? -1 : x > y;
}

static void refuse_repeats(cobre_reader *reader, const char *array, cobre_raw_storage *list,
                           size_t count)
{
    if (count > 1 && !reader->failed)
        qsort(list, count, sizeof *list, compare);
    for (size_t i = 1; i < count && !reader->failed; i++) {
        if (list[i - 1].hydro == list[i].hydro) {
            reader->noun = "hydro";
            cobre_reader_duplicate(reader, "hydro_id", list[i].hydro, array);
        }
    }
}

static void read_storages(cobre_reader *reader, const mcp_json *array, const char *name,
                          cobre_raw_storage **out, size_t *out_count)
{
    size_t count = mcp_json_count(array);
    cobre_raw_storage *list = cobre_reader_array(reader, count, sizeof *list);
    char prefix[64];

    for (size_t i = 0; i < count && !reader->failed; i++) {
        const mcp_json *entry = mcp_json_item(array, i);
        if (entry_prefix(reader, entry, name, i, prefix, sizeof prefix))
            cobre_read_fields(reader, entry, prefix, storage_fields, &list[i]);
    }
    refuse_repeats(reader, name, list, count);
    *out = list;
    *out_count = reader->failed ? 0 : count;
}

/* Both lists are sorted by hydro. */
static void refuse_both(cobre_reader *reader, const cobre_input *input)
{
    size_t i = 0, k = 0;

    while (!reader->failed && i < input->storage_count && k < input->filling_storage_count) {
        int64_t a = input->storages[i].hydro, b = input->filling_storages[k].hydro;
        if (a == b) {
            reader->noun = "hydro";
            reader->has_id = true;
            reader->id = a;
            cobre_reader_violation(reader, "filling_storage", "a hydro in one array only",
                                   "one in storage and in filling_storage",
                                   "Remove the hydro from one of the two arrays.");
        }
        i += a <= b;
        k += b <= a;
    }
}

/* ---- past inflows ---------------------------------------------------------------------------- */

struct past_members {
    int64_t hydro;
    const mcp_json *values, *seasons;
};

static const cobre_field past_fields[] = {
    COBRE_F(struct past_members, "hydro_id", INT32, COBRE_REQUIRED, hydro),
    COBRE_F(struct past_members, "values_m3s", ARRAY, COBRE_REQUIRED, values),
    COBRE_F(struct past_members, "season_ids", ARRAY, COBRE_OPTIONAL, seasons), COBRE_FIELDS_END
};

static void read_seasons(cobre_reader *reader, const char *path, const mcp_json *array,
                         cobre_raw_past *past)
{
    uint64_t season = 0;

    if (mcp_json_count(array) != past->count) {
        cobre_reader_violation(reader, path, "as many as values_m3s", "another number of entries",
                               "Give one season id per value, or none at all.");
        return;
    }
    past->seasons = cobre_reader_array(reader, past->count, sizeof *past->seasons);
    for (size_t i = 0; i < past->count && !reader->failed; i++) {
        if (!mcp_json_uint(mcp_json_item(array, i), &season))
            cobre_reader_type(reader, path, "array of integers", mcp_json_item(array, i));
        else if (season > UINT32_MAX)
            cobre_reader_range(reader, path, (double)season, 0, UINT32_MAX, "must fit 32 bits");
        else
            past->seasons[i] = (int64_t)season;
    }
}

static void read_past_entry(cobre_reader *reader, const char *prefix, const mcp_json *entry,
                            cobre_raw_past *past)
{
    struct past_members members;
    char path[96];

    cobre_read_fields(reader, entry, prefix, past_fields, &members);
    if (reader->failed)
        return;
    past->hydro = members.hydro;
    past->count = mcp_json_count(members.values);
    snprintf(path, sizeof path, "%svalues_m3s", prefix);
    past->values = cobre_reader_numbers(reader, members.values, path);
    snprintf(path, sizeof path, "%sseason_ids", prefix);
    if (!reader->failed && members.seasons)
        read_seasons(reader, path, members.seasons, past);
}

static int compare_past(const void *a, const void *b)
{
    int64_t x = ((const cobre_raw_past *)a)->hydro, y = ((const cobre_raw_past *)b)->hydro;

    return x < y ? -1 : x > y;
}

static void read_past(cobre_reader *reader, const mcp_json *array, cobre_input *input)
{
    size_t count = mcp_json_count(array);
    cobre_raw_past *list = cobre_reader_array(reader, count, sizeof *list);
    char prefix[64];

    for (size_t i = 0; i < count && !reader->failed; i++) {
        const mcp_json *entry = mcp_json_item(array, i);
        if (entry_prefix(reader, entry, "past_inflows", i, prefix, sizeof prefix))
            read_past_entry(reader, prefix, entry, &list[i]);
    }
    if (count > 1 && !reader->failed)
        qsort(list, count, sizeof *list, compare_past);
    for (size_t i = 1; i < count && !reader->failed; i++) {
        if (list[i - 1].hydro == list[i].hydro)
            cobre_reader_duplicate(reader, "hydro_id", list[i].hydro, "past_inflows");
    }
    input->past_inflows = list;
    input->past_inflow_count = reader->failed ? 0 : count;
}

/* ---- recent observations --------------------------------------------------------------------- */

static const cobre_field observation_fields[] = {
    COBRE_F(cobre_raw_recent, "hydro_id", INT32, COBRE_REQUIRED, hydro),
    COBRE_F(cobre_raw_recent, "start_date", DATE, COBRE_REQUIRED, start),
    COBRE_F(cobre_raw_recent, "end_date", DATE, COBRE_REQUIRED, end),
    COBRE_F(cobre_raw_recent, "value_m3s", REAL, COBRE_REQUIRED | COBRE_NOT_NEGATIVE, value),
    COBRE_FIELDS_END
};

static int compare_observations(const void *a, const void *b)
{
    const cobre_raw_recent *x = a, *y = b;

    if (x->hydro != y->hydro)
        return x->hydro < y->hydro ? -1 : 1;
    return x->start.day < y->start.day ? -1 : x->start.day > y->start.day;
}

static void refuse_overlaps(cobre_reader *reader, cobre_raw_recent *list, size_t count)
{
    if (count > 1 && !reader->failed)
        qsort(list, count, sizeof *list, compare_observations);
    for (size_t i = 1; i < count && !reader->failed; i++) {
        if (list[i].hydro != list[i - 1].hydro || list[i].start.day >= list[i - 1].end.day)
            continue;
        reader->noun = "hydro";
        reader->has_id = true;
        reader->id = list[i].hydro;
        cobre_reader_violation(
            reader, "recent_observations", "ranges that do not overlap",
            cobre_report_text(reader->report, "one from %s within another", list[i].start.text),
            "End a range (exclusive) where the next begins, or before.");
    }
}

static void read_recent(cobre_reader *reader, const mcp_json *array, cobre_input *input)
{
    size_t count = mcp_json_count(array);
    cobre_raw_recent *list = cobre_reader_array(reader, count, sizeof *list);
    char prefix[64];

    for (size_t i = 0; i < count && !reader->failed; i++) {
        const mcp_json *entry = mcp_json_item(array, i);
        if (!entry_prefix(reader, entry, "recent_observations", i, prefix, sizeof prefix))
            return;
        cobre_read_fields(reader, entry, prefix, observation_fields, &list[i]);
        if (!reader->failed && list[i].start.day >= list[i].end.day)
            cobre_reader_violation(reader, "recent_observations", "end_date after start_date",
                                   list[i].end.text, "The end date is exclusive.");
    }
    refuse_overlaps(reader, list, count);
    input->recent = list;
    input->recent_count = reader->failed ? 0 : count;
}

/* ---- the file -------------------------------------------------------------------------------- */

void cobre_read_initial(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    struct root members;

    cobre_read_fields(reader, root, "", root_fields, &members);
    if (reader->failed)
        return;
    read_storages(reader, members.storage, "storage", &input->storages, &input->storage_count);
    if (!reader->failed)
        read_storages(reader, members.filling, "filling_storage", &input->filling_storages,
                      &input->filling_storage_count);
    refuse_both(reader, input);
    if (!reader->failed)
        read_past(reader, members.past, input);
    if (!reader->failed)
        read_recent(reader, members.recent, input);
}

/* ---- the shape ------------------------------------------------------------------------------- */

static const cobre_shape number = { .kind = COBRE_SHAPE_NUMBER };
static const cobre_shape season_id = { .kind = COBRE_SHAPE_INTEGER, .max = UINT32_MAX };
static const cobre_shape values = { .kind = COBRE_SHAPE_LIST, .of = &number };
static const cobre_shape season_ids = { .kind = COBRE_SHAPE_LIST, .of = &season_id };
static const cobre_joint past_joints[] = { { "values_m3s", &values },
                                           { "season_ids", &season_ids },
                                           { NULL, NULL } };
static const cobre_shape storage = { .tables = { storage_fields } };
static const cobre_shape past_entry = { .tables = { past_fields }, .joints = past_joints };
static const cobre_shape observation = { .tables = { observation_fields } };
static const cobre_shape storages = { .kind = COBRE_SHAPE_LIST, .of = &storage };
static const cobre_shape past_list = { .kind = COBRE_SHAPE_LIST, .of = &past_entry };
static const cobre_shape observations = { .kind = COBRE_SHAPE_LIST, .of = &observation };
static const cobre_joint root_joints[] = { { "storage", &storages },
                                           { "filling_storage", &storages },
                                           { "past_inflows", &past_list },
                                           { "recent_observations", &observations },
                                           { NULL, NULL } };

const cobre_shape cobre_shape_initial = { .tables = { root_fields }, .joints = root_joints };
