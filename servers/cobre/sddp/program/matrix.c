/*
 * matrix.c - the elements of a stage's program: for each kind of entity what its columns do to the
 * rows of water, of power, of limits and of generic constraints.
 *
 * Elements are (row, column, value) triplets in any order; those of one place are added up later.
 * An element of a column or row that the program omits is left out.
 */
#include "sddp/program/stage_lp_int.h"

static void put(builder *b, int row, int column, double value)
{
    if (row == NO_COLUMN || column == NO_COLUMN)
        return;
    if (b->row) {
        b->row[b->elements] = row;
        b->column[b->elements] = column;
        b->value[b->elements] = value;
    }
    b->elements++;
}

static int row_at(const builder *b, row_region r, size_t entity, size_t k)
{
    int first = b->lp->row[r][entity];

    return first == NO_COLUMN ? NO_COLUMN : first + (int)k;
}

static int column_at(const builder *b, column_region r, size_t entity, size_t k)
{
    return stage_lp_column(b->lp, r, entity, k);
}

/* ---- water ----------------------------------------------------------------------------------- */

/* The column of a plant's storage after block k; before the first one for k = -1. */
static int storage_after(const builder *b, size_t h, size_t k)
{
    if (k == SIZE_MAX)
        return column_at(b, REGION_INCOMING, h, 0);
    if (k + 1 < b->site.balances)
        return column_at(b, REGION_BLOCK_STORAGE, h, k);
    return column_at(b, REGION_STORAGE, h, 0);
}

/* `sign` times the flow of an entity's column of block k, into the balance of plant h. */
static void put_block_flow(builder *b, size_t h, int column, size_t k, double sign)
{
    put(b, row_at(b, ROW_BALANCE, h, b->site.balances > 1 ? k : 0), column,
        sign * HM3_PER_M3S_HOUR * site_hours(&b->site, k));
}

static void put_flow(builder *b, size_t h, column_region r, size_t entity, double sign)
{
    for (size_t k = 0; k < b->site.blocks; k++)
        put_block_flow(b, h, column_at(b, r, entity, k), k, sign);
}

/* `sign` times a rate that holds for the whole stage. */
static void put_rate(builder *b, size_t h, column_region r, double sign)
{
    int column = column_at(b, r, h, 0);

    if (b->site.balances == 1)
        put(b, row_at(b, ROW_BALANCE, h, 0), column,
            sign * HM3_PER_M3S_HOUR * b->site.stage->hours);
    for (size_t k = 0; b->site.balances > 1 && k < b->site.blocks; k++)
        put_block_flow(b, h, column, k, sign);
}

static void put_balance(builder *b, size_t h)
{
    for (size_t k = 0; k < b->site.balances; k++) {
        put(b, row_at(b, ROW_BALANCE, h, k), storage_after(b, h, k), 1.0);
        put(b, row_at(b, ROW_BALANCE, h, k), storage_after(b, h, k - 1), -1.0);
        put(b, row_at(b, ROW_HELD, h, k), storage_after(b, h, k), 1.0);
        put(b, row_at(b, ROW_HELD, h, k), column_at(b, REGION_INCOMING, h, 0), -1.0);
        put(b, row_at(b, ROW_STORAGE_MIN, h, k), storage_after(b, h, k), 1.0);
        put(b, row_at(b, ROW_STORAGE_MIN, h, k), column_at(b, REGION_STORAGE_BELOW, h, 0), 1.0);
    }
    put_rate(b, h, REGION_INFLOW, -1.0);
    put_rate(b, h, REGION_INFLOW_SLACK, -1.0);
    put_rate(b, h, REGION_EVAPORATION, 1.0);
    put_rate(b, h, REGION_WITHDRAWAL_BELOW, -1.0);
    put_rate(b, h, REGION_WITHDRAWAL_ABOVE, 1.0);
}

static void put_outflows(builder *b, size_t h)
{
    const cobre_hydro *hydro = &b->site.input->hydros[h];

    put_flow(b, h, REGION_TURBINED, h, 1.0);
    put_flow(b, h, REGION_SPILLED, h, 1.0);
    put_flow(b, h, REGION_DIVERTED, h, 1.0);
    if (hydro->downstream != COBRE_NONE) {
        put_flow(b, hydro->downstream, REGION_TURBINED, h, -1.0);
        put_flow(b, hydro->downstream, REGION_SPILLED, h, -1.0);
    }
    if (hydro->diversion_downstream != COBRE_NONE)
        put_flow(b, hydro->diversion_downstream, REGION_DIVERTED, h, -1.0);
}

