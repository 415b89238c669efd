/*
 * plants.c - layer 5a: bounds in order, cascades without cycles, lives that end after they begin.
 *
 * Pairs of bounds are tables of offsets, checked for the entity and again for every row that
 * overrides one of the two in a stage.
 * Source: the errors page, sections 5.5 and 5.7.
 */
#include "validate/layers.h"

#include <stdio.h>
#include <stdlib.h>

/* Of a longer ring the first hydros are named. */
enum { LAYER = 5, RING_SHOWN = 32, RING_TEXT = RING_SHOWN * sizeof "-2147483648 -> " };

/* Two members of a record: the first may not exceed the second. */
struct pair {
    const char *min_name, *max_name;
    size_t min, max;               /* offsets */
    size_t min_column, max_column; /* in the override file */
};

struct registry_rules {
    cobre_registry registry;
    cobre_file_id overrides; /* COBRE_FILE_COUNT: none */
    const struct pair *pairs;
    size_t pair_count;
    size_t entry, exit; /* offsets */
};

static const struct pair hydro_pairs[] = {
    { "reservoir.min_storage_hm3", "reservoir.max_storage_hm3",
      offsetof(cobre_raw_hydro, min_storage), offsetof(cobre_raw_hydro, max_storage),
      COBRE_HB_MIN_STORAGE, COBRE_HB_MAX_STORAGE },
    { "outflow.min_outflow_m3s", "outflow.max_outflow_m3s", offsetof(cobre_raw_hydro, min_outflow),
      offsetof(cobre_raw_hydro, max_outflow), COBRE_HB_MIN_OUTFLOW, COBRE_HB_MAX_OUTFLOW },
    { "generation.min_turbined_m3s", "generation.max_turbined_m3s",
      offsetof(cobre_raw_hydro, min_turbined), offsetof(cobre_raw_hydro, max_turbined),
      COBRE_HB_MIN_TURBINED, COBRE_HB_MAX_TURBINED },
    { "generation.min_generation_mw", "generation.max_generation_mw",
      offsetof(cobre_raw_hydro, min_generation), offsetof(cobre_raw_hydro, max_generation),
      COBRE_HB_MIN_GENERATION, COBRE_HB_MAX_GENERATION },
};
static const struct pair thermal_pairs[] = {
    { "generation.min_mw", "generation.max_mw", offsetof(cobre_raw_thermal, min),
      offsetof(cobre_raw_thermal, max), COBRE_TB_MIN, COBRE_TB_MAX },
};
static const struct pair station_pairs[] = {
    { "flow.min_m3s", "flow.max_m3s", offsetof(cobre_raw_station, min),
      offsetof(cobre_raw_station, max), COBRE_PB_MIN, COBRE_PB_MAX },
};
static const struct pair contract_pairs[] = {
    { "limits.min_mw", "limits.max_mw", offsetof(cobre_raw_contract, min),
      offsetof(cobre_raw_contract, max), COBRE_CB_MIN, COBRE_CB_MAX },
};

#define LIFE(type) offsetof(type, entry), offsetof(type, exit)

static const struct registry_rules rules[] = {
    { COBRE_HYDROS, COBRE_FILE_HYDRO_BOUNDS, hydro_pairs, 4, LIFE(cobre_raw_hydro) },
    { COBRE_THERMALS, COBRE_FILE_THERMAL_BOUNDS, thermal_pairs, 1, LIFE(cobre_raw_thermal) },
    { COBRE_LINES, COBRE_FILE_COUNT, NULL, 0, LIFE(cobre_raw_line) },
    { COBRE_SOURCES, COBRE_FILE_COUNT, NULL, 0, LIFE(cobre_raw_source_plant) },
    { COBRE_STATIONS, COBRE_FILE_PUMPING_BOUNDS, station_pairs, 1, LIFE(cobre_raw_station) },
    { COBRE_CONTRACTS, COBRE_FILE_CONTRACT_BOUNDS, contract_pairs, 1, LIFE(cobre_raw_contract) },
};

static double real_at(const cobre_entity *record, size_t offset)
{
    return *(const double *)(const void *)((const char *)record + offset);
}

