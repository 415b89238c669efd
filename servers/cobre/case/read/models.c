/*
 * models.c - reads what a hydro makes of water: its head and evaporation in hydros.json, and
 * hydro_production_models.json.
 *
 * A tailrace, a loss and an efficiency have a type that decides their members. A production model
 * is a list of stage ranges or of seasons; both become ranges here. Source: the case page, sections
 * 6.3 and 6.9.
 */
#include <stdio.h>
#include <stdlib.h>

#include "case/read/readers.h"

/* ---- tailrace, losses, efficiency ------------------------------------------------------------ */

static const char *const tailrace_types[] = { "polynomial", "piecewise", NULL };
static const char *const loss_types[] = { "factor", "constant", NULL };
static const char *const efficiency_types[] = { "constant", NULL };

struct head {
    int64_t type;
    const mcp_json *array;
    double value;
};

#define HEAD(path, type, flags, member) COBRE_F(struct head, path, type, flags, member)
#define HEAD_TYPE(choices) COBRE_C(struct head, "type", COBRE_REQUIRED, type, choices, -1)

/* The required members of a part of the head, by its type. */
struct part {
    const char *prefix;
    const cobre_field type[2];
    const cobre_field by_type[2][2];
};

/* clang-format off */
static const struct part tailrace_part = {
    "tailrace.", { HEAD_TYPE(tailrace_types), COBRE_FIELDS_END },
    { { HEAD("coefficients", ARRAY, COBRE_REQUIRED, array), COBRE_FIELDS_END },
      { HEAD("points", ARRAY, COBRE_REQUIRED, array), COBRE_FIELDS_END } }
};
static const struct part loss_part = {
    "hydraulic_losses.", { HEAD_TYPE(loss_types), COBRE_FIELDS_END },
    { { HEAD("value", REAL, COBRE_REQUIRED, value), COBRE_FIELDS_END },
      { HEAD("value_m", REAL, COBRE_REQUIRED, value), COBRE_FIELDS_END } }
};
static const struct part efficiency_part = {
    "efficiency.", { HEAD_TYPE(efficiency_types), COBRE_FIELDS_END },
    { { HEAD("value", REAL, COBRE_REQUIRED | COBRE_POSITIVE, value), COBRE_FIELDS_END },
      { COBRE_FIELDS_END } }
};

static const cobre_field point_fields[] = {
    COBRE_F(cobre_point, "outflow_m3s", REAL, COBRE_REQUIRED, x),
    COBRE_F(cobre_point, "height_m", REAL, COBRE_REQUIRED, y), COBRE_FIELDS_END
};
/* clang-format on */

static struct head read_part(cobre_reader *reader, const mcp_json *object, const struct part *part)
{
    struct head head = { 0 };

    cobre_read_fields(reader, object, part->prefix, part->type, &head);
    if (!reader->failed)
        cobre_read_fields(reader, object, part->prefix, part->by_type[head.type], &head);
    return head;
}

static int compare_points(const void *a, const void *b)
{
    double x = ((const cobre_point *)a)->x, y = ((const cobre_point *)b)->x;

    return x < y ? -1 : x > y;
}

static void read_points(cobre_reader *reader, const mcp_json *array, cobre_raw_hydro *hydro)
{
    size_t count = mcp_json_count(array);
    cobre_point *points = cobre_reader_array(reader, count, sizeof *points);
    char path[64];

    for (size_t i = 0; i < count && !reader->failed; i++) {
        const mcp_json *json = mcp_json_item(array, i);
        snprintf(path, sizeof path, "tailrace.points[%zu]", i);
        if (!cobre_reader_is_object(reader, json, path))
            return;
        snprintf(path, sizeof path, "tailrace.points[%zu].", i);
        cobre_read_fields(reader, json, path, point_fields, &points[i]);
    }
    if (reader->failed)
        return;
    qsort(points, count, sizeof *points, compare_points);
    for (size_t i = 1; i < count && !reader->failed; i++) {
        if (points[i].x == points[i - 1].x)
            cobre_reader_violation(
                reader, "tailrace.points", "one height for every outflow",
                cobre_report_text(reader->report, "two for %.12g m3/s", points[i].x),
                "Remove one of the two points.");
    }
    hydro->tailrace_points = points;
}

