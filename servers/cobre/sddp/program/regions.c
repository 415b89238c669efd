/*
 * regions.c - the rules of the regions: which columns and rows there are, bounds and prices.
 *
 * A column with constant bounds [0, 0] and a row that nothing can violate are omitted. With
 * modeling.compatibility "cobre-0.5" what the original ignores is absent (the method page, 16).
 */
#include "sddp/program/regions.h"

#include <math.h>

#include "lp/lp.h"
#include "sddp/program/context.h"

/* A column from 0 up. */
static bool at_least_zero(region_line *out, double upper, double price)
{
    *out = (region_line){ 0.0, upper, price };
    return true;
}

static bool operates(const program_site *site, size_t hydro)
{
    return site_phase(site, hydro) == COBRE_HYDRO_OPERATING;
}

static bool is_there(const program_site *site, size_t hydro)
{
    return site_phase(site, hydro) != COBRE_HYDRO_ABSENT;
}

static bool fills(const program_site *site, size_t hydro)
{
    return site_phase(site, hydro) == COBRE_HYDRO_FILLING;
}

static bool is_soft(const program_site *site, size_t hydro)
{
    return site->context->extends && operates(site, hydro) && site_hydro(site, hydro)->is_soft &&
           site_hydro(site, hydro)->min_storage > 0.0;
}

/* ---- state and future ------------------------------------------------------------------------ */

static bool storage(region_line *out, const program_site *site, size_t h, size_t k)
{
    const cobre_hydro_stage *at = site_hydro(site, h);

    (void)k;
    *out = (region_line){ at->min_storage, at->max_storage, 0.0 };
    if (!operates(site, h) || is_soft(site, h))
        out->lower = 0.0;
    if (!is_there(site, h))
        out->upper = INFINITY;
    return true;
}

/* Fixed by each solve. */
static bool fixed(region_line *out, const program_site *site, size_t h, size_t k)
{
    (void)site;
    (void)h;
    (void)k;
    return at_least_zero(out, 0.0, 0.0);
}

static double cvar_share(const program_site *site)
{
    const cobre_stage *stage = site->stage;

    return stage->is_cvar && stage->cvar_alpha < 1.0 ? stage->cvar_lambda : 0.0;
}

/* Theta is in thousands, its price d_t per thousand. */
static bool theta(region_line *out, const program_site *site, size_t one, size_t w)
{
    double weight = site->openings > 0 ? (1.0 - cvar_share(site)) / (double)site->openings : 1.0;

    (void)one;
    (void)w;
    *out = (region_line){ 0.0, 0.0, site->stage->discount * weight * COST_SCALE };
    if (site->has_future) {
        out->lower = site->context->floor[site->t] / COST_SCALE;
        out->upper = INFINITY;
    }
    return true;
}

static bool has_tail(const program_site *site)
{
    return site->has_future && site->openings > 0 && cvar_share(site) > 0.0;
}

static bool level(region_line *out, const program_site *site, size_t one, size_t k)
{
    (void)one;
    (void)k;
    *out = (region_line){ -INFINITY, INFINITY,
                          site->stage->discount * cvar_share(site) * COST_SCALE };
    return has_tail(site);
}

static bool tail(region_line *out, const program_site *site, size_t one, size_t w)
{
    double price = site->stage->discount * cvar_share(site) * COST_SCALE;

    (void)one;
    (void)w;
    if (!has_tail(site))
        return false;
    return at_least_zero(out, INFINITY, price / (site->stage->cvar_alpha * (double)site->openings));
}

/* u_w - theta_w + y >= 0 */
static bool tail_row(region_line *out, const program_site *site, size_t one, size_t w)
{
    (void)one;
    (void)w;
    *out = (region_line){ 0.0, INFINITY, 0.0 };
    return has_tail(site);
}

/* ---- water ----------------------------------------------------------------------------------- */

static bool turbined(region_line *out, const program_site *site, size_t h, size_t k)
{
    const cobre_hydro_stage *at = site_hydro(site, h);
    double limit = at->max_turbined, price = 0.0;

    if (site_is_fpha(site, h))
        price = at->fpha_turbined_cost * site_hours(site, k);
    else if (site_productivity(site, h) > 0.0)
        limit = fmin(limit, at->max_generation / site_productivity(site, h));
    at_least_zero(out, limit, price);
    return operates(site, h);
}