static int64_t integer_at(const cobre_entity *record, size_t offset)
{
    return *(const int64_t *)(const void *)((const char *)record + offset);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void report_pair(const cobre_input *input, cobre_finding *finding, const char *min_name,
                        double min, const char *max_name, double max)
{
    finding->message = cobre_report_text(input->report, "%s %.12g is above %s %.12g", min_name, min,
                                         max_name, max);
    finding->suggestion = cobre_report_text(input->report, "Lower %s or raise %s.", min_name,
                                            max_name);
    finding->members = COBRE_MEMBERS(
        COBRE_TEXT("field_min", min_name), COBRE_REAL("value_min", min),
        COBRE_TEXT("field_max", max_name), COBRE_REAL("value_max", max));
    cobre_report_add(input->report, finding);
}

static void check_pairs(const cobre_input *input, const struct registry_rules *rule,
                        const cobre_entity *record)
{
    for (size_t i = 0; i < rule->pair_count; i++) {
        const struct pair *pair = &rule->pairs[i];
        double min = real_at(record, pair->min), max = real_at(record, pair->max);
        if (!(min > max)) /* an absent bound is NAN */
            continue;
        cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR,
                                                 COBRE_KIND_CAPACITY_VIOLATION, LAYER,
                                                 rule->registry, record, pair->min_name);
        report_pair(input, &finding, pair->min_name, min, pair->max_name, max);
    }
}

static void check_row(const cobre_input *input, const struct registry_rules *rule, size_t row)
{
    const cobre_table *table = &input->tables[rule->overrides];
    const cobre_entity *record = cobre_input_find(input, rule->registry,
                                                  cobre_table_int(table, COBRE_COL_ENTITY, row));

    for (size_t i = 0; record && i < rule->pair_count; i++) {
        const struct pair *pair = &rule->pairs[i];
        double min = cobre_table_real(table, pair->min_column, row);
        double max = cobre_table_real(table, pair->max_column, row);
        if (isnan(min) && isnan(max))
            continue;
        min = isnan(min) ? real_at(record, pair->min) : min;
        max = isnan(max) ? real_at(record, pair->max) : max;
        if (!(min > max))
            continue;
        const char *name = table->spec->columns[pair->min_column].name;
        cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR,
                                                 COBRE_KIND_CAPACITY_VIOLATION, LAYER,
                                                 rule->registry, record, name);
        finding.file = cobre_files_known[rule->overrides].path;
        finding.row = (int64_t)row + 1;
        report_pair(input, &finding, name, min, table->spec->columns[pair->max_column].name, max);
    }
}

/* ---- lives ----------------------------------------------------------------------------------- */

static void check_life(const cobre_input *input, const struct registry_rules *rule,
                       const cobre_entity *record)
{
    int64_t entry = integer_at(record, rule->entry), exit = integer_at(record, rule->exit);

    if (entry == COBRE_ABSENT || exit == COBRE_ABSENT || entry < exit)
        return;
    cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR, COBRE_KIND_STAGE_MISMATCH, LAYER,
                                             rule->registry, record, "entry_stage_id");
    finding.message = cobre_report_text(input->report,
                                        "entry_stage_id %lld is not before exit_stage_id %lld",
                                        (long long)entry, (long long)exit);
    finding.suggestion = "Let the entity leave in a later stage than it enters.";
    finding.members = COBRE_MEMBERS(COBRE_INT("stage_id", entry),
                                    COBRE_TEXT("detail", "entry must be before exit"));
    cobre_report_add(input->report, &finding);
}

static void report_filling(const cobre_input *input, const cobre_raw_hydro *hydro,
                           const char *field, const char *detail, const char *suggestion)
{
    cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR, COBRE_KIND_STAGE_MISMATCH, LAYER,
                                             COBRE_HYDROS, &hydro->head, field);

    finding.message = cobre_report_text(input->report, "%s: %s (start %lld)", field, detail,
                                        (long long)hydro->filling_start);
    finding.suggestion = suggestion;
    finding.members = COBRE_MEMBERS(COBRE_INT("stage_id", hydro->filling_start),
                                    COBRE_TEXT("detail", detail));
    cobre_report_add(input->report, &finding);
}