/* Q - slope/2 * (v_in + v_out) + below - above = base */
static void put_evaporation(builder *b, size_t h)
{
    int row = row_at(b, ROW_EVAPORATION, h, 0);

    if (row == NO_COLUMN)
        return;
    double half = site_model(&b->site, h)->evaporation_slope / 2.0;
    put(b, row, column_at(b, REGION_EVAPORATION, h, 0), 1.0);
    put(b, row, column_at(b, REGION_STORAGE, h, 0), -half);
    put(b, row, column_at(b, REGION_INCOMING, h, 0), -half);
    put(b, row, column_at(b, REGION_EVAPORATION_BELOW, h, 0), 1.0);
    put(b, row, column_at(b, REGION_EVAPORATION_ABOVE, h, 0), -1.0);
}

/* v - v_in + below >= growth; v + target >= minimum */
static void put_filling(builder *b, size_t h)
{
    int grows = row_at(b, ROW_FILLING, h, 0), ends = row_at(b, ROW_FILLING_TARGET, h, 0);
    int storage = column_at(b, REGION_STORAGE, h, 0);

    put(b, grows, storage, 1.0);
    put(b, grows, column_at(b, REGION_INCOMING, h, 0), -1.0);
    put(b, grows, column_at(b, REGION_FILLING_BELOW, h, 0), 1.0);
    put(b, ends, storage, 1.0);
    put(b, ends, column_at(b, REGION_FILLING_TARGET, h, 0), 1.0);
}

/* ---- plants: power and limits ---------------------------------------------------------------- */

/* What plant h generates in block k, times `factor`, into a row. */
static void put_generation(builder *b, int row, size_t h, size_t k, double factor)
{
    if (site_is_fpha(&b->site, h))
        put(b, row, column_at(b, REGION_GENERATION, h, k), factor);
    else
        put(b, row, column_at(b, REGION_TURBINED, h, k), factor * site_productivity(&b->site, h));
}

static void put_outflow(builder *b, int row, size_t h, size_t k)
{
    put(b, row, column_at(b, REGION_TURBINED, h, k), 1.0);
    put(b, row, column_at(b, REGION_SPILLED, h, k), 1.0);
    put(b, row, column_at(b, REGION_DIVERTED, h, k), 1.0);
}

static void put_limits(builder *b, size_t h)
{
    for (size_t k = 0; k < b->site.blocks; k++) {
        int row = row_at(b, ROW_OUTFLOW_MIN, h, k);
        put_outflow(b, row, h, k);
        put(b, row, column_at(b, REGION_OUTFLOW_BELOW, h, k), 1.0);
        row = row_at(b, ROW_OUTFLOW_MAX, h, k);
        put_outflow(b, row, h, k);
        put(b, row, column_at(b, REGION_OUTFLOW_ABOVE, h, k), -1.0);
        row = row_at(b, ROW_TURBINED_MIN, h, k);
        put(b, row, column_at(b, REGION_TURBINED, h, k), 1.0);
        put(b, row, column_at(b, REGION_TURBINED_BELOW, h, k), 1.0);
        row = row_at(b, ROW_GENERATION_MIN, h, k);
        put_generation(b, row, h, k, 1.0);
        put(b, row, column_at(b, REGION_GENERATION_BELOW, h, k), 1.0);
    }
}

/* G - volume/2 * (v before + v after) - turbined * q - spilled * s <= intercept */
static void put_planes(builder *b, size_t h)
{
    const hydro_model *model = site_model(&b->site, h);

    if (b->lp->row[ROW_PLANE][h] == NO_COLUMN)
        return;
    for (size_t p = 0; p < model->plane_count; p++)
        for (size_t k = 0; k < b->site.blocks; k++) {
            const hydro_plane *plane = &model->planes[p];
            int row = row_at(b, ROW_PLANE, h, p * b->site.blocks + k);
            size_t at = b->site.balances > 1 ? k : 0;
            put(b, row, column_at(b, REGION_GENERATION, h, k), 1.0);
            put(b, row, storage_after(b, h, at), -plane->volume / 2.0);
            put(b, row, storage_after(b, h, at - 1), -plane->volume / 2.0);
            put(b, row, column_at(b, REGION_TURBINED, h, k), -plane->turbined);
            put(b, row, column_at(b, REGION_SPILLED, h, k), -plane->spilled);
        }
}

static void put_hydro(builder *b, size_t h)
{
    put_balance(b, h);
    put_outflows(b, h);
    put_evaporation(b, h);
    put_filling(b, h);
    for (size_t k = 0; k < b->site.blocks; k++)
        put_generation(b, row_at(b, ROW_LOAD, b->site.input->hydros[h].bus, k), h, k, 1.0);
    put_limits(b, h);
    put_planes(b, h);
}

/* ---- power ----------------------------------------------------------------------------------- */

/* `factor` times the power of an entity's columns, into the load rows of a bus. */
static void put_supply(builder *b, size_t bus, column_region r, size_t entity, double factor)
{
    for (size_t k = 0; k < b->site.blocks; k++)
        put(b, row_at(b, ROW_LOAD, bus, k), column_at(b, r, entity, k), factor);
}