static bool spilled(region_line *out, const program_site *site, size_t h, size_t k)
{
    double price = is_there(site, h) ? site_hydro(site, h)->spillage_cost : 0.0;

    return at_least_zero(out, INFINITY, price * site_hours(site, k));
}

static bool diverted(region_line *out, const program_site *site, size_t h, size_t k)
{
    double most = site->input->hydros[h].diversion_max_m3s;

    at_least_zero(out, most, site_hydro(site, h)->diversion_cost * site_hours(site, k));
    return most > 0.0 && operates(site, h);
}

static bool generation(region_line *out, const program_site *site, size_t h, size_t k)
{
    (void)k;
    at_least_zero(out, site_hydro(site, h)->max_generation, 0.0);
    return site_is_fpha(site, h) && operates(site, h);
}

static bool inflow_slack(region_line *out, const program_site *site, size_t h, size_t k)
{
    cobre_inflow_method method = site->input->config.inflow_method;

    (void)k;
    at_least_zero(out, INFINITY,
                  site->input->hydros[h].inflow_nonnegativity_cost * site->stage->hours);
    return method == COBRE_INFLOW_PENALTY || method == COBRE_INFLOW_TRUNCATION_WITH_PENALTY;
}

static bool evaporation(region_line *out, const program_site *site, size_t h, size_t k)
{
    const hydro_model *model = site_model(site, h);

    (void)k;
    if (!site_evaporates(site, h) || !is_there(site, h))
        return false;
    double most = model->evaporation_base +
                  model->evaporation_slope * site_hydro(site, h)->max_storage;
    return at_least_zero(out, 2.0 * fmax(0.0, most), 0.0);
}

static bool evaporation_slack(region_line *out, const program_site *site, size_t h, double price)
{
    at_least_zero(out, INFINITY, price * site->stage->hours);
    return site_evaporates(site, h) && is_there(site, h);
}

static bool evaporation_below(region_line *out, const program_site *site, size_t h, size_t k)
{
    (void)k;
    return evaporation_slack(out, site, h, site_hydro(site, h)->evaporation_neg_cost);
}

static bool evaporation_above(region_line *out, const program_site *site, size_t h, size_t k)
{
    (void)k;
    return evaporation_slack(out, site, h, site_hydro(site, h)->evaporation_pos_cost);
}

static bool withdrawal_slack(region_line *out, const program_site *site, size_t h, double price)
{
    at_least_zero(out, INFINITY, price * site->stage->hours);
    return site_hydro(site, h)->withdrawal > 0.0 && is_there(site, h);
}

static bool withdrawal_below(region_line *out, const program_site *site, size_t h, size_t k)
{
    (void)k;
    return withdrawal_slack(out, site, h, site_hydro(site, h)->withdrawal_neg_cost);
}

static bool withdrawal_above(region_line *out, const program_site *site, size_t h, size_t k)
{
    (void)k;
    return withdrawal_slack(out, site, h, site_hydro(site, h)->withdrawal_pos_cost);
}

/* ---- limits of plants, and their violations -------------------------------------------------- */

static bool outflow_below(region_line *out, const program_site *site, size_t h, size_t k)
{
    const cobre_hydro_stage *at = site_hydro(site, h);

    at_least_zero(out, INFINITY, at->outflow_below_cost * site_hours(site, k));
    return at->min_outflow > 0.0 && is_there(site, h);
}

static bool outflow_above(region_line *out, const program_site *site, size_t h, size_t k)
{
    const cobre_hydro_stage *at = site_hydro(site, h);

    at_least_zero(out, INFINITY, at->outflow_above_cost * site_hours(site, k));
    return at->max_outflow < LP_INFINITY && is_there(site, h);
}

static bool turbined_below(region_line *out, const program_site *site, size_t h, size_t k)
{
    const cobre_hydro_stage *at = site_hydro(site, h);

    at_least_zero(out, INFINITY, at->turbined_below_cost * site_hours(site, k));
    return at->min_turbined > 0.0 && operates(site, h);
}

static bool generation_below(region_line *out, const program_site *site, size_t h, size_t k)
{
    const cobre_hydro_stage *at = site_hydro(site, h);

    at_least_zero(out, INFINITY, at->generation_below_cost * site_hours(site, k));
    return at->min_generation > 0.0 && operates(site, h);
}