static void read_tailrace(cobre_reader *reader, cobre_raw_hydro *hydro)
{
    struct head head = read_part(reader, hydro->tailrace_json, &tailrace_part);
    const char *path = head.type == 0 ? "tailrace.coefficients" : "tailrace.points";

    if (reader->failed)
        return;
    hydro->tailrace = head.type == 0 ? COBRE_TAILRACE_POLYNOMIAL : COBRE_TAILRACE_PIECEWISE;
    hydro->tailrace_count = mcp_json_count(head.array);
    if (hydro->tailrace_count == 0)
        cobre_reader_violation(reader, path, "at least one", "none",
                               "Give the heights of the tailrace, or set tailrace to null.");
    else if (hydro->tailrace == COBRE_TAILRACE_POLYNOMIAL)
        hydro->tailrace_coefficients = cobre_reader_numbers(reader, head.array, path);
    else
        read_points(reader, head.array, hydro);
}

static void read_loss(cobre_reader *reader, cobre_raw_hydro *hydro)
{
    struct head head = read_part(reader, hydro->losses_json, &loss_part);

    hydro->loss = head.type == 0 ? COBRE_LOSS_FACTOR : COBRE_LOSS_CONSTANT;
    hydro->loss_value = head.value;
}

/* ---- evaporation ----------------------------------------------------------------------------- */

static void read_months(cobre_reader *reader, const mcp_json *array, const char *path, double *out)
{
    if (mcp_json_count(array) != 12) {
        cobre_reader_violation(reader, path, "12 numbers",
                               cobre_report_text(reader->report, "%zu", mcp_json_count(array)),
                               "Give one number a month.");
        return;
    }
    const double *values = cobre_reader_numbers(reader, array, path);
    for (size_t i = 0; i < 12 && values; i++)
        out[i] = values[i];
}

static void check_references(cobre_reader *reader, const cobre_raw_hydro *hydro, const char *path)
{
    for (size_t i = 0; i < 12 && !reader->failed; i++) {
        double value = hydro->evaporation_reference[i];
        if (!(value >= hydro->min_storage && value <= hydro->max_storage))
            cobre_reader_range(reader, path, value, hydro->min_storage, hydro->max_storage,
                               "must lie within the storage bounds");
    }
}

static const cobre_field month_fields[] = { HEAD("coefficients_mm", ARRAY, COBRE_REQUIRED, array),
                                            COBRE_FIELDS_END };
static const cobre_field volume_fields[] = {
    HEAD("reference_volumes_hm3", ARRAY, COBRE_OPTIONAL, array), COBRE_FIELDS_END
};

static void read_evaporation(cobre_reader *reader, cobre_raw_hydro *hydro)
{
    const char *path = "evaporation.reference_volumes_hm3";
    struct head head;

    cobre_read_fields(reader, hydro->evaporation_json, "evaporation.", month_fields, &head);
    if (!reader->failed)
        read_months(reader, head.array, "evaporation.coefficients_mm", hydro->evaporation_mm);
    cobre_read_fields(reader, hydro->evaporation_json, "evaporation.", volume_fields, &head);
    if (reader->failed || !head.array)
        return;
    read_months(reader, head.array, path, hydro->evaporation_reference);
    check_references(reader, hydro, path);
}

void cobre_read_head(cobre_reader *reader, cobre_raw_hydro *hydro)
{
    hydro->efficiency = NAN;
    for (size_t i = 0; i < 12; i++)
        hydro->evaporation_reference[i] = NAN;
    if (!reader->failed && hydro->tailrace_json)
        read_tailrace(reader, hydro);
    if (!reader->failed && hydro->losses_json)
        read_loss(reader, hydro);
    if (!reader->failed && hydro->efficiency_json)
        hydro->efficiency = read_part(reader, hydro->efficiency_json, &efficiency_part).value;
    if (!reader->failed && hydro->evaporation_json)
        read_evaporation(reader, hydro);
}

/* ---- hydro_production_models.json ------------------------------------------------------------ */

static const char *const selection_modes[] = { "stage_ranges", "seasonal", NULL };
static const char *const plane_sources[] = { "precomputed", "computed", NULL };

