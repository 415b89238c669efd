/*
 * penalties.c - reads penalties.json and the deficit segments, global or of a bus.
 *
 * The costs of water withdrawal and evaporation come in an undirected and two directed forms; an
 * absent directed cost is set to the undirected one here. Source: the case page, section 5.
 */
#include <stdio.h>

#include "case/read/readers.h"

struct members {
    cobre_raw_penalties kept;
    const mcp_json *segments, *object;
    const char *text;
};

#define COST(key, index)                                                                           \
    COBRE_F(struct members, "hydro." key, REAL, COBRE_REQUIRED | COBRE_POSITIVE, kept.costs[index])
#define DIRECTED(key, index)                                                                       \
    COBRE_F(struct members, "hydro." key, REAL, COBRE_OPTIONAL | COBRE_NOT_NEGATIVE,               \
            kept.costs[index])

static const cobre_field fields[] = {
    COBRE_F(struct members, "$schema", TEXT, COBRE_OPTIONAL, text),
    COBRE_F(struct members, "version", TEXT, COBRE_OPTIONAL, text),
    COBRE_F(struct members, "bus", OBJECT, COBRE_REQUIRED, object),
    COBRE_F(struct members, "line", OBJECT, COBRE_REQUIRED, object),
    COBRE_F(struct members, "hydro", OBJECT, COBRE_REQUIRED, object),
    COBRE_F(struct members, "non_controllable_source", OBJECT, COBRE_REQUIRED, object),
    COBRE_F(struct members, "bus.deficit_segments", ARRAY, COBRE_REQUIRED, segments),
    COBRE_F(struct members, "bus.excess_cost", REAL, COBRE_REQUIRED | COBRE_POSITIVE,
            kept.excess_cost),
    COBRE_F(struct members, "line.exchange_cost", REAL, COBRE_REQUIRED | COBRE_POSITIVE,
            kept.exchange_cost),
    COBRE_F(struct members, "non_controllable_source.curtailment_cost", REAL,
            COBRE_REQUIRED | COBRE_POSITIVE, kept.curtailment_cost),
    COST("spillage_cost", COBRE_COST_SPILLAGE),
    COST("diversion_cost", COBRE_COST_DIVERSION),
    COST("storage_violation_below_cost", COBRE_COST_STORAGE_BELOW),
    COST("filling_target_violation_cost", COBRE_COST_FILLING_TARGET),
    COST("turbined_violation_below_cost", COBRE_COST_TURBINED_BELOW),
    COST("outflow_violation_below_cost", COBRE_COST_OUTFLOW_BELOW),
    COST("outflow_violation_above_cost", COBRE_COST_OUTFLOW_ABOVE),
    COST("generation_violation_below_cost", COBRE_COST_GENERATION_BELOW),
    COST("evaporation_violation_cost", COBRE_COST_EVAPORATION),
    COST("water_withdrawal_violation_cost", COBRE_COST_WITHDRAWAL),
    COBRE_F(struct members, "hydro.fpha_turbined_cost", REAL, COBRE_REQUIRED | COBRE_NOT_NEGATIVE,
            kept.costs[COBRE_COST_FPHA_TURBINED]),
    DIRECTED("water_withdrawal_violation_pos_cost", COBRE_COST_WITHDRAWAL_POS),
    DIRECTED("water_withdrawal_violation_neg_cost", COBRE_COST_WITHDRAWAL_NEG),
    DIRECTED("evaporation_violation_pos_cost", COBRE_COST_EVAPORATION_POS),
    DIRECTED("evaporation_violation_neg_cost", COBRE_COST_EVAPORATION_NEG),
    COBRE_P(struct members, "hydro.inflow_nonnegativity_cost", REAL,
            COBRE_OPTIONAL | COBRE_NOT_NEGATIVE, kept.costs[COBRE_COST_INFLOW], 1000.0),
    COBRE_FIELDS_END
};

/* ---- deficit segments ------------------------------------------------------------------------ */