static bool storage_below(region_line *out, const program_site *site, size_t h, size_t k)
{
    (void)k;
    at_least_zero(out, INFINITY, site_hydro(site, h)->storage_below_cost);
    return is_soft(site, h);
}

static bool filling_below(region_line *out, const program_site *site, size_t h, size_t k)
{
    (void)k;
    at_least_zero(out, INFINITY, site_hydro(site, h)->filling_target_cost);
    return fills(site, h);
}

static bool filling_target(region_line *out, const program_site *site, size_t h, size_t k)
{
    (void)k;
    at_least_zero(out, INFINITY, site_hydro(site, h)->filling_target_cost);
    return fills(site, h) && site_hydro(site, h)->is_last_filling;
}

/* A row from `lower` up, there when the column of its violation is. */
static bool row_of(region_rule *slack, region_line *out, const program_site *site, size_t h,
                   size_t k, double lower)
{
    bool exists = slack(out, site, h, k);

    *out = (region_line){ lower, INFINITY, 0.0 };
    return exists;
}

static bool outflow_min(region_line *out, const program_site *site, size_t h, size_t k)
{
    return row_of(outflow_below, out, site, h, k, site_hydro(site, h)->min_outflow);
}

static bool outflow_max(region_line *out, const program_site *site, size_t h, size_t k)
{
    bool exists = outflow_above(out, site, h, k);

    *out = (region_line){ -INFINITY, site_hydro(site, h)->max_outflow, 0.0 };
    return exists;
}

static bool turbined_min(region_line *out, const program_site *site, size_t h, size_t k)
{
    return row_of(turbined_below, out, site, h, k, site_hydro(site, h)->min_turbined);
}

static bool generation_min(region_line *out, const program_site *site, size_t h, size_t k)
{
    return row_of(generation_below, out, site, h, k, site_hydro(site, h)->min_generation);
}

static bool storage_min(region_line *out, const program_site *site, size_t h, size_t k)
{
    return row_of(storage_below, out, site, h, k, site_hydro(site, h)->min_storage);
}

static bool filling_row(region_line *out, const program_site *site, size_t h, size_t k)
{
    double grows = HM3_PER_M3S_HOUR * site->stage->hours * site_hydro(site, h)->filling_inflow;

    return row_of(filling_below, out, site, h, k, grows);
}

static bool filling_target_row(region_line *out, const program_site *site, size_t h, size_t k)
{
    return row_of(filling_target, out, site, h, k, site_hydro(site, h)->min_storage);
}

/* ---- rows of plants -------------------------------------------------------------------------- */

/* The right-hand side is what is withdrawn, over the stage or over block k. */
static bool balance(region_line *out, const program_site *site, size_t h, size_t k)
{
    double hours = site->balances > 1 ? site_hours(site, k) : site->stage->hours;
    double drawn = is_there(site, h) ? site_hydro(site, h)->withdrawal : 0.0;

    out->lower = out->upper = -HM3_PER_M3S_HOUR * hours * drawn;
    return true;
}

static bool held(region_line *out, const program_site *site, size_t h, size_t k)
{
    (void)k;
    out->lower = out->upper = 0.0;
    return !is_there(site, h);
}

static bool plane(region_line *out, const program_site *site, size_t h, size_t k)
{
    const hydro_model *model = site_model(site, h);
    size_t p = k / site->blocks;

    if (!site_is_fpha(site, h) || !operates(site, h) || p >= model->plane_count)
        return false;
    *out = (region_line){ -INFINITY, model->planes[p].intercept, 0.0 };
    return true;
}

static bool evaporation_row(region_line *out, const program_site *site, size_t h, size_t k)
{
    (void)k;
    if (!site_evaporates(site, h) || !is_there(site, h))
        return false;
    out->lower = out->upper = site_model(site, h)->evaporation_base;
    return true;
}

/* ---- power ----------------------------------------------------------------------------------- */

static bool thermal(region_line *out, const program_site *site, size_t i, size_t k)
{
    const cobre_thermal_stage *at = &site->input
                                         ->thermal_stages[site->t * site->input->thermal_count + i];

    *out = (region_line){ at->min_mw, at->max_mw, at->cost_per_mwh * site_hours(site, k) };
    return !(at->is_absent && site->context->extends);
}