struct model {
    cobre_raw_model kept;
    const mcp_json *ranges;
};

#define RANGE(path, type, flags, member) COBRE_F(cobre_raw_range, path, type, flags, member)
#define POINTS(path, member) COBRE_P(cobre_raw_range, path, UINT32, COBRE_OPTIONAL, member, 5)

static const cobre_field model_fields[] = {
    COBRE_R(struct model, "hydro_id", COBRE_REQUIRED, kept.hydro, COBRE_HYDROS),
    COBRE_C(struct model, "selection_mode", COBRE_REQUIRED, kept.mode, selection_modes, -1),
    COBRE_FIELDS_END
};

/* By the selection mode. */
static const cobre_field mode_fields[][3] = {
    { COBRE_F(struct model, "stage_ranges", ARRAY, COBRE_REQUIRED, ranges), COBRE_FIELDS_END },
    { COBRE_F(struct model, "default_model", TEXT, COBRE_REQUIRED, kept.default_model),
      COBRE_F(struct model, "seasons", ARRAY, COBRE_REQUIRED, ranges), COBRE_FIELDS_END },
};
static const cobre_field place_fields[][3] = {
    { RANGE("start_stage_id", INT32, COBRE_REQUIRED, start),
      RANGE("end_stage_id", INT32, COBRE_OPTIONAL, end), COBRE_FIELDS_END },
    { RANGE("season_id", UINT32, COBRE_REQUIRED, start), COBRE_FIELDS_END },
};
static const char *const lists[] = { "stage_ranges", "seasons" };

static const cobre_field range_fields[] = {
    RANGE("model", TEXT, COBRE_REQUIRED, model),
    RANGE("productivity_override", REAL, COBRE_OPTIONAL | COBRE_POSITIVE, productivity),
    RANGE("fpha_config", OBJECT, COBRE_OPTIONAL, config_json), COBRE_FIELDS_END
};

static const cobre_field config_fields[] = {
    COBRE_C(cobre_raw_range, "source", COBRE_REQUIRED, source, plane_sources, -1),
    POINTS("volume_discretization_points", volume_points),
    POINTS("turbine_discretization_points", turbine_points),
    POINTS("spillage_discretization_points", spillage_points),
    COBRE_P(cobre_raw_range, "max_planes_per_hydro", UINT32, COBRE_OPTIONAL | COBRE_POSITIVE,
            max_planes, 10),
    RANGE("fitting_window", OBJECT, COBRE_OPTIONAL, window_json),
    RANGE("fitting_window.volume_min_hm3", REAL, COBRE_OPTIONAL, volume_min),
    RANGE("fitting_window.volume_max_hm3", REAL, COBRE_OPTIONAL, volume_max),
    RANGE("fitting_window.volume_min_percentile", REAL, COBRE_OPTIONAL | COBRE_UNIT,
          percentile_min),
    RANGE("fitting_window.volume_max_percentile", REAL, COBRE_OPTIONAL | COBRE_UNIT,
          percentile_max),
    COBRE_FIELDS_END
};

static void check_points(cobre_reader *reader, const char *prefix, const char *name, int64_t value)
{
    char path[128];

    if (reader->failed || value >= 2)
        return;
    snprintf(path, sizeof path, "%s%s", prefix, name);
    cobre_reader_range(reader, path, (double)value, 2, INFINITY, "must be >= 2");
}

/* A side of the window is absolute or a percentile, never both. */
static void check_side(cobre_reader *reader, const char *prefix, const char *side, double absolute,
                       double percentile)
{
    char path[160];

    if (reader->failed || isnan(absolute) || isnan(percentile))
        return;
    snprintf(path, sizeof path, "%sfitting_window.volume_%s_percentile", prefix, side);
    cobre_reader_violation(reader, path, "an absolute volume or a percentile", "both",
                           "Remove one of the two.");
}