static const cobre_field segment_fields[] = {
    COBRE_F(cobre_deficit_segment, "depth_mw", REAL,
            COBRE_OPTIONAL | COBRE_POSITIVE | COBRE_UNBOUNDED, depth_mw),
    COBRE_F(cobre_deficit_segment, "cost", REAL, COBRE_REQUIRED | COBRE_POSITIVE, cost),
    COBRE_FIELDS_END
};

/* `list` holds the segments read so far, `index` is the current one. */
static void check_segment(cobre_reader *reader, const char *path, cobre_deficit_segment *list,
                          size_t index, size_t count)
{
    char field[96];
    bool is_last = index + 1 == count;

    if (isnan(list[index].depth_mw) != is_last) {
        snprintf(field, sizeof field, "%s[%zu].depth_mw", path, index);
        cobre_reader_violation(reader, field, is_last ? "null in the last segment" : "a number",
                               is_last ? "a number" : "null",
                               "Bound every segment but the last; the last takes all the rest.");
    } else if (index > 0 && list[index].cost <= list[index - 1].cost) {
        snprintf(field, sizeof field, "%s[%zu].cost", path, index);
        cobre_reader_range(reader, field, list[index].cost, list[index - 1].cost, INFINITY,
                           "must be above the segment before it");
    } else if (is_last) {
        list[index].depth_mw = INFINITY;
    }
}

static void read_segment(cobre_reader *reader, const mcp_json *json, const char *path,
                         cobre_deficit_segment *list, size_t index, size_t count)
{
    char prefix[96];

    snprintf(prefix, sizeof prefix, "%s[%zu]", path, index);
    if (!cobre_reader_is_object(reader, json, prefix))
        return;
    snprintf(prefix, sizeof prefix, "%s[%zu].", path, index);
    cobre_read_fields(reader, json, prefix, segment_fields, &list[index]);
    if (!reader->failed)
        check_segment(reader, path, list, index, count);
}

void cobre_read_segments(cobre_reader *reader, const mcp_json *array, const char *path,
                         cobre_deficit_segment **segments, size_t *count)
{
    size_t length = mcp_json_count(array);

    if (reader->failed)
        return;
    if (length == 0) {
        cobre_reader_violation(reader, path, "at least one segment", "none",
                               "Give one segment with depth_mw null and a cost.");
        return;
    }
    cobre_deficit_segment *list = cobre_reader_array(reader, length, sizeof *list);
    for (size_t i = 0; i < length && !reader->failed; i++)
        read_segment(reader, mcp_json_item(array, i), path, list, i, length);
    if (!reader->failed) {
        *segments = list;
        *count = length;
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static void settle(double *costs, cobre_cost directed, cobre_cost undirected)
{
    if (isnan(costs[directed]))
        costs[directed] = costs[undirected];
}

void cobre_read_penalties(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    struct members members = { 0 };
    cobre_raw_penalties *kept = &members.kept;

    cobre_read_fields(reader, root, "", fields, &members);
    cobre_read_segments(reader, members.segments, "bus.deficit_segments", &kept->segments,
                        &kept->segment_count);
    settle(kept->costs, COBRE_COST_WITHDRAWAL_POS, COBRE_COST_WITHDRAWAL);
    settle(kept->costs, COBRE_COST_WITHDRAWAL_NEG, COBRE_COST_WITHDRAWAL);
    settle(kept->costs, COBRE_COST_EVAPORATION_POS, COBRE_COST_EVAPORATION);
    settle(kept->costs, COBRE_COST_EVAPORATION_NEG, COBRE_COST_EVAPORATION);
    input->penalties = *kept;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static const cobre_shape segment = { .tables = { segment_fields } };
static const cobre_joint joints[] = { { "bus.deficit_segments", &cobre_shape_segments },
                                      { NULL, NULL } };

const cobre_shape cobre_shape_segments = { .kind = COBRE_SHAPE_LIST, .of = &segment, .least = 1 };
const cobre_shape cobre_shape_penalties = { .tables = { fields }, .joints = joints };
