/*
 * penalties.c - layer 5b: the order of the costs.
 *
 * Missing a filling target must cost more than falling below the minimum storage, that more than a
 * deficit, a deficit more than the constraint violations, and those more than spilling. A violation
 * is a warning: the numbers are valid, but the dispatch may be unexpected. One warning per rule
 * names the worst hydro and the number of hydros, and the file that holds its value. Source:
 * the errors page, section 5.6, rules 6 to 10.
 */
#include "validate/layers.h"

enum { LAYER = 5 };

static const cobre_cost violations[] = {
    COBRE_COST_TURBINED_BELOW,   COBRE_COST_OUTFLOW_BELOW, COBRE_COST_OUTFLOW_ABOVE,
    COBRE_COST_GENERATION_BELOW, COBRE_COST_EVAPORATION,   COBRE_COST_WITHDRAWAL,
};
static const cobre_cost regulars[] = { COBRE_COST_SPILLAGE, COBRE_COST_DIVERSION };

static const char *const cost_names[COBRE_COST_OVERRIDES] = {
    [COBRE_COST_SPILLAGE] = "spillage_cost",
    [COBRE_COST_FPHA_TURBINED] = "fpha_turbined_cost",
    [COBRE_COST_DIVERSION] = "diversion_cost",
    [COBRE_COST_STORAGE_BELOW] = "storage_violation_below_cost",
    [COBRE_COST_FILLING_TARGET] = "filling_target_violation_cost",
    [COBRE_COST_TURBINED_BELOW] = "turbined_violation_below_cost",
    [COBRE_COST_OUTFLOW_BELOW] = "outflow_violation_below_cost",
    [COBRE_COST_OUTFLOW_ABOVE] = "outflow_violation_above_cost",
    [COBRE_COST_GENERATION_BELOW] = "generation_violation_below_cost",
    [COBRE_COST_EVAPORATION] = "evaporation_violation_cost",
    [COBRE_COST_WITHDRAWAL] = "water_withdrawal_violation_cost",
};

static double cost_of(const cobre_input *input, const cobre_raw_hydro *hydro, cobre_cost cost)
{
    return isnan(hydro->costs[cost]) ? input->penalties.costs[cost] : hydro->costs[cost];
}

/* The lowest or highest of some costs over all hydros, with its hydro. */
struct extreme {
    double value;
    cobre_cost cost;
    const cobre_raw_hydro *hydro;
};

static struct extreme find_extreme(const cobre_input *input, const cobre_cost *costs, size_t count,
                                   bool highest)
{
    const cobre_registry_items *items = &input->registries[COBRE_HYDROS];
    const cobre_raw_hydro *hydros = items->items;
    struct extreme found = { highest ? -INFINITY : INFINITY, costs[0], NULL };

    for (size_t i = 0; i < items->count; i++) {
        for (size_t k = 0; k < count; k++) {
            double value = cost_of(input, &hydros[i], costs[k]);
            if (highest ? value > found.value : value < found.value)
                found = (struct extreme){ value, costs[k], &hydros[i] };
        }
    }
    return found;
}

static double highest_of_segments(const cobre_deficit_segment *segments, size_t count, double most)
{
    for (size_t i = 0; i < count; i++)
        most = segments[i].cost > most ? segments[i].cost : most;
    return most;
}

static double highest_deficit(const cobre_input *input)
{
    const cobre_registry_items *items = &input->registries[COBRE_BUSES];
    const cobre_raw_bus *buses = items->items;
    double most = 0;

    for (size_t i = 0; i < items->count; i++) {
        bool own = buses[i].segment_count > 0;
        most = highest_of_segments(own ? buses[i].segments : input->penalties.segments,
                                   own ? buses[i].segment_count : input->penalties.segment_count,
                                   most);
    }
    return most;
}

static void warn(const cobre_input *input, const struct extreme *at, const char *rule, double other,
                 size_t further)
{
    const char *name = cost_names[at->cost];
    cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_WARNING, COBRE_KIND_PENALTY_CONSISTENCY,
                                             LAYER, COBRE_HYDROS, &at->hydro->head, name);

    if (isnan(at->hydro->costs[at->cost])) /* the value is the one for all hydros */
        finding.file = cobre_files_known[COBRE_FILE_PENALTIES].path;
    else
        finding.field = cobre_report_text(input->report, "penalties.%s", name);
    const char *more = further > 0
                           ? cobre_report_text(input->report, "; so do %zu further hydros", further)
                           : "";
    finding.message = cobre_report_text(input->report, "%s is %.12g, the other side %.12g: %s%s",
                                        name, at->value, other, rule, more);
    finding.suggestion = "Check the order of the penalties; the dispatch may prefer a violation.";
    finding.members = COBRE_MEMBERS(COBRE_TEXT("penalty_field", name),
                                    COBRE_REAL("value", at->value),
                                    COBRE_TEXT("violated_rule", rule));
    cobre_report_add(input->report, &finding);
}