static void check_filling(const cobre_input *input, const cobre_raw_hydro *hydro)
{
    if (!hydro->filling)
        return;
    if (!cobre_input_find(input, COBRE_STUDY_STAGES, hydro->filling_start))
        report_filling(input, hydro, "filling.start_stage_id", "it is no study stage",
                       "Let filling start in a stage of stages.json.");
    if (hydro->entry == COBRE_ABSENT || hydro->entry <= hydro->filling_start)
        report_filling(input, hydro, "entry_stage_id", "it must lie after the start of filling",
                       "Set entry_stage_id to the stage in which the hydro begins to work.");
}

/* ---- two ends -------------------------------------------------------------------------------- */

static void check_ends(const cobre_input *input, cobre_registry registry,
                       const cobre_entity *record, const char *field, int64_t from, int64_t to,
                       const char *detail)
{
    if (from == COBRE_ABSENT || from != to)
        return;
    cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR, COBRE_KIND_PHYSICAL_CONSTRAINT,
                                             LAYER, registry, record, field);
    cobre_report_rule(input, &finding, "two_ends", "Let it lead to another element.", "%s: %s",
                      field, detail);
}

/* What leaves an element arrives at another one. */
static void check_all_ends(const cobre_input *input)
{
    const cobre_registry_items *items = &input->registries[COBRE_LINES];
    const cobre_raw_line *lines = items->items;

    for (size_t i = 0; i < items->count; i++)
        check_ends(input, COBRE_LINES, &lines[i].head, "target_bus_id", lines[i].source,
                   lines[i].target, "the line leads back to its source_bus_id");
    items = &input->registries[COBRE_STATIONS];
    const cobre_raw_station *stations = items->items;
    for (size_t i = 0; i < items->count; i++)
        check_ends(input, COBRE_STATIONS, &stations[i].head, "destination_hydro_id",
                   stations[i].source, stations[i].destination,
                   "the station pumps back to its source_hydro_id");
    items = &input->registries[COBRE_HYDROS];
    const cobre_raw_hydro *hydros = items->items;
    for (size_t i = 0; i < items->count; i++)
        if (hydros[i].diversion)
            check_ends(input, COBRE_HYDROS, &hydros[i].head, "diversion.downstream_id",
                       hydros[i].head.id, hydros[i].diversion_downstream,
                       "the hydro diverts water to itself");
}

/* ---- cascade --------------------------------------------------------------------------------- */

static size_t downstream_of(const cobre_input *input, size_t hydro)
{
    const cobre_raw_hydro *hydros = input->registries[COBRE_HYDROS].items;

    return hydros[hydro].downstream == COBRE_ABSENT
               ? COBRE_NONE
               : cobre_input_index(input, COBRE_HYDROS, hydros[hydro].downstream);
}

static void report_ring(const cobre_input *input, size_t start)
{
    const cobre_raw_hydro *hydros = input->registries[COBRE_HYDROS].items;
    char ring[RING_TEXT] = "";
    size_t at = start, used = 0, count = 0;

    do {
        if (count++ < RING_SHOWN && used < sizeof ring)
            used += (size_t)snprintf(ring + used, sizeof ring - used, "%lld -> ",
                                     (long long)hydros[at].head.id);
        at = downstream_of(input, at);
    } while (at != start);
    cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR, COBRE_KIND_PHYSICAL_CONSTRAINT,
                                             LAYER, COBRE_HYDROS, &hydros[start].head,
                                             "downstream_id");
    finding.internal_kind = "CycleDetected";
    finding.message = count <= RING_SHOWN
                          ? cobre_report_text(input->report, "the cascade runs in a ring: %s%lld",
                                              ring, (long long)hydros[start].head.id)
                          : cobre_report_text(input->report,
                                              "the cascade runs in a ring of %zu hydros: %s... -> "
                                              "%lld",
                                              count, ring, (long long)hydros[start].head.id);
    finding.suggestion = "Let the last hydro of the cascade have downstream_id null.";
    finding.members = COBRE_MEMBERS(COBRE_TEXT("rule", "acyclic_cascade"),
                                    COBRE_TEXT("detail", finding.message));
    cobre_report_add(input->report, &finding);
}

