/*
 * factors.c - reads the files of block factors: of loads, non-controllable sources and exchanges.
 *
 * The three have one form; the entries are flattened to one record per block. Source: the case
 * page, sections 7 and 8.
 */
#include <stdio.h>
#include <stdlib.h>

#include "case/read/readers.h"

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

#define ENTRY(entity_key)                                                                          \
    {                                                                                              \
        COBRE_F(struct factor_entry, entity_key, INT32, COBRE_REQUIRED, entity),                   \
            COBRE_F(struct factor_entry, "stage_id", INT32, COBRE_REQUIRED, stage),                \
            COBRE_F(struct factor_entry, "block_factors", ARRAY, COBRE_REQUIRED, blocks),          \
            COBRE_FIELDS_END                                                                       \
    }

static const cobre_field load_entry[] = ENTRY("bus_id");
static const cobre_field source_entry[] = ENTRY("ncs_id");
static const cobre_field line_entry[] = ENTRY("line_id");

/* clang-format off */
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

static const struct factor_file load_file = { "load_factors", "bus_id", load_entry, one_factor,
                                              "bus", true };
static const struct factor_file source_file = { "non_controllable_factors", "ncs_id",
                                                source_entry, one_factor, "source", true };
static const struct factor_file line_file = { "exchange_factors", "line_id", line_entry,
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
    int64_t entity, stage, block;
};

static int compare_keys(const void *a, const void *b)
{
    const struct factor_key *x = a, *y = b;

    if (x->entity != y->entity)
        return x->entity < y->entity ? -1 : 1;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

static void sort_keys(struct factor_key *keys, size_t count)
{
    if (count > 1)
        qsort(keys, count, sizeof *keys, compare_keys);
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
        keys[i].block = 0;
    }
    sort_keys(keys, count);
    for (size_t i = 1; i < count && !reader->failed; i++) {
        if (compare_keys(&keys[i - 1], &keys[i]) != 0)
            continue;
        reader->noun = file->noun;
        cobre_reader_duplicate(reader, file->entity_key, keys[i].entity,
                               cobre_report_text(reader->report, "%s for stage %lld", file->key,
                                                 (long long)keys[i].stage));
    }
}

static void warn_repeat(cobre_reader *reader, const struct factor_file *file,
                        const struct factor_key *key)
{
    reader->noun = file->noun;
    cobre_finding finding = cobre_reader_finding(reader, COBRE_KIND_DUPLICATE_ID, "block_id");
    finding.severity = COBRE_SEVERITY_WARNING;
    finding.has_entity_id = true;
    finding.entity_id = key->entity;
    finding.message = cobre_report_text(
        reader->report,
        "block %lld of stage %lld has more than one factor; the last one of the file is used",
        (long long)key->block, (long long)key->stage);
    finding.suggestion = "Keep one factor per block.";
    finding.members = COBRE_MEMBERS(COBRE_TEXT("registry", reader->file));
    cobre_report_add(reader->report, &finding);
}

static void warn_repeats(cobre_reader *reader, const struct factor_file *file,
                         const cobre_raw_factors *factors)
{
    struct factor_key *keys = cobre_reader_array(reader, factors->count, sizeof *keys);

    if (!keys)
        return;
    for (size_t i = 0; i < factors->count; i++) {
        const cobre_raw_factor *factor = &factors->items[i];
        keys[i] = (struct factor_key){ factor->entity, factor->stage, factor->block };
    }
    sort_keys(keys, factors->count);
    for (size_t i = 1; i < factors->count; i++) {
        bool is_repeat = compare_keys(&keys[i - 1], &keys[i]) == 0;
        /* Once for each block. */
        if (is_repeat && (i == 1 || compare_keys(&keys[i - 2], &keys[i]) != 0))
            warn_repeat(reader, file, &keys[i]);
    }
}

static size_t read_factors(cobre_reader *reader, const mcp_json *root,
                           const struct factor_file *file, cobre_raw_factors *out)
{
    const mcp_json *array = cobre_reader_root(reader, root, file->key);

    if (!array)
        return 0;
    out->items = cobre_reader_array(reader, factor_room(array), sizeof *out->items);
    for (size_t i = 0; i < mcp_json_count(array) && !reader->failed; i++)
        read_factor_entry(reader, file, mcp_json_item(array, i), i, out);
    if (!reader->failed && file->is_unique)
        refuse_repeats(reader, file, array);
    if (!reader->failed)
        warn_repeats(reader, file, out);
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

/* ---- shapes ---------------------------------------------------------------------------------- */

static const cobre_shape one = { .tables = { one_factor } };
static const cobre_shape two = { .tables = { two_factors } };
static const cobre_shape ones = { .kind = COBRE_SHAPE_LIST, .of = &one };
static const cobre_shape twos = { .kind = COBRE_SHAPE_LIST, .of = &two };
static const cobre_joint one_joints[] = { { "block_factors", &ones }, { NULL, NULL } };
static const cobre_joint two_joints[] = { { "block_factors", &twos }, { NULL, NULL } };
static const cobre_shape load_shape = { .tables = { load_entry }, .joints = one_joints };
static const cobre_shape source_shape = { .tables = { source_entry }, .joints = one_joints };
static const cobre_shape line_shape = { .tables = { line_entry }, .joints = two_joints };

const cobre_shape cobre_shape_load_factors = { .key = "load_factors", .of = &load_shape };
const cobre_shape cobre_shape_source_factors = { .key = "non_controllable_factors",
                                                 .of = &source_shape };
const cobre_shape cobre_shape_exchange_factors = { .key = "exchange_factors", .of = &line_shape };