static bool flow(region_line *out, const program_site *site, size_t l, size_t k, bool is_direct)
{
    const cobre_line_stage *at = &site->input->line_stages[site->t * site->input->line_count + l];
    const double *factor = is_direct ? at->direct_factor : at->reverse_factor;
    double limit = is_direct ? at->direct_mw : at->reverse_mw;

    at_least_zero(out, limit * (factor ? factor[k] : 1.0), at->exchange_cost * site_hours(site, k));
    return !(at->is_absent && site->context->extends);
}

static bool direct(region_line *out, const program_site *site, size_t l, size_t k)
{
    return flow(out, site, l, k, true);
}

static bool reverse(region_line *out, const program_site *site, size_t l, size_t k)
{
    return flow(out, site, l, k, false);
}

static bool deficit(region_line *out, const program_site *site, size_t b, size_t k)
{
    const cobre_bus *bus = &site->input->buses[b];
    size_t segment = k / site->blocks;

    if (segment >= bus->segment_count)
        return false;
    return at_least_zero(out, bus->segments[segment].depth_mw,
                         bus->segments[segment].cost * site_hours(site, k % site->blocks));
}

static bool excess(region_line *out, const program_site *site, size_t b, size_t k)
{
    return at_least_zero(out, INFINITY, site_bus(site, b)->excess_cost * site_hours(site, k));
}

/* The upper bound of a stochastic source is set by each solve; here it is the largest. */
static bool source(region_line *out, const program_site *site, size_t j, size_t k)
{
    const cobre_source *entity = &site->input->sources[j];
    const cobre_source_stage *at = &site->input
                                        ->source_stages[site->t * site->input->source_count + j];
    double most = entity->is_stochastic ? entity->max_mw : at->available_mw;

    at_least_zero(out, most * (at->factor ? at->factor[k] : 1.0),
                  -at->curtailment_cost * site_hours(site, k));
    return !at->is_absent;
}

static bool contract(region_line *out, const program_site *site, size_t c, size_t k)
{
    const cobre_contract_stage
        *at = &site->input->contract_stages[site->t * site->input->contract_count + c];

    *out = (region_line){ at->min_mw, at->max_mw, at->price_per_mwh * site_hours(site, k) };
    return site->context->extends && !at->is_absent;
}

static bool pumped(region_line *out, const program_site *site, size_t j, size_t k)
{
    const cobre_station_stage *at = &site->input
                                         ->station_stages[site->t * site->input->station_count + j];

    (void)k;
    *out = (region_line){ at->min_m3s, at->max_m3s, 0.0 };
    return site->context->extends && !at->is_absent;
}

/* The load where it is certain; that of a stochastic bus is added by each solve. */
static bool load(region_line *out, const program_site *site, size_t b, size_t k)
{
    const cobre_bus_stage *at = site_bus(site, b);

    out->lower = out->upper = at->load_mean * (at->load_factor ? at->load_factor[k] : 1.0);
    if (site->input->bus_is_stochastic[b])
        out->lower = out->upper = 0.0;
    return true;
}

/* ---- generic constraints --------------------------------------------------------------------- */

static bool generic_slack(region_line *out, const program_site *site, size_t row,
                          cobre_sense not_in)
{
    const cobre_constraint_row *at = &site->constraints[row];
    const cobre_constraint *constraint = &site->input->constraints[at->constraint];

    at_least_zero(out, INFINITY, constraint->penalty * site_hours(site, at->block));
    return constraint->has_slack && constraint->sense != not_in;
}

static bool generic_below(region_line *out, const program_site *site, size_t row, size_t k)
{
    (void)k;
    return generic_slack(out, site, row, COBRE_SENSE_LE);
}

static bool generic_above(region_line *out, const program_site *site, size_t row, size_t k)
{
    (void)k;
    return generic_slack(out, site, row, COBRE_SENSE_GE);
}

/* The bound as given; constants of the left side are moved to it when the row is filled. */
static bool generic(region_line *out, const program_site *site, size_t row, size_t k)
{
    const cobre_constraint_row *at = &site->constraints[row];
    cobre_sense sense = site->input->constraints[at->constraint].sense;

    (void)k;
    out->lower = sense == COBRE_SENSE_LE ? -INFINITY : at->bound;
    out->upper = sense == COBRE_SENSE_GE ? INFINITY : at->bound;
    return true;
}