/* Every hydro has at most one downstream: walk from each, and mark each hydro with its first
 * walk. False: there is a ring. */
static bool check_cascade(const cobre_input *input)
{
    size_t count = input->registries[COBRE_HYDROS].count;
    size_t *walk = mcp_arena_array(input->arena, count, sizeof *walk);
    bool is_acyclic = walk != NULL;

    if (!walk)
        cobre_report_out_of_memory(input->report);
    for (size_t start = 0; start < count && walk; start++) {
        size_t at = start;
        while (at != COBRE_NONE && walk[at] == 0) {
            walk[at] = start + 1;
            at = downstream_of(input, at);
        }
        if (at != COBRE_NONE && walk[at] == start + 1) {
            report_ring(input, at);
            is_acyclic = false;
        }
    }
    return is_acyclic;
}

/* ---- diversions ------------------------------------------------------------------------------ */

/* A walk down the cascade and the diversions. */
struct water {
    const cobre_input *input;
    uint8_t *seen; /* by hydro: the walk has begun at it; and ended */
    size_t *path;
    uint8_t *way; /* by place of the path: which ways on from it were tried */
};

enum { SEEN_BEGUN = 1, SEEN_ENDED = 2 };

static size_t next_of(const cobre_input *input, size_t hydro, int way)
{
    const cobre_raw_hydro *hydros = input->registries[COBRE_HYDROS].items;

    if (way == 0)
        return downstream_of(input, hydro);
    return hydros[hydro].diversion
               ? cobre_input_index(input, COBRE_HYDROS, hydros[hydro].diversion_downstream)
               : COBRE_NONE;
}

static void warn_uphill(const cobre_input *input, size_t from, size_t to)
{
    const cobre_raw_hydro *hydros = input->registries[COBRE_HYDROS].items;
    cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_WARNING, COBRE_KIND_PHYSICAL_CONSTRAINT,
                                             LAYER, COBRE_HYDROS, &hydros[from].head,
                                             "diversion.downstream_id");
    finding.internal_kind = "CycleDetected";
    cobre_report_rule(input, &finding, "acyclic_cascade",
                      "Let diversions lead downstream; a pumping station lifts water.",
                      "a diversion closes a ring: water that leaves hydro %lld comes back to it "
                      "through hydro %lld, and can generate again",
                      (long long)hydros[to].head.id, (long long)hydros[from].head.id);
}

static void walk_from(const struct water *w, size_t start)
{
    size_t depth = 0;

    w->path[depth] = start;
    w->way[depth] = 0;
    w->seen[start] = SEEN_BEGUN;
    for (;;) {
        size_t at = w->path[depth];
        if (w->way[depth] == 2) {
            w->seen[at] = SEEN_ENDED;
            if (depth-- == 0)
                return;
            continue;
        }
        size_t next = next_of(w->input, at, w->way[depth]++);
        if (next == COBRE_NONE || next == at || w->seen[next] == SEEN_ENDED)
            continue;
        if (w->seen[next] == SEEN_BEGUN) {
            warn_uphill(w->input, at, next);
            continue;
        }
        w->path[++depth] = next;
        w->way[depth] = 0;
        w->seen[next] = SEEN_BEGUN;
    }
}

/* Rings that have a diversion in them; those without one are errors of the cascade. */
static void warn_diversions(const cobre_input *input)
{
    const cobre_registry_items *items = &input->registries[COBRE_HYDROS];
    const cobre_raw_hydro *hydros = items->items;
    struct water w = { .input = input };
    size_t diversions = 0;

    for (size_t i = 0; i < items->count; i++)
        diversions += hydros[i].diversion != NULL;
    if (diversions == 0)
        return;
    w.seen = mcp_arena_array(input->arena, items->count, sizeof *w.seen);
    w.path = mcp_arena_array(input->arena, items->count, sizeof *w.path);
    w.way = mcp_arena_array(input->arena, items->count, sizeof *w.way);
    if (!w.seen || !w.path || !w.way) {
        cobre_report_out_of_memory(input->report);
        return;
    }
    for (size_t i = 0; i < items->count; i++)
        if (w.seen[i] == 0)
            walk_from(&w, i);
}