static void read_fpha_config(cobre_reader *reader, const char *prefix, cobre_raw_range *range)
{
    char path[96];

    if (reader->failed)
        return;
    snprintf(path, sizeof path, "%sfpha_config.", prefix);
    if (range->config_json) {
        cobre_read_fields(reader, range->config_json, path, config_fields, range);
    } else { /* the defaults; the planes are those of the file */
        cobre_read_fields(reader, NULL, path, config_fields + 1, range);
        range->source = COBRE_PLANES_PRECOMPUTED;
    }
    check_points(reader, path, "volume_discretization_points", range->volume_points);
    check_points(reader, path, "turbine_discretization_points", range->turbine_points);
    check_points(reader, path, "spillage_discretization_points", range->spillage_points);
    check_side(reader, path, "min", range->volume_min, range->percentile_min);
    check_side(reader, path, "max", range->volume_max, range->percentile_max);
}

static void check_range(cobre_reader *reader, const char *prefix, const cobre_raw_range *range)
{
    char path[96];

    if (reader->failed)
        return;
    if (range->end != COBRE_ABSENT && range->start > range->end) {
        snprintf(path, sizeof path, "%send_stage_id", prefix);
        cobre_reader_range(reader, path, (double)range->end, (double)range->start, INFINITY,
                           "must not lie before start_stage_id");
    } else if (cobre_model_is_fpha(range->model) && !isnan(range->productivity)) {
        snprintf(path, sizeof path, "%sproductivity_override", prefix);
        cobre_reader_violation(reader, path, "none with the model fpha", "one",
                               "Remove productivity_override, or use a constant productivity.");
    }
}

static void read_range(cobre_reader *reader, const mcp_json *json, size_t model, size_t index,
                       int64_t mode, cobre_raw_range *range)
{
    char path[64];

    snprintf(path, sizeof path, "production_models[%zu].%s[%zu]", model, lists[mode], index);
    if (!cobre_reader_is_object(reader, json, path))
        return;
    snprintf(path, sizeof path, "production_models[%zu].%s[%zu].", model, lists[mode], index);
    range->end = COBRE_ABSENT;
    cobre_read_fields(reader, json, path, place_fields[mode], range);
    cobre_read_fields(reader, json, path, range_fields, range);
    read_fpha_config(reader, path, range);
    check_range(reader, path, range);
}

static void read_model(cobre_reader *reader, const mcp_json *json, size_t index,
                       cobre_raw_model *out)
{
    struct model model = { 0 };
    char path[64];

    snprintf(path, sizeof path, "production_models[%zu]", index);
    if (!cobre_reader_is_object(reader, json, path))
        return;
    reader->noun = "hydro";
    reader->has_id = mcp_json_int(mcp_json_get(json, "hydro_id"), &reader->id);
    snprintf(path, sizeof path, "production_models[%zu].", index);
    cobre_read_fields(reader, json, path, model_fields, &model);
    if (!reader->failed)
        cobre_read_fields(reader, json, path, mode_fields[model.kept.mode], &model);
    if (reader->failed)
        return;
    cobre_raw_model *kept = &model.kept;
    kept->range_count = mcp_json_count(model.ranges);
    kept->ranges = cobre_reader_array(reader, kept->range_count, sizeof *kept->ranges);
    for (size_t i = 0; i < kept->range_count && !reader->failed; i++)
        read_range(reader, mcp_json_item(model.ranges, i), index, i, kept->mode, &kept->ranges[i]);
    *out = *kept;
}

static int compare_models(const void *a, const void *b)
{
    int64_t x = ((const cobre_raw_model *)a)->hydro, y = ((const cobre_raw_model *)b)->hydro;

    return x < y ? -1 : x > y;
}