/* ---- the tables ------------------------------------------------------------------------------ */

/* clang-format off */
const region_row region_columns[REGION_COUNT] = {
    /*                            entities          width          cost              rule */
    [REGION_STORAGE]          = { CLASS_HYDRO,      WIDTH_STAGE,   COST_NONE,        storage },
    [REGION_BLOCK_STORAGE]    = { CLASS_HYDRO,      WIDTH_INNER,   COST_NONE,        storage },
    [REGION_INFLOW]           = { CLASS_HYDRO,      WIDTH_STAGE,   COST_NONE,        fixed },
    [REGION_INCOMING]         = { CLASS_HYDRO,      WIDTH_STAGE,   COST_NONE,        fixed },
    [REGION_THETA]            = { CLASS_STUDY,      WIDTH_OPENING, COST_FUTURE,      theta },
    [REGION_LEVEL]            = { CLASS_STUDY,      WIDTH_STAGE,   COST_FUTURE,      level },
    [REGION_TAIL]             = { CLASS_STUDY,      WIDTH_OPENING, COST_FUTURE,      tail },
    [REGION_TURBINED]         = { CLASS_HYDRO,      WIDTH_BLOCK,   COST_FPHA,        turbined },
    [REGION_SPILLED]          = { CLASS_HYDRO,      WIDTH_BLOCK,   COST_SPILLAGE,    spilled },
    [REGION_DIVERTED]         = { CLASS_HYDRO,      WIDTH_BLOCK,   COST_SPILLAGE,    diverted },
    [REGION_GENERATION]       = { CLASS_HYDRO,      WIDTH_BLOCK,   COST_NONE,        generation },
    [REGION_THERMAL]          = { CLASS_THERMAL,    WIDTH_BLOCK,   COST_THERMAL,     thermal },
    [REGION_DIRECT]           = { CLASS_LINE,       WIDTH_BLOCK,   COST_EXCHANGE,    direct },
    [REGION_REVERSE]          = { CLASS_LINE,       WIDTH_BLOCK,   COST_EXCHANGE,    reverse },
    [REGION_DEFICIT]          = { CLASS_BUS,        WIDTH_SEGMENT, COST_DEFICIT,     deficit },
    [REGION_EXCESS]           = { CLASS_BUS,        WIDTH_BLOCK,   COST_EXCESS,      excess },
    [REGION_SOURCE]           = { CLASS_SOURCE,     WIDTH_BLOCK,   COST_CURTAILMENT, source },
    [REGION_CONTRACT]         = { CLASS_CONTRACT,   WIDTH_BLOCK,   COST_CONTRACT,    contract },
    [REGION_PUMPED]           = { CLASS_STATION,    WIDTH_BLOCK,   COST_PUMPING,     pumped },
    [REGION_INFLOW_SLACK]     = { CLASS_HYDRO,      WIDTH_STAGE,   COST_INFLOW,      inflow_slack },
    [REGION_EVAPORATION]      = { CLASS_HYDRO,      WIDTH_STAGE,   COST_NONE,        evaporation },
    [REGION_EVAPORATION_BELOW]= { CLASS_HYDRO,      WIDTH_STAGE,   COST_EVAPORATION, evaporation_below },
    [REGION_EVAPORATION_ABOVE]= { CLASS_HYDRO,      WIDTH_STAGE,   COST_EVAPORATION, evaporation_above },
    [REGION_WITHDRAWAL_BELOW] = { CLASS_HYDRO,      WIDTH_STAGE,   COST_WITHDRAWAL,  withdrawal_below },
    [REGION_WITHDRAWAL_ABOVE] = { CLASS_HYDRO,      WIDTH_STAGE,   COST_WITHDRAWAL,  withdrawal_above },
    [REGION_OUTFLOW_BELOW]    = { CLASS_HYDRO,      WIDTH_BLOCK,   COST_OUTFLOW_BELOW, outflow_below },
    [REGION_OUTFLOW_ABOVE]    = { CLASS_HYDRO,      WIDTH_BLOCK,   COST_OUTFLOW_ABOVE, outflow_above },
    [REGION_TURBINED_BELOW]   = { CLASS_HYDRO,      WIDTH_BLOCK,   COST_TURBINED,    turbined_below },
    [REGION_GENERATION_BELOW] = { CLASS_HYDRO,      WIDTH_BLOCK,   COST_GENERATION,  generation_below },
    [REGION_STORAGE_BELOW]    = { CLASS_HYDRO,      WIDTH_STAGE,   COST_STORAGE,     storage_below },
    [REGION_FILLING_BELOW]    = { CLASS_HYDRO,      WIDTH_STAGE,   COST_FILLING,     filling_below },
    [REGION_FILLING_TARGET]   = { CLASS_HYDRO,      WIDTH_STAGE,   COST_FILLING,     filling_target },
    [REGION_GENERIC_BELOW]    = { CLASS_CONSTRAINT, WIDTH_STAGE,   COST_GENERIC,     generic_below },
    [REGION_GENERIC_ABOVE]    = { CLASS_CONSTRAINT, WIDTH_STAGE,   COST_GENERIC,     generic_above },
};