/* No more can be lost than is sent. */
static void check_losses(const cobre_input *input)
{
    const cobre_registry_items *items = &input->registries[COBRE_LINES];
    const cobre_raw_line *lines = items->items;

    for (size_t i = 0; i < items->count; i++) {
        if (!(lines[i].losses > 100))
            continue;
        cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR, COBRE_KIND_OUT_OF_RANGE,
                                                 LAYER, COBRE_LINES, &lines[i].head,
                                                 "losses_percent");
        finding.message = cobre_report_text(
            input->report, "losses_percent is %.12g, but must be <= 100", lines[i].losses);
        finding.suggestion = "Give the share of the flow that is lost, in percent.";
        finding.members = COBRE_MEMBERS(COBRE_REAL("value", lines[i].losses), COBRE_REAL("min", 0),
                                        COBRE_REAL("max", 100));
        cobre_report_add(input->report, &finding);
    }
}

/* ---- what is odd, but no error --------------------------------------------------------------- */

static cobre_finding at_initial(cobre_kind kind, const cobre_raw_hydro *hydro, const char *field)
{
    cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_WARNING, kind, LAYER, COBRE_HYDROS,
                                             &hydro->head, field);

    finding.internal_kind = "InvalidValue";
    finding.file = cobre_files_known[COBRE_FILE_INITIAL].path;
    return finding;
}

/* A hydro that is filled begins below its minimum. */
static void warn_storage(const cobre_input *input, const cobre_raw_storage *storage, bool fills)
{
    const cobre_raw_hydro *hydro = (const void *)cobre_input_find(input, COBRE_HYDROS,
                                                                  storage->hydro);

    if (!hydro)
        return;
    double value = storage->value, least = fills ? 0 : hydro->min_storage;
    if (value >= least && value <= hydro->max_storage)
        return;
    cobre_finding finding = at_initial(COBRE_KIND_OUT_OF_RANGE, hydro,
                                       fills ? "filling_storage.value_hm3" : "storage.value_hm3");
    finding.message = cobre_report_text(
        input->report, "initial storage %.12g lies outside the reservoir's %.12g to %.12g hm3",
        value, least, hydro->max_storage);
    finding.suggestion = "Check value_hm3 against reservoir in system/hydros.json.";
    finding.members = COBRE_MEMBERS(COBRE_REAL("value", value), COBRE_REAL("min", least),
                                    COBRE_REAL("max", hydro->max_storage));
    cobre_report_add(input->report, &finding);
}

static int compare_storages(const void *a, const void *b)
{
    int64_t x = ((const cobre_raw_storage *)a)->hydro, y = ((const cobre_raw_storage *)b)->hydro;

    return x < y ? -1 : x > y;
}

/* Whether a list of initial_conditions.json, which is sorted, has the hydro. */
static bool lists(const cobre_raw_storage *list, size_t count, int64_t hydro)
{
    const cobre_raw_storage key = { hydro, 0 };

    return count > 0 && bsearch(&key, list, count, sizeof key, compare_storages);
}

/* A hydro without an entry starts empty (case page, 4), and one that must not be empty can then
 * have no feasible first stage. */
static void warn_no_storage(const cobre_input *input, const cobre_raw_hydro *hydro)
{
    if (!(hydro->min_storage > 0) || hydro->filling ||
        lists(input->storages, input->storage_count, hydro->head.id) ||
        lists(input->filling_storages, input->filling_storage_count, hydro->head.id))
        return;
    cobre_finding finding = at_initial(COBRE_KIND_OUT_OF_RANGE, hydro, "storage");
    finding.message = cobre_report_text(
        input->report, "no initial storage: it counts as 0, below the minimum of %.12g hm3",
        hydro->min_storage);
    finding.suggestion = "Add the hydro to storage with its value_hm3.";
    finding.members = COBRE_MEMBERS(COBRE_REAL("value", 0), COBRE_REAL("min", hydro->min_storage),
                                    COBRE_REAL("max", hydro->max_storage));
    cobre_report_add(input->report, &finding);
}

