/*
 * optional.c - reads the optional JSON files: block factors, and what this version does not model.
 *
 * Factors of loads, of non-controllable sources and of exchanges have one form; the entries are
 * flattened to one record per block. Of production models, correlations and generic constraints
 * only the shape is checked and the entries are counted, so that unsupported.c can refuse a file
 * that is not empty. Source: the case page, sections 6.9, 7 and 8.1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/read/readers.h"

/* The array of a file's only key; NULL, reported, when it is absent. */
static const mcp_json *root_array(cobre_reader *reader, const mcp_json *root, const char *key)
{
    const mcp_json *array = NULL;
    const cobre_field fields[] = { { key, COBRE_FIELD_ARRAY, COBRE_REQUIRED, 0, 0, false,
                                     COBRE_NO_REGISTRY, NULL },
                                   COBRE_FIELDS_END };

    cobre_read_fields(reader, root, "", fields, &array);
    return reader->failed ? NULL : array;
}

/* ---- factors --------------------------------------------------------------------------------- */

struct factor_file {
    const char *key, *entity_key;
    const cobre_field *entry, *block;
    const char *noun;
    bool is_unique; /* one entry per entity and stage */
};

struct factor_entry {
    int64_t entity, stage;
    const mcp_json *blocks;
};

/* clang-format off */
#define ENTRY(entity_key)                                                                         \
    (const cobre_field[]){                                                                        \
        COBRE_F(struct factor_entry, entity_key, INT32, COBRE_REQUIRED, entity),                  \
        COBRE_F(struct factor_entry, "stage_id", INT32, COBRE_REQUIRED, stage),                   \
        COBRE_F(struct factor_entry, "block_factors", ARRAY, COBRE_REQUIRED, blocks),             \
        COBRE_FIELDS_END                                                                          \
    }

static const cobre_field one_factor[] = {
    COBRE_F(cobre_raw_factor, "block_id", UINT32, COBRE_REQUIRED, block),
    COBRE_F(cobre_raw_factor, "factor", REAL, COBRE_REQUIRED | COBRE_POSITIVE, factor),
    COBRE_FIELDS_END
};

static const cobre_field two_factors[] = {
    COBRE_F(cobre_raw_factor, "block_id", UINT32, COBRE_REQUIRED, block),
    COBRE_F(cobre_raw_factor, "direct_factor", REAL, COBRE_REQUIRED | COBRE_POSITIVE, factor),
    COBRE_F(cobre_raw_factor, "reverse_factor", REAL, COBRE_REQUIRED | COBRE_POSITIVE, reverse),
    COBRE_FIELDS_END
};

static const struct factor_file load_file = { "load_factors", "bus_id", ENTRY("bus_id"), one_factor,
                                              "bus", true };
static const struct factor_file source_file = { "non_controllable_factors", "ncs_id",
                                                ENTRY("ncs_id"), one_factor, "source", true };
static const struct factor_file line_file = { "exchange_factors", "line_id", ENTRY("line_id"),
                                              two_factors, "line", false };
/* clang-format on */

static void read_block_factors(cobre_reader *reader, const struct factor_file *file,
                               const struct factor_entry *entry, size_t index,
                               cobre_raw_factors *out)
{
    char prefix[96];

    for (size_t i = 0; i < mcp_json_count(entry->blocks) && !reader->failed; i++) {
        const mcp_json *json = mcp_json_item(entry->blocks, i);
        cobre_raw_factor *factor = &out->items[out->count];
        snprintf(prefix, sizeof prefix, "%s[%zu].block_factors[%zu]", file->key, index, i);
        if (!cobre_reader_is_object(reader, json, prefix))
            return;
        snprintf(prefix, sizeof prefix, "%s[%zu].block_factors[%zu].", file->key, index, i);
        cobre_read_fields(reader, json, prefix, file->block, factor);
        factor->entity = entry->entity;
        factor->stage = entry->stage;
        factor->entry = (int64_t)index;
        out->count++;
    }
}

static void read_factor_entry(cobre_reader *reader, const struct factor_file *file,
                              const mcp_json *json, size_t index, cobre_raw_factors *out)
{
    struct factor_entry entry;
    char prefix[96];

    snprintf(prefix, sizeof prefix, "%s[%zu]", file->key, index);
    if (!cobre_reader_is_object(reader, json, prefix))
        return;
    reader->noun = file->noun;
    reader->has_id = mcp_json_int(mcp_json_get(json, file->entity_key), &reader->id);
    snprintf(prefix, sizeof prefix, "%s[%zu].", file->key, index);
    cobre_read_fields(reader, json, prefix, file->entry, &entry);
    if (!reader->failed)
        read_block_factors(reader, file, &entry, index, out);
}