void cobre_read_models(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    const mcp_json *array = cobre_reader_root(reader, root, "production_models");
    size_t count = mcp_json_count(array);

    if (!array)
        return;
    cobre_raw_model *models = cobre_reader_array(reader, count, sizeof *models);
    for (size_t i = 0; i < count && !reader->failed; i++)
        read_model(reader, mcp_json_item(array, i), i, &models[i]);
    if (!reader->failed && count > 1)
        qsort(models, count, sizeof *models, compare_models);
    for (size_t i = 1; i < count && !reader->failed; i++) {
        if (models[i].hydro == models[i - 1].hydro)
            cobre_reader_duplicate(reader, "hydro_id", models[i].hydro, "production_models");
    }
    if (reader->failed)
        return;
    input->models = models;
    input->model_count = count;
    input->entries[COBRE_FILE_MODELS] = count;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static const cobre_shape number = { .kind = COBRE_SHAPE_NUMBER };
static const cobre_shape numbers = { .kind = COBRE_SHAPE_LIST, .of = &number, .least = 1 };
static const cobre_shape months = { .kind = COBRE_SHAPE_LIST, .of = &number, .count = 12 };
static const cobre_shape point = { .tables = { point_fields } };
static const cobre_shape points = { .kind = COBRE_SHAPE_LIST, .of = &point, .least = 1 };

static const cobre_joint polynomial_joints[] = { { "coefficients", &numbers }, { NULL, NULL } };
static const cobre_joint piecewise_joints[] = { { "points", &points }, { NULL, NULL } };
static const cobre_joint evaporation_joints[] = { { "coefficients_mm", &months },
                                                  { "reference_volumes_hm3", &months },
                                                  { NULL, NULL } };

#define PART(part, index, value)                                                                   \
    .tables = { part.type, part.by_type[index] }, .tag = "type", .tag_value = value

static const cobre_shape polynomial = { PART(tailrace_part, 0, "polynomial"),
                                        .joints = polynomial_joints };
static const cobre_shape piecewise = { PART(tailrace_part, 1, "piecewise"),
                                       .joints = piecewise_joints };
static const cobre_shape loss_factor = { PART(loss_part, 0, "factor") };
static const cobre_shape loss_constant = { PART(loss_part, 1, "constant") };

#define EITHER(...)                                                                                \
    {                                                                                              \
        .kind = COBRE_SHAPE_EITHER, .either = (const cobre_shape *const[])                         \
        {                                                                                          \
            __VA_ARGS__, NULL                                                                      \
        }                                                                                          \
    }

const cobre_shape cobre_shape_tailrace = EITHER(&polynomial, &piecewise);
const cobre_shape cobre_shape_losses = EITHER(&loss_factor, &loss_constant);
const cobre_shape cobre_shape_efficiency = { PART(efficiency_part, 0, "constant") };
const cobre_shape cobre_shape_evaporation = { .tables = { month_fields, volume_fields },
                                              .joints = evaporation_joints };

static const cobre_shape at_least_two = { .kind = COBRE_SHAPE_INTEGER,
                                          .min = 2,
                                          .max = UINT32_MAX };
static const cobre_joint config_joints[] = { { "volume_discretization_points", &at_least_two },
                                             { "turbine_discretization_points", &at_least_two },
                                             { "spillage_discretization_points", &at_least_two },
                                             { NULL, NULL } };
static const cobre_shape fpha_config = { .tables = { config_fields }, .joints = config_joints };
static const cobre_joint range_joints[] = { { "fpha_config", &fpha_config }, { NULL, NULL } };

#define RANGES(mode)                                                                               \
    {                                                                                              \
        .tables = { place_fields[mode], range_fields }, .joints = range_joints                     \
    }

static const cobre_shape stage_range = RANGES(COBRE_MODEL_BY_STAGE);
static const cobre_shape season_range = RANGES(COBRE_MODEL_BY_SEASON);
static const cobre_shape stage_ranges = { .kind = COBRE_SHAPE_LIST, .of = &stage_range };
static const cobre_shape season_ranges = { .kind = COBRE_SHAPE_LIST, .of = &season_range };
static const cobre_joint stage_joints[] = { { "stage_ranges", &stage_ranges }, { NULL, NULL } };
static const cobre_joint season_joints[] = { { "seasons", &season_ranges }, { NULL, NULL } };

static const cobre_shape by_stage = {
    .tables = { model_fields, mode_fields[COBRE_MODEL_BY_STAGE] },
    .joints = stage_joints,
    .tag = "selection_mode",
    .tag_value = "stage_ranges",
};
static const cobre_shape by_season = {
    .tables = { model_fields, mode_fields[COBRE_MODEL_BY_SEASON] },
    .joints = season_joints,
    .tag = "selection_mode",
    .tag_value = "seasonal",
};
static const cobre_shape any_model = EITHER(&by_stage, &by_season);

const cobre_shape cobre_shape_models = { .key = "production_models", .of = &any_model };