static void warn_storages(const cobre_input *input)
{
    const cobre_registry_items *items = &input->registries[COBRE_HYDROS];
    const cobre_raw_hydro *hydros = items->items;

    for (size_t i = 0; i < input->storage_count; i++)
        warn_storage(input, &input->storages[i], false);
    for (size_t i = 0; i < input->filling_storage_count; i++)
        warn_storage(input, &input->filling_storages[i], true);
    for (size_t i = 0; i < items->count; i++)
        warn_no_storage(input, &hydros[i]);
}

static void warn_idle_thermals(const cobre_input *input)
{
    const cobre_registry_items *items = &input->registries[COBRE_THERMALS];
    const cobre_raw_thermal *thermals = items->items;

    for (size_t i = 0; i < items->count; i++) {
        if (thermals[i].max > 0)
            continue;
        cobre_finding finding = cobre_finding_at(
            COBRE_SEVERITY_WARNING, COBRE_KIND_PHYSICAL_CONSTRAINT, LAYER, COBRE_THERMALS,
            &thermals[i].head, "generation.max_mw");
        finding.internal_kind = "ModelQuality";
        finding.message = "the plant can never generate: generation.max_mw is 0";
        finding.suggestion = "Remove the plant or give it a capacity.";
        finding.members = COBRE_MEMBERS(COBRE_TEXT("rule", "unused_thermal"),
                                        COBRE_TEXT("detail", "max_mw is 0"));
        cobre_report_add(input->report, &finding);
    }
}

/* What is available of a source with statistics is a share of its capacity: bounds are lost on it.
 */
static void warn_bounds_of_random_sources(const cobre_input *input)
{
    const cobre_table *bounds = &input->tables[COBRE_FILE_SOURCE_BOUNDS];
    const cobre_registry_items *sources = &input->registries[COBRE_SOURCES];
    size_t count = 0;
    const bool *drawn = cobre_noisy_entities(input, COBRE_FILE_SOURCE_STATS, COBRE_SOURCES, false,
                                             &count);

    for (size_t i = 0; drawn && i < bounds->rows; i++) {
        int64_t id = cobre_table_int(bounds, COBRE_COL_ENTITY, bounds->order[i]);
        size_t at = cobre_input_index(input, COBRE_SOURCES, id);
        bool is_first = i == 0 ||
                        cobre_table_int(bounds, COBRE_COL_ENTITY, bounds->order[i - 1]) != id;
        if (!is_first || at >= sources->count || !drawn[at])
            continue;
        cobre_finding finding = cobre_finding_row(
            COBRE_SEVERITY_WARNING, COBRE_KIND_INCOMPATIBLE_SETTINGS, LAYER, input,
            COBRE_FILE_SOURCE_BOUNDS, COBRE_SB_AVAILABLE, bounds->order[i]);
        finding.internal_kind = "ModelQuality";
        cobre_report_setting(input, &finding,
                             "Lower the mean of the source's statistics in those stages, or give "
                             "it no statistics.",
                             "available_generation_mw has no effect: what source %lld has "
                             "available is drawn from its statistics and max_generation_mw",
                             (long long)id);
    }
}

/* ---- the layer ------------------------------------------------------------------------------- */

static void check_registry(const cobre_input *input, const struct registry_rules *rule)
{
    const cobre_registry_items *items = &input->registries[rule->registry];

    for (size_t i = 0; i < items->count; i++) {
        const cobre_entity *record = cobre_registry_at(items, i);
        check_pairs(input, rule, record);
        check_life(input, rule, record);
    }
    if (rule->overrides == COBRE_FILE_COUNT)
        return;
    for (size_t i = 0; i < input->tables[rule->overrides].rows; i++)
        check_row(input, rule, input->tables[rule->overrides].order[i]);
}

void cobre_check_plants(const cobre_input *input)
{
    const cobre_registry_items *hydros = &input->registries[COBRE_HYDROS];

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        check_registry(input, &rules[i]);
    for (size_t i = 0; i < hydros->count; i++)
        check_filling(input, (const cobre_raw_hydro *)hydros->items + i);
    if (check_cascade(input))
        warn_diversions(input);
    check_all_ends(input);
    check_losses(input);
    warn_storages(input);
    warn_idle_thermals(input);
    warn_bounds_of_random_sources(input);
}