/* The largest possible number of block factors in the file. */
static size_t factor_room(const mcp_json *array)
{
    size_t room = 0;

    for (size_t i = 0; i < mcp_json_count(array); i++)
        room += mcp_json_count(mcp_json_get(mcp_json_item(array, i), "block_factors"));
    return room;
}

struct factor_key {
    int64_t entity, stage;
};

static int compare_keys(const void *a, const void *b)
{
    const struct factor_key *x = a, *y = b;

    if (x->entity != y->entity)
        return x->entity < y->entity ? -1 : 1;
    return x->stage < y->stage ? -1 : x->stage > y->stage;
}

static void refuse_repeats(cobre_reader *reader, const struct factor_file *file,
                           const mcp_json *array)
{
    size_t count = mcp_json_count(array);
    struct factor_key *keys = cobre_reader_array(reader, count, sizeof *keys);

    if (!keys)
        return;
    for (size_t i = 0; i < count; i++) {
        mcp_json_int(mcp_json_get(mcp_json_item(array, i), file->entity_key), &keys[i].entity);
        mcp_json_int(mcp_json_get(mcp_json_item(array, i), "stage_id"), &keys[i].stage);
    }
    if (count > 1)
        qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 1; i < count && !reader->failed; i++) {
        if (compare_keys(&keys[i - 1], &keys[i]) != 0)
            continue;
        reader->noun = file->noun;
        cobre_reader_duplicate(reader, file->entity_key, keys[i].entity,
                               cobre_report_text(reader->report, "%s for stage %lld", file->key,
                                                 (long long)keys[i].stage));
    }
}

static size_t read_factors(cobre_reader *reader, const mcp_json *root,
                           const struct factor_file *file, cobre_raw_factors *out)
{
    const mcp_json *array = root_array(reader, root, file->key);

    if (!array)
        return 0;
    out->items = cobre_reader_array(reader, factor_room(array), sizeof *out->items);
    for (size_t i = 0; i < mcp_json_count(array) && !reader->failed; i++)
        read_factor_entry(reader, file, mcp_json_item(array, i), i, out);
    if (!reader->failed && file->is_unique)
        refuse_repeats(reader, file, array);
    return mcp_json_count(array);
}

void cobre_read_load_factors(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    input->entries[COBRE_FILE_LOAD_FACTORS] = read_factors(reader, root, &load_file,
                                                           &input->load_factors);
}

void cobre_read_source_factors(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    input->entries[COBRE_FILE_SOURCE_FACTORS] = read_factors(reader, root, &source_file,
                                                             &input->source_factors);
}

void cobre_read_exchange_factors(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    input->entries[COBRE_FILE_EXCHANGE_FACTORS] = read_factors(reader, root, &line_file,
                                                               &input->exchange_factors);
}

/* ---- production models ----------------------------------------------------------------------- */

static const char *const selection_modes[] = { "stage_ranges", "seasonal", NULL };

struct model_members {
    int64_t hydro, mode;
    const mcp_json *ranges, *seasons;
    const char *default_model;
};

static const cobre_field model_fields[] = {
    COBRE_F(struct model_members, "hydro_id", INT32, COBRE_REQUIRED, hydro),
    COBRE_C(struct model_members, "selection_mode", COBRE_REQUIRED, mode, selection_modes, -1),
    COBRE_FIELDS_END
};
static const cobre_field range_fields[] = {
    COBRE_F(struct model_members, "stage_ranges", ARRAY, COBRE_REQUIRED, ranges), COBRE_FIELDS_END
};
static const cobre_field seasonal_fields[] = {
    COBRE_F(struct model_members, "default_model", TEXT, COBRE_REQUIRED, default_model),
    COBRE_F(struct model_members, "seasons", ARRAY, COBRE_REQUIRED, seasons), COBRE_FIELDS_END
};

void cobre_read_models(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    const mcp_json *array = root_array(reader, root, "production_models");
    struct model_members members;
    char path[64];

    for (size_t i = 0; i < mcp_json_count(array) && !reader->failed; i++) {
        const mcp_json *json = mcp_json_item(array, i);
        snprintf(path, sizeof path, "production_models[%zu]", i);
        if (!cobre_reader_is_object(reader, json, path))
            return;
        snprintf(path, sizeof path, "production_models[%zu].", i);
        cobre_read_fields(reader, json, path, model_fields, &members);
        if (!reader->failed)
            cobre_read_fields(reader, json, path, members.mode ? seasonal_fields : range_fields,
                              &members);
    }
    input->entries[COBRE_FILE_MODELS] = mcp_json_count(array);
}