const region_row region_rows[ROW_REGION_COUNT] = {
    [ROW_BALANCE]        = { CLASS_HYDRO,      WIDTH_BALANCE, COST_NONE, balance },
    [ROW_HELD]           = { CLASS_HYDRO,      WIDTH_BALANCE, COST_NONE, held },
    [ROW_LOAD]           = { CLASS_BUS,        WIDTH_BLOCK,   COST_NONE, load },
    [ROW_OUTFLOW_MIN]    = { CLASS_HYDRO,      WIDTH_BLOCK,   COST_NONE, outflow_min },
    [ROW_OUTFLOW_MAX]    = { CLASS_HYDRO,      WIDTH_BLOCK,   COST_NONE, outflow_max },
    [ROW_TURBINED_MIN]   = { CLASS_HYDRO,      WIDTH_BLOCK,   COST_NONE, turbined_min },
    [ROW_GENERATION_MIN] = { CLASS_HYDRO,      WIDTH_BLOCK,   COST_NONE, generation_min },
    [ROW_PLANE]          = { CLASS_HYDRO,      WIDTH_PLANE,   COST_NONE, plane },
    [ROW_EVAPORATION]    = { CLASS_HYDRO,      WIDTH_STAGE,   COST_NONE, evaporation_row },
    [ROW_STORAGE_MIN]    = { CLASS_HYDRO,      WIDTH_BALANCE, COST_NONE, storage_min },
    [ROW_FILLING]        = { CLASS_HYDRO,      WIDTH_STAGE,   COST_NONE, filling_row },
    [ROW_FILLING_TARGET] = { CLASS_HYDRO,      WIDTH_STAGE,   COST_NONE, filling_target_row },
    [ROW_GENERIC]        = { CLASS_CONSTRAINT, WIDTH_STAGE,   COST_NONE, generic },
    [ROW_TAIL]           = { CLASS_STUDY,      WIDTH_OPENING, COST_NONE, tail_row },
};
/* clang-format on */

size_t region_entities(const region_row *region, const program_site *site)
{
    const cobre_case *in = site->input;
    const size_t counts[] = {
        [CLASS_STUDY] = 1,
        [CLASS_HYDRO] = in->hydro_count,
        [CLASS_BUS] = in->bus_count,
        [CLASS_THERMAL] = in->thermal_count,
        [CLASS_LINE] = in->line_count,
        [CLASS_SOURCE] = in->source_count,
        [CLASS_CONTRACT] = in->contract_count,
        [CLASS_STATION] = in->station_count,
        [CLASS_CONSTRAINT] = site->constraint_count,
    };

    return counts[region->entities];
}

size_t region_places(const region_row *region, const program_site *site)
{
    const size_t places[] = {
        [WIDTH_STAGE] = 1,
        [WIDTH_BLOCK] = site->blocks,
        [WIDTH_BALANCE] = site->balances,
        [WIDTH_INNER] = site->balances - 1,
        [WIDTH_SEGMENT] = site->segments * site->blocks,
        [WIDTH_PLANE] = site->planes * site->blocks,
        [WIDTH_OPENING] = site->openings > 0 ? site->openings : 1,
    };

    return places[region->width];
}