static void put_line(builder *b, size_t l)
{
    const cobre_line *line = &b->site.input->lines[l];
    double arrives = b->site.context->extends ? 1.0 - line->losses_percent / 100.0 : 1.0;

    put_supply(b, line->target, REGION_DIRECT, l, arrives);
    put_supply(b, line->target, REGION_REVERSE, l, -1.0);
    put_supply(b, line->source, REGION_DIRECT, l, -1.0);
    put_supply(b, line->source, REGION_REVERSE, l, arrives);
}

static void put_bus(builder *b, size_t bus)
{
    for (size_t s = 0; s < b->site.input->buses[bus].segment_count; s++)
        for (size_t k = 0; k < b->site.blocks; k++)
            put(b, row_at(b, ROW_LOAD, bus, k),
                column_at(b, REGION_DEFICIT, bus, s * b->site.blocks + k), 1.0);
    put_supply(b, bus, REGION_EXCESS, bus, -1.0);
}

static void put_station(builder *b, size_t j)
{
    const cobre_station *station = &b->site.input->stations[j];

    put_flow(b, station->source, REGION_PUMPED, j, 1.0);
    put_flow(b, station->destination, REGION_PUMPED, j, -1.0);
    put_supply(b, station->bus, REGION_PUMPED, j, -station->consumption);
}

/* ---- generic constraints --------------------------------------------------------------------- */

/* Take a constant of the left side to the bounds of a row. */
static void move_constant(builder *b, int row, double value)
{
    if (!b->row_lower)
        return;
    b->row_lower[row] -= value;
    b->row_upper[row] -= value;
}

static void put_withdrawal(builder *b, int row, size_t h, double factor)
{
    if (site_phase(&b->site, h) != COBRE_HYDRO_ABSENT)
        move_constant(b, row, factor * site_hydro(&b->site, h)->withdrawal);
    put(b, row, column_at(b, REGION_WITHDRAWAL_BELOW, h, 0), -factor);
    put(b, row, column_at(b, REGION_WITHDRAWAL_ABOVE, h, 0), factor);
}

/* Available less generated: what is available moves to the bounds, with the noise where it is
 * stochastic. */
static void put_curtailment(builder *b, int row, size_t j, size_t k, double factor)
{
    const cobre_case *in = b->site.input;
    int column = column_at(b, REGION_SOURCE, j, k);

    put(b, row, column, -factor);
    if (column == NO_COLUMN)
        return;
    if (!in->sources[j].is_stochastic) {
        region_line line;
        region_columns[REGION_SOURCE].rule(&line, &b->site, j, k);
        move_constant(b, row, factor * line.upper);
        return;
    }
    if (b->moving)
        b->moving[b->moving_count] = (moving_term){ row, j, k, factor };
    b->moving_count++;
}

static void put_hydro_term(builder *b, int row, const cobre_term *term, size_t k)
{
    size_t h = term->entity;
    double factor = term->coefficient;

    switch (term->variable) {
    case COBRE_VAR_HYDRO_STORAGE:
        put(b, row, column_at(b, REGION_STORAGE, h, 0), factor);
        break;
    case COBRE_VAR_HYDRO_EVAPORATION:
        put(b, row, column_at(b, REGION_EVAPORATION, h, 0), factor);
        break;
    case COBRE_VAR_HYDRO_TURBINED:
        put(b, row, column_at(b, REGION_TURBINED, h, k), factor);
        break;
    case COBRE_VAR_HYDRO_SPILLAGE:
        put(b, row, column_at(b, REGION_SPILLED, h, k), factor);
        break;
    case COBRE_VAR_HYDRO_DIVERSION:
        put(b, row, column_at(b, REGION_DIVERTED, h, k), factor);
        break;
    case COBRE_VAR_HYDRO_OUTFLOW: /* without diversion */
        put(b, row, column_at(b, REGION_TURBINED, h, k), factor);
        put(b, row, column_at(b, REGION_SPILLED, h, k), factor);
        break;
    default:
        put_generation(b, row, h, k, factor);
        break;
    }
}

static void put_deficit_term(builder *b, int row, size_t bus, size_t k, double factor)
{
    for (size_t s = 0; s < b->site.input->buses[bus].segment_count; s++)
        put(b, row, column_at(b, REGION_DEFICIT, bus, s * b->site.blocks + k), factor);
}