/* Rules 6 and 7: per hydro, `cost` must be above `limit` (or above the hydro's `than`). */
static void check_each(const cobre_input *input, cobre_cost cost, cobre_cost than, double limit,
                       const char *rule)
{
    const cobre_registry_items *items = &input->registries[COBRE_HYDROS];
    const cobre_raw_hydro *hydros = items->items;
    struct extreme worst = { 0, cost, NULL };
    double worst_limit = 0;
    size_t count = 0;

    for (size_t i = 0; i < items->count; i++) {
        double value = cost_of(input, &hydros[i], cost);
        double bound = isnan(limit) ? cost_of(input, &hydros[i], than) : limit;
        if (value > bound)
            continue;
        count++;
        if (!worst.hydro || bound - value > worst_limit - worst.value) {
            worst = (struct extreme){ value, cost, &hydros[i] };
            worst_limit = bound;
        }
    }
    if (worst.hydro)
        warn(input, &worst, rule, worst_limit, count - 1);
}

/* ---- contracts ------------------------------------------------------------------------------- */

static double cheapest_deficit(const cobre_input *input, int64_t id)
{
    const cobre_raw_bus *bus = (const void *)cobre_input_find(input, COBRE_BUSES, id);
    bool own = bus && bus->segment_count > 0;
    const cobre_deficit_segment *segments = own ? bus->segments : input->penalties.segments;

    return segments[0].cost; /* they ascend */
}

/* A negative price earns. Without a limit of the power there is none of the earnings. */
static void check_unlimited(const cobre_input *input, const cobre_raw_contract *contract)
{
    if (contract->max < COBRE_NUMBER_MAX)
        return;
    cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR, COBRE_KIND_OUT_OF_RANGE, LAYER,
                                             COBRE_CONTRACTS, &contract->head, "limits.max_mw");
    finding.message = cobre_report_text(
        input->report, "limits.max_mw is no limit, and price_per_mwh %.12g earns without end",
        contract->price);
    finding.suggestion = "Give limits.max_mw, or a price_per_mwh of 0 or more.";
    finding.members = COBRE_MEMBERS(COBRE_REAL("value", contract->max), COBRE_REAL("min", 0),
                                    COBRE_REAL("max", COBRE_NUMBER_MAX));
    cobre_report_add(input->report, &finding);
}

/* What a contract earns must not pay for power that nobody has, nor for power that nobody wants. */
static void check_contract(const cobre_input *input, const cobre_raw_contract *contract)
{
    bool imports = contract->type == 0;
    double limit = imports ? input->penalties.excess_cost : cheapest_deficit(input, contract->bus);

    if (!(contract->price < 0))
        return;
    check_unlimited(input, contract);
    if (!(-contract->price > limit))
        return;
    const char *rule = imports ? "an import should not earn more than the excess cost"
                               : "an export should not earn more than a deficit of its bus costs";
    cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_WARNING, COBRE_KIND_PENALTY_CONSISTENCY,
                                             LAYER, COBRE_CONTRACTS, &contract->head,
                                             "price_per_mwh");
    finding.message = cobre_report_text(input->report,
                                        "price_per_mwh is %.12g, the other side "
                                        "%.12g: %s",
                                        contract->price, limit, rule);
    finding.suggestion = imports ? "Check the price: power is bought to be spilled."
                                 : "Check the price: power is sold that the load then lacks.";
    finding.members = COBRE_MEMBERS(COBRE_TEXT("penalty_field", "price_per_mwh"),
                                    COBRE_REAL("value", contract->price),
                                    COBRE_TEXT("violated_rule", rule));
    cobre_report_add(input->report, &finding);
}

static void check_contracts(const cobre_input *input)
{
    const cobre_registry_items *items = &input->registries[COBRE_CONTRACTS];
    const cobre_raw_contract *contracts = items->items;

    for (size_t i = 0; i < items->count; i++)
        check_contract(input, &contracts[i]);
}

void cobre_check_penalties(const cobre_input *input)
{
    check_contracts(input);
    if (input->registries[COBRE_HYDROS].count == 0)
        return;
    double deficit = highest_deficit(input);
    struct extreme most = find_extreme(input, violations, 6, true);
    struct extreme least = find_extreme(input, violations, 6, false);
    struct extreme spill_most = find_extreme(input, regulars, 2, true);
    struct extreme spill_least = find_extreme(input, regulars, 2, false);

    check_each(input, COBRE_COST_FILLING_TARGET, COBRE_COST_STORAGE_BELOW, NAN,
               "filling_target_violation_cost should be above storage_violation_below_cost");
    check_each(input, COBRE_COST_STORAGE_BELOW, COBRE_COST_STORAGE_BELOW, deficit,
               "storage_violation_below_cost should be above the highest deficit cost");
    if (!(deficit > most.value))
        warn(input, &most, "violation costs should be below the highest deficit cost", deficit, 0);
    if (!(least.value > spill_most.value))
        warn(input, &least, "violation costs should be above spillage and diversion",
             spill_most.value, 0);
    if (!(spill_least.value > 0))
        warn(input, &spill_least, "spillage and diversion costs should be above 0", 0, 0);
}