/* ---- correlation ----------------------------------------------------------------------------- */

struct correlation_members {
    const char *method;
    const mcp_json *profiles, *schedule;
};

static const cobre_field correlation_fields[] = {
    COBRE_F(struct correlation_members, "method", TEXT, COBRE_REQUIRED, method),
    COBRE_F(struct correlation_members, "profiles", OBJECT, COBRE_REQUIRED, profiles),
    COBRE_F(struct correlation_members, "schedule", ARRAY, COBRE_OPTIONAL, schedule),
    COBRE_FIELDS_END
};

static const cobre_field profile_fields[] = {
    COBRE_F(struct correlation_members, "correlation_groups", ARRAY, COBRE_REQUIRED, schedule),
    COBRE_FIELDS_END
};

void cobre_read_correlation(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    struct correlation_members members, profile;
    char path[96];

    cobre_read_fields(reader, root, "", correlation_fields, &members);
    if (!reader->failed && members.method[0] == '\0')
        cobre_reader_violation(reader, "method", "a method", "an empty text", "Use spectral.");
    if (!reader->failed && mcp_json_count(members.profiles) == 0)
        cobre_reader_violation(reader, "profiles", "at least one profile", "none",
                               "Name one profile default, or remove the file.");
    for (size_t i = 0; i < mcp_json_count(members.profiles) && !reader->failed; i++) {
        const mcp_json *json = mcp_json_item(members.profiles, i);
        snprintf(path, sizeof path, "profiles.%.48s", mcp_json_name(members.profiles, i, NULL));
        if (!cobre_reader_is_object(reader, json, path))
            return;
        snprintf(path, sizeof path, "profiles.%.48s.", mcp_json_name(members.profiles, i, NULL));
        cobre_read_fields(reader, json, path, profile_fields, &profile);
        input->entries[COBRE_FILE_CORRELATION] += mcp_json_count(profile.schedule);
    }
}

/* ---- generic constraints --------------------------------------------------------------------- */

static const char *const senses[] = { ">=", "<=", "==", NULL };

static const cobre_field constraint_fields[] = {
    COBRE_F(cobre_raw_constraint, "id", INT32, COBRE_REQUIRED, head.id),
    COBRE_F(cobre_raw_constraint, "name", TEXT, COBRE_REQUIRED, head.name),
    COBRE_F(cobre_raw_constraint, "expression", TEXT, COBRE_REQUIRED, expression),
    COBRE_C(cobre_raw_constraint, "sense", COBRE_REQUIRED, sense, senses, -1),
    COBRE_P(cobre_raw_constraint, "slack.enabled", BOOL, COBRE_REQUIRED, slack_enabled, 0),
    COBRE_F(cobre_raw_constraint, "slack.penalty", REAL, COBRE_OPTIONAL | COBRE_POSITIVE,
            slack_penalty),
    COBRE_FIELDS_END
};

static void read_constraint(cobre_reader *reader, const mcp_json *json, size_t index,
                            cobre_raw_constraint *constraint)
{
    char path[64];

    snprintf(path, sizeof path, "constraints[%zu]", index);
    if (!cobre_reader_is_object(reader, json, path))
        return;
    cobre_reader_entity(reader, "constraint", json);
    cobre_read_fields(reader, json, "", constraint_fields, constraint);
    if (!reader->failed && constraint->slack_enabled && isnan(constraint->slack_penalty))
        cobre_reader_missing(reader, "slack.penalty");
    cobre_reader_entity(reader, NULL, NULL);
}

void cobre_read_constraints(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    const mcp_json *array = root_array(reader, root, "constraints");
    size_t count = mcp_json_count(array);
    int64_t twice = 0;

    if (!array)
        return;
    cobre_raw_constraint *list = cobre_reader_array(reader, count, sizeof *list);
    for (size_t i = 0; i < count && !reader->failed; i++)
        read_constraint(reader, mcp_json_item(array, i), i, &list[i]);
    if (!reader->failed && !cobre_registry_sort(list, count, sizeof *list, &twice)) {
        reader->noun = "constraint";
        cobre_reader_duplicate(reader, "id", twice, reader->file);
    }
    if (reader->failed)
        return;
    input->registries[COBRE_CONSTRAINTS] = (cobre_registry_items){ list, count, sizeof *list };
    input->entries[COBRE_FILE_CONSTRAINTS] = count;
}