/* The variables that the original's programs have no column for. */
static void put_extended_term(builder *b, int row, const cobre_term *term, size_t k)
{
    size_t e = term->entity;
    double factor = term->coefficient;

    if (!b->site.context->extends)
        return;
    switch (term->variable) {
    case COBRE_VAR_HYDRO_WITHDRAWAL:
        put_withdrawal(b, row, e, factor);
        break;
    case COBRE_VAR_PUMPING_FLOW:
        put(b, row, column_at(b, REGION_PUMPED, e, k), factor);
        break;
    case COBRE_VAR_PUMPING_POWER:
        put(b, row, column_at(b, REGION_PUMPED, e, k),
            factor * b->site.input->stations[e].consumption);
        break;
    case COBRE_VAR_CONTRACT_IMPORT:
    case COBRE_VAR_CONTRACT_EXPORT:
        put(b, row, column_at(b, REGION_CONTRACT, e, k), factor);
        break;
    case COBRE_VAR_SOURCE_GENERATION:
        put(b, row, column_at(b, REGION_SOURCE, e, k), factor);
        break;
    default:
        put_curtailment(b, row, e, k, factor);
        break;
    }
}

static void put_term(builder *b, int row, const cobre_term *term, size_t k)
{
    size_t e = term->entity;
    double factor = term->coefficient;

    switch (term->variable) {
    case COBRE_VAR_HYDRO_STORAGE:
    case COBRE_VAR_HYDRO_EVAPORATION:
    case COBRE_VAR_HYDRO_TURBINED:
    case COBRE_VAR_HYDRO_SPILLAGE:
    case COBRE_VAR_HYDRO_DIVERSION:
    case COBRE_VAR_HYDRO_OUTFLOW:
    case COBRE_VAR_HYDRO_GENERATION:
        put_hydro_term(b, row, term, k);
        break;
    case COBRE_VAR_THERMAL_GENERATION:
        put(b, row, column_at(b, REGION_THERMAL, e, k), factor);
        break;
    case COBRE_VAR_LINE_DIRECT:
        put(b, row, column_at(b, REGION_DIRECT, e, k), factor);
        break;
    case COBRE_VAR_LINE_REVERSE:
        put(b, row, column_at(b, REGION_REVERSE, e, k), factor);
        break;
    case COBRE_VAR_LINE_EXCHANGE:
        put(b, row, column_at(b, REGION_DIRECT, e, k), factor);
        put(b, row, column_at(b, REGION_REVERSE, e, k), -factor);
        break;
    case COBRE_VAR_BUS_DEFICIT:
        put_deficit_term(b, row, e, k, factor);
        break;
    case COBRE_VAR_BUS_EXCESS:
        put(b, row, column_at(b, REGION_EXCESS, e, k), factor);
        break;
    default:
        put_extended_term(b, row, term, k);
        break;
    }
}

static void put_constraint(builder *b, size_t i)
{
    const cobre_constraint_row *at = &b->site.constraints[i];
    const cobre_constraint *constraint = &b->site.input->constraints[at->constraint];
    int row = row_at(b, ROW_GENERIC, i, 0);

    for (size_t n = 0; n < constraint->term_count; n++) {
        const cobre_term *term = &constraint->terms[n];
        size_t k = term->block == COBRE_NONE ? at->block : term->block;
        if (k < b->site.blocks)
            put_term(b, row, term, k);
    }
    put(b, row, column_at(b, REGION_GENERIC_BELOW, i, 0), 1.0);
    put(b, row, column_at(b, REGION_GENERIC_ABOVE, i, 0), -1.0);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* u_w - theta_w + y >= 0 */
static void put_tail(builder *b)
{
    for (size_t w = 0; w < b->lp->width[REGION_THETA]; w++) {
        int row = row_at(b, ROW_TAIL, 0, w);
        put(b, row, column_at(b, REGION_TAIL, 0, w), 1.0);
        put(b, row, column_at(b, REGION_THETA, 0, w), -1.0);
        put(b, row, column_at(b, REGION_LEVEL, 0, 0), 1.0);
    }
}

void matrix_put(builder *b)
{
    const cobre_case *in = b->site.input;

    b->elements = b->moving_count = 0;
    for (size_t h = 0; h < in->hydro_count; h++)
        put_hydro(b, h);
    for (size_t i = 0; i < in->thermal_count; i++)
        put_supply(b, in->thermals[i].bus, REGION_THERMAL, i, 1.0);
    for (size_t l = 0; l < in->line_count; l++)
        put_line(b, l);
    for (size_t i = 0; i < in->bus_count; i++)
        put_bus(b, i);
    for (size_t j = 0; j < in->source_count; j++)
        put_supply(b, in->sources[j].bus, REGION_SOURCE, j, 1.0);
    for (size_t c = 0; c < in->contract_count; c++)
        put_supply(b, in->contracts[c].bus, REGION_CONTRACT, c,
                   in->contracts[c].is_export ? -1.0 : 1.0);
    for (size_t j = 0; j < in->station_count; j++)
        put_station(b, j);
    for (size_t i = 0; i < b->site.constraint_count; i++)
        put_constraint(b, i);
    put_tail(b);
}
