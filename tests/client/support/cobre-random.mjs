/*
 * cobre-random.mjs - small random cases: a plain object that holds all numbers of a case, and the
 * case directory of it.
 *
 * randomCase(seed, features) draws each feature of the list with a chance, so that cases differ in
 * what they combine. Numbers have few digits, so that files and equations hold the same ones. The
 * openings are given, so the whole scenario tree is known. Names are those of the case-format page.
 */
import fs from 'node:fs';
import path from 'node:path';

import { writeRows as writeParquetRows } from './cobre-parquet.mjs';

/** Mulberry32. */
export function random(seed) {
    let state = seed >>> 0;
    const next = () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let x = Math.imul(state ^ (state >>> 15), state | 1);
        x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
        return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
    };
    const between = (low, high, digits = 2) => Number((low + (high - low) * next()).toFixed(digits));
    const integer = (low, high) => low + Math.floor(next() * (high - low + 1));
    const pick = (items) => items[integer(0, items.length - 1)];
    const chance = (share) => next() < share;
    return { between, integer, pick, chance };
}

const times = (count, make) => Array.from({ length: count }, (_, i) => make(i));

function randomHydro(r, id, count, buses, has) {
    /* A block's inflow is some 20 hm3: small reservoirs feel the order of blocks. */
    const max = has('chronological blocks') ? r.between(8, 40, 0) : r.between(60, 300, 0);
    const min = r.chance(0.3) ? r.between(0, 0.2 * max, 0) : 0;
    const turbined = r.between(20, 60, 0);
    const productivity = r.between(0.4, 1.2, 3);
    const hydro = {
        id, bus: r.integer(0, buses - 1), downstream: id + 1 < count && r.chance(0.7) ? id + 1 : null,
        min, max, initial: r.between(min, max, 1), turbined, productivity,
        minTurbined: 0, minGeneration: 0, minOutflow: 0, maxOutflow: null,
        maxGeneration: r.between(0.6 * turbined * productivity, 1.3 * turbined * productivity, 1),
        diversion: null, withdrawal: [], past: times(2, () => r.between(10, 40, 1)), filling: null,
    };
    if (has('operating limits')) {
        hydro.minTurbined = r.between(0, 0.3 * turbined, 1);
        hydro.minOutflow = r.between(0, 15, 1);
        hydro.maxOutflow = r.chance(0.5) ? r.between(30, 80, 0) : null;
        hydro.minGeneration = r.between(0, 0.2 * hydro.maxGeneration, 1);
    }
    if (has('diversion') && id + 1 < count)
        hydro.diversion = { downstream: id + 1, max: r.between(5, 20, 0) };
    return hydro;
}

/** Concave planes: each is steeper in the flow and lower at zero than none. */
function randomPlanes(r, hydro) {
    return times(r.integer(1, 3), (id) => ({
        id, gamma0: r.between(0, 8, 2), gammaV: r.between(0, 0.05, 4),
        gammaQ: r.between(0.3, 0.9, 3), gammaS: -r.between(0, 0.05, 4), kappa: r.between(0.96, 1, 3),
    })).map((plane, i) => ({ ...plane, gamma0: plane.gamma0 + 3 * i, hydro: hydro.id }));
}

const iso = (year, month, day) => new Date(Date.UTC(year, month, day)).toISOString().slice(0, 10);

/** Months from January 2030, or weeks that cross from January to February. */
function randomStages(r, count, has) {
    const weeks = has('weeks in months');
    const first = r.pick([8, 15, 22]);
    return times(count, (t) => {
        const whole = weeks ? r.between(160, 168, 0) : r.between(600, 744, 0);
        const part = r.between(0.2 * whole, 0.4 * whole, 0);
        const blocks = r.chance(0.7) ? [part, whole - part] : [whole];
        const start = weeks ? iso(2030, 0, first + 7 * t) : iso(2030, t, 1);
        return {
            id: t, start, end: weeks ? iso(2030, 0, first + 7 * (t + 1)) : iso(2030, t + 1, 1), blocks,
            season: weeks ? new Date(start).getUTCMonth() : t, isWeek: weeks,
            isChronological: blocks.length > 1 && has('chronological blocks') && r.chance(0.7),
            cvar: has('cvar') && r.chance(0.7)
                ? { alpha: r.pick([0.2, 0.5, 0.75, 1]), lambda: r.pick([0.25, 0.5, 1]) } : null,
        };
    });
}

const deviates = [-1.6, -1.1, -0.7, -0.3, 0, 0.2, 0.6, 1.2, 1.7];

/** Inflow statistics with rows for the stages before the first, coefficients of up to two lags. Dry
 *  rivers have negative inflows. */
function randomInflow(r, hydros, stages, has) {
    const orders = hydros.map(() => (has('autoregressive') ? r.integer(0, 2) : 0));
    const [low, high] = has('dry rivers') || has('truncation') ? [1, 15] : [15, 50];
    return {
        method: has('truncation') ? r.pick(['truncation', 'truncation_with_penalty']) : 'penalty',
        stats: hydros.map(() => times(stages.length + 2, () => ({ mean: r.between(low, high, 1),
                                                                 std: r.between(2, 7, 1) }))),
        coefficients: hydros.map((_, h) => stages.map(() => times(orders[h], (l) => (
            l === 0 ? r.between(0.1, 0.6, 3) : r.between(-0.2, 0.3, 3))))),
        ratios: hydros.map((_, h) => stages.map(() => (orders[h] ? r.between(0.6, 1, 3) : 1))),
    };
}

function randomSystem(r, has) {
    const buses = r.integer(1, 2);
    const count = r.integer(1, 3);
    const hydros = times(count, (id) => randomHydro(r, id, count, buses, has));
    const anyBus = () => r.integer(0, buses - 1);
    return {
        buses, hydros,
        thermals: times(r.integer(1, 3), (id) => ({
            id, bus: anyBus(), min: r.chance(0.3) ? r.between(0, 4, 1) : 0,
            max: r.between(8, 25, 1), cost: r.between(10, 120, 1) })),
        lines: buses === 2 ? [{ id: 0, source: 0, target: 1, direct: r.between(5, 30, 0),
                                reverse: r.between(5, 30, 0), cost: r.between(0.1, 2, 2),
                                losses: has('line losses') ? r.between(1, 8, 1) : 0 }] : [],
        sources: has('sources') ? times(r.integer(1, 2), (id) => ({
            id, bus: anyBus(), max: r.between(5, 20, 1), cost: r.between(0.1, 3, 2) })) : [],
        stations: has('pumping') && count > 1 ? [{
            id: 0, bus: anyBus(), source: count - 1, destination: 0,
            consumption: r.between(0.2, 0.6, 2), min: r.chance(0.3) ? 1 : 0,
            max: r.between(3, 12, 1) }] : [],
        contracts: has('contracts') ? times(r.integer(1, 2), (id) => ({
            id, bus: anyBus(), type: id === 0 ? 'import' : 'export',
            price: id === 0 ? r.between(30, 150, 1) : -r.between(1, 30, 1),
            min: r.chance(0.3) ? 1 : 0, max: r.between(3, 10, 1) })) : [],
        planes: has('fpha') ? randomPlanes(r, hydros[0]) : [],
        evaporation: has('evaporation') ? hydros.slice(-1).map((hydro) => ({
            hydro: hydro.id, mm: times(12, () => r.between(20, 120, 0)),
            area: [r.between(1, 5, 1), r.between(10, 30, 1)] })) : [],
    };
}

/** A row for a stage and each of its blocks; "<=" bounds what is sold, ">=" keeps water. */
function randomConstraints(r, system, stages, has) {
    const constraints = [];
    const add = (expression, sense, bound) => constraints.push({
        id: constraints.length, expression, sense, penalty: r.between(20, 500, 0),
        rows: stages.filter(() => r.chance(0.7)).map((stage) => ({
            stage: stage.id, bound: bound(), block: r.chance(0.2) ? r.integer(0, stage.blocks.length - 1) : null })),
    });
    if (!has('generic constraints'))
        return [];
    const last = system.hydros.at(-1);
    add([[1, 'hydro_storage', 0]], '>=', () => r.between(0, system.hydros[0].max, 0));
    add([[1, 'thermal_generation', 0], [0.5, 'hydro_generation', last.id]], '<=',
        () => r.between(5, 30, 1));
    add([[2, 'hydro_outflow', last.id], [-1, 'hydro_turbined', 0], [1, 'bus_deficit', 0]], '==',
        () => r.between(5, 40, 1));
    if (system.lines.length)
        add([[1, 'line_exchange', 0]], '>=', () => r.between(-10, 10, 1));
    const names = variables(system);
    for (let i = r.integer(0, 2); i > 0; i--)
        add(times(r.integer(1, 4), () => [r.between(-2, 2, 1) || 1, ...r.pick(names)]),
            r.pick(['<=', '>=', '==']), () => r.between(-20, 40, 1));
    return constraints.filter((constraint) => constraint.rows.length);
}

/** Every variable that an expression may name, some in their first block whatever the row's. */
function variables(system) {
    const of = (items, ...names) => items.flatMap(({ id }) => names.map((name) => [name, id]));
    return [
        ...of(system.hydros, 'hydro_storage', 'hydro_turbined', 'hydro_spillage', 'hydro_outflow', 'hydro_generation',
              'hydro_diversion', 'hydro_evaporation', 'hydro_withdrawal'),
        ...system.hydros.map(({ id }) => ['hydro_turbined', id, 0]),
        ...of(system.thermals, 'thermal_generation'), ...system.thermals.map(({ id }) => ['thermal_generation', id, 0]),
        ...of(system.lines, 'line_direct', 'line_reverse', 'line_exchange'),
        ...of(times(system.buses, (id) => ({ id })), 'bus_deficit', 'bus_excess'),
        ...of(system.stations, 'pumping_flow', 'pumping_power'),
        ...system.contracts.map(({ id, type }) => [`contract_${type}`, id]),
        ...of(system.sources, 'non_controllable_generation', 'non_controllable_curtailment'),
    ];
}

/** Some elements enter or leave: they are there from stage `entry` on, before stage `exit`. The
 *  first two hydros stay, so that there is water. */
function randomLives(r, system, count) {
    for (const item of [...system.thermals, ...system.lines, ...system.stations, ...system.contracts,
                        ...system.sources, ...system.hydros.slice(2)]) {
        if (r.chance(0.4))
            item.entry = r.integer(0, count - 1);
        if (r.chance(0.3))
            item.exit = r.integer((item.entry ?? 0) + 1, count);
    }
}

/** The last of several hydros is filled during some stages before it enters. */
function randomFilling(r, system, count) {
    const hydro = system.hydros.at(-1);
    if (system.hydros.length < 2)
        return;
    const start = r.integer(0, count - 1);
    hydro.min = r.between(0.1 * hydro.max, 0.4 * hydro.max, 0);
    hydro.initial = r.between(0, hydro.min, 1);
    hydro.filling = { start, inflow: r.chance(0.7) ? r.between(1, 12, 1) : 0 };
    hydro.entry = r.integer(start + 1, count);
    if ((hydro.exit ?? Infinity) <= hydro.entry)
        delete hydro.exit;
}

/** Values of single stages: item.at[stage]. A name is that of the item's member. */
function randomOverrides(r, system, stages, canRaise) {
    const override = (items, make) => items.forEach((item) => {
        item.at = stages.map(() => (r.chance(0.4) ? make(item) : {}));
    });
    override(system.hydros, (hydro) => ({
        max: r.between(0.7 * hydro.max, 1.2 * hydro.max, 0) || hydro.max,
        ...(canRaise ? { min: r.between(0, 0.3 * hydro.max, 0) } : {}),
        turbined: r.between(0.5 * hydro.turbined, 1.2 * hydro.turbined, 0), minOutflow: r.between(0, 15, 1),
        maxOutflow: r.between(30, 80, 0), minTurbined: r.between(0, 5, 1), minGeneration: r.between(0, 5, 1),
        maxGeneration: r.between(10, 60, 1),
        costs: { spillage: r.between(0.001, 0.05, 3), outflowBelow: r.between(50, 200, 0), fpha: r.between(0.001, 0.02, 3),
                 generation: r.between(50, 200, 0), storage: r.between(200, 3000, 0), filling: r.between(200, 3000, 0),
                 evaporation: r.between(50, 200, 0), withdrawal: r.between(50, 200, 0) },
    }));
    override(system.thermals, () => ({ min: r.between(0, 4, 1), max: r.between(4, 30, 1), cost: r.between(5, 150, 1) }));
    override(system.lines, () => ({ direct: r.between(0, 30, 0), reverse: r.between(0, 30, 0), cost: r.between(0.1, 5, 2) }));
    override(system.stations, () => ({ min: 0, max: r.between(0, 15, 1) }));
    override(system.contracts, (contract) => ({
        min: 0, max: r.between(0, 12, 1), price: contract.type === 'import' ? r.between(10, 200, 1) : -r.between(1, 40, 1) }));
    override(system.sources, () => ({ cost: r.between(0.1, 3, 2) }));
    for (const line of system.lines)
        line.factors = stages.map(({ blocks }) => blocks.map(() => [r.between(0.3, 1.2, 2), r.between(0.3, 1.2, 2)]));
}

/** A case: `features` lists what may occur. */
export function randomCase(seed, features) {
    const r = random(seed);
    const drawn = new Set(features.filter(() => r.chance(0.6)));
    if (drawn.has('autoregressive')) /* cut off, the future cost would not be convex in the lags */
        drawn.delete('truncation');
    const has = (name) => drawn.has(name);
    const stages = randomStages(r, r.pick([2, 2, 3, 3, 4]), has);
    const system = randomSystem(r, has);
    if (has('entry and exit'))
        randomLives(r, system, stages.length);
    if (has('filling'))
        randomFilling(r, system, stages.length);
    if (has('overrides'))
        randomOverrides(r, system, stages, !has('truncation'));
    if (has('truncation')) /* where nothing makes up for water that is missing */
        [...system.hydros.filter(({ filling }) => !filling), ...system.stations].forEach((item) => { item.min = 0; });
    const openings = stages.length === 4 ? 2 : r.integer(2, 3);
    const loads = times(system.buses, () => stages.map(() => ({
        mean: r.between(20, 60, 1), std: has('stochastic load') ? r.between(1, 6, 1) : 0 })));
    const noisy = loads.filter((load) => load[0].std > 0).length;
    for (const hydro of system.hydros)
        hydro.withdrawal = stages.map(() => (has('withdrawal') ? r.between(0, 4, 1) : 0));
    return {
        seed, features: [...drawn], stages, ...system, loads,
        isSoft: has('soft storage'),
        evaporation: system.evaporation.map((entry) => (
            { ...entry, min: system.hydros[entry.hydro].min, max: system.hydros[entry.hydro].max })),
        inflow: randomInflow(r, system.hydros, stages, has),
        rate: r.chance(0.6) ? r.between(0.02, 0.15, 3) : 0,
        factors: stages.map((stage) => stage.blocks.map(() => r.between(0.7, 1.3, 2))),
        available: system.sources.map(() => stages.map(() => ({
            mean: r.between(0.2, 0.9, 2), factors: stages.map(() => r.between(0.6, 1, 2)) }))),
        openings: stages.map(() => times(openings, () => times(system.hydros.length + noisy,
                                                               () => r.pick(deviates)))),
        constraints: randomConstraints(r, system, stages, has),
        penalties: {
            deficit: [{ depth: r.between(5, 20, 0), cost: r.between(300, 800, 0) },
                      { depth: null, cost: r.between(1000, 4000, 0) }],
            excess: r.between(0.01, 1, 2), spillage: r.between(0.001, 0.05, 3),
            diversion: r.between(0.01, 0.1, 2), fpha: r.between(0, 0.02, 3),
            turbined: r.between(50, 200, 0), outflowBelow: r.between(50, 200, 0),
            outflowAbove: r.between(50, 200, 0), generation: r.between(50, 200, 0),
            evaporation: r.between(50, 200, 0), withdrawal: r.between(50, 200, 0),
            inflow: r.between(500, 2000, 0), storage: r.between(200, 3000, 0), filling: r.between(200, 3000, 0),
        },
    };
}

/** The case of the first `count` stages alone. */
export function firstStages(c, count) {
    const first = (list) => list.slice(0, count);
    const items = (list) => list.map((item) => ({
        ...item, ...(item.at ? { at: first(item.at) } : {}), ...(item.factors ? { factors: first(item.factors) } : {}) }));
    return {
        ...c, stages: first(c.stages), openings: first(c.openings), factors: first(c.factors),
        loads: c.loads.map(first), available: c.available.map(first),
        inflow: { ...c.inflow, stats: c.inflow.stats.map((list) => list.slice(0, count + 2)),
                  coefficients: c.inflow.coefficients.map(first), ratios: c.inflow.ratios.map(first) },
        hydros: items(c.hydros).map((hydro) => ({ ...hydro, withdrawal: first(hydro.withdrawal) })),
        thermals: items(c.thermals), lines: items(c.lines), stations: items(c.stations),
        contracts: items(c.contracts), sources: items(c.sources),
        constraints: c.constraints.map((constraint) => (
            { ...constraint, rows: constraint.rows.filter(({ stage }) => stage < count) })).filter(({ rows }) => rows.length),
    };
}

/* ---- the directory --------------------------------------------------------------------------- */

/* Whether records and rows are written last first; the order of these members has a meaning. */
let isReversed = false;
const ORDERED = ['deficit_segments', 'stopping_rules', 'values_m3s', 'coefficients_mm'];

function reversed(value, name) {
    if (Array.isArray(value)) {
        const items = value.map((item) => reversed(item));
        return ORDERED.includes(name) ? items : items.reverse();
    }
    return value !== null && typeof value === 'object'
        ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, reversed(item, key)])) : value;
}

function json(dir, file, value) {
    fs.mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    fs.writeFileSync(path.join(dir, file), JSON.stringify(isReversed ? reversed(value) : value));
}

const writeRows = (file, types, rows) => writeParquetRows(file, types, isReversed ? rows.toReversed() : rows);

function writeConfig(dir, c, training) {
    json(dir, 'config.json', {
        modeling: { inflow_non_negativity: { method: c.inflow.method },
                    storage_bounds: c.isSoft ? 'soft' : 'hard' },
        training: { tree_seed: c.seed, ...training,
                    ...(c.features.includes('multi-cut') ? { cut_formulation: 'multi' } : {}) },
        simulation: { enabled: false },
    });
}

function writeStages(dir, c) {
    json(dir, 'stages.json', {
        policy_graph: { type: 'finite_horizon', annual_discount_rate: c.rate },
        ...(c.stages[0].isWeek ? { season_definitions: { cycle_type: 'monthly', seasons: times(12, (id) => (
            { id, label: `M${id + 1}`, month_start: id + 1 })) } } : {}),
        pre_study_stages: [{ id: -2, start_date: '2029-11-01', end_date: '2029-12-01', season_id: 10 },
                           { id: -1, start_date: '2029-12-01', end_date: '2030-01-01', season_id: 11 }],
        stages: c.stages.map((stage, t) => ({
            id: stage.id, start_date: stage.start, end_date: stage.end, season_id: stage.season,
            blocks: stage.blocks.map((hours, id) => ({ id, name: `B${id}`, hours })),
            num_scenarios: c.openings[t].length,
            block_mode: stage.isChronological ? 'chronological' : 'parallel',
            risk_measure: stage.cvar ? { cvar: stage.cvar } : 'expectation',
        })),
    });
}

function writePenalties(dir, p) {
    json(dir, 'penalties.json', {
        bus: { deficit_segments: p.deficit.map(({ depth, cost }) => ({ depth_mw: depth, cost })),
               excess_cost: p.excess },
        line: { exchange_cost: 1 },
        hydro: {
            spillage_cost: p.spillage, diversion_cost: p.diversion, fpha_turbined_cost: p.fpha,
            storage_violation_below_cost: p.storage, filling_target_violation_cost: p.filling,
            turbined_violation_below_cost: p.turbined, outflow_violation_below_cost: p.outflowBelow,
            outflow_violation_above_cost: p.outflowAbove, generation_violation_below_cost: p.generation,
            evaporation_violation_cost: p.evaporation, water_withdrawal_violation_cost: p.withdrawal,
            inflow_nonnegativity_cost: p.inflow,
        },
        non_controllable_source: { curtailment_cost: 1 },
    });
}

const life = ({ entry = null, exit = null }) => ({ entry_stage_id: entry, exit_stage_id: exit });

function hydroRecord(c, hydro) {
    const isFpha = c.planes.some((plane) => plane.hydro === hydro.id);
    const evaporation = c.evaporation.find((entry) => entry.hydro === hydro.id);
    return {
        id: hydro.id, name: `H${hydro.id}`, bus_id: hydro.bus, downstream_id: hydro.downstream, ...life(hydro),
        reservoir: { min_storage_hm3: hydro.min, max_storage_hm3: hydro.max },
        outflow: { min_outflow_m3s: hydro.minOutflow, max_outflow_m3s: hydro.maxOutflow },
        generation: {
            model: isFpha ? 'fpha' : 'constant_productivity',
            productivity_mw_per_m3s: hydro.productivity,
            min_turbined_m3s: hydro.minTurbined, max_turbined_m3s: hydro.turbined,
            min_generation_mw: hydro.minGeneration, max_generation_mw: hydro.maxGeneration,
        },
        ...(hydro.diversion ? { diversion: { downstream_id: hydro.diversion.downstream,
                                             max_flow_m3s: hydro.diversion.max } } : {}),
        ...(hydro.filling ? { filling: { start_stage_id: hydro.filling.start,
                                         filling_inflow_m3s: hydro.filling.inflow } } : {}),
        ...(evaporation ? { evaporation: { coefficients_mm: evaporation.mm } } : {}),
    };
}

function writeSystem(dir, c) {
    const names = (kind, items, more) => items.map((item) => (
        { id: item.id, name: `${kind}${item.id}`, ...life(item), ...more(item) }));
    json(dir, 'system/buses.json', { buses: times(c.buses, (id) => ({ id, name: `B${id}` })) });
    json(dir, 'system/hydros.json', { hydros: c.hydros.map((hydro) => hydroRecord(c, hydro)) });
    json(dir, 'system/thermals.json', { thermals: names('T', c.thermals, (thermal) => ({
        bus_id: thermal.bus, cost_per_mwh: thermal.cost,
        generation: { min_mw: thermal.min, max_mw: thermal.max } })) });
    json(dir, 'system/lines.json', { lines: names('L', c.lines, (line) => ({
        source_bus_id: line.source, target_bus_id: line.target, exchange_cost: line.cost,
        losses_percent: line.losses,
        capacity: { direct_mw: line.direct, reverse_mw: line.reverse } })) });
    if (c.sources.length)
        json(dir, 'system/non_controllable_sources.json', { non_controllable_sources:
            names('N', c.sources, (source) => ({ bus_id: source.bus, max_generation_mw: source.max,
                                                 curtailment_cost: source.cost })) });
    if (c.stations.length)
        json(dir, 'system/pumping_stations.json', { pumping_stations:
            names('P', c.stations, (station) => ({
                bus_id: station.bus, source_hydro_id: station.source,
                destination_hydro_id: station.destination,
                consumption_mw_per_m3s: station.consumption,
                flow: { min_m3s: station.min, max_m3s: station.max } })) });
    if (c.contracts.length)
        json(dir, 'system/energy_contracts.json', { contracts:
            names('C', c.contracts, (contract) => ({
                bus_id: contract.bus, type: contract.type, price_per_mwh: contract.price,
                limits: { min_mw: contract.min, max_mw: contract.max } })) });
}

function writeModels(dir, c) {
    if (c.planes.length)
        json(dir, 'system/hydro_production_models.json', { production_models: [{
            hydro_id: c.planes[0].hydro, selection_mode: 'stage_ranges',
            stage_ranges: [{ start_stage_id: 0, end_stage_id: null, model: 'fpha',
                             fpha_config: { source: 'precomputed' } }] }] });
    writeRows(path.join(dir, 'system/fpha_hyperplanes.parquet'),
              { hydro_id: 'i32', plane_id: 'i32', gamma_0: 'f64', gamma_v: 'f64', gamma_q: 'f64',
                gamma_s: 'f64', kappa: 'f64' },
              c.planes.map((plane) => [plane.hydro, plane.id, plane.gamma0, plane.gammaV,
                                       plane.gammaQ, plane.gammaS, plane.kappa]));
    writeRows(path.join(dir, 'system/hydro_geometry.parquet'),
              { hydro_id: 'i32', volume_hm3: 'f64', height_m: 'f64', area_km2: 'f64' },
              c.evaporation.flatMap(({ hydro, area, max }) => [[hydro, 0, 10, area[0]], [hydro, max, 40, area[1]]]));
}

function writeScenarios(dir, c) {
    const stats = { mean_m3s: 'f64', std_m3s: 'f64' };
    const at = (file) => path.join(dir, 'scenarios', file);
    writeRows(at('inflow_seasonal_stats.parquet'), { hydro_id: 'i32', stage_id: 'i32', ...stats },
              c.hydros.flatMap(({ id }) => c.inflow.stats[id].map(({ mean, std }, i) => (
                  [id, i - 2, mean, std]))));
    writeRows(at('inflow_ar_coefficients.parquet'),
              { hydro_id: 'i32', stage_id: 'i32', lag: 'i32', coefficient: 'f64',
                residual_std_ratio: 'f64' },
              c.hydros.flatMap(({ id }) => c.inflow.coefficients[id].flatMap((list, t) => (
                  list.map((value, l) => [id, t, l + 1, value, c.inflow.ratios[id][t]])))));
    writeRows(at('load_seasonal_stats.parquet'),
              { bus_id: 'i32', stage_id: 'i32', mean_mw: 'f64', std_mw: 'f64' },
              c.loads.flatMap((load, bus) => load.map(({ mean, std }, t) => [bus, t, mean, std])));
    json(dir, 'scenarios/load_factors.json', { load_factors: times(c.buses, (bus) => (
        c.factors.map((factors, t) => ({
            bus_id: bus, stage_id: t,
            block_factors: factors.map((factor, id) => ({ block_id: id, factor })) })))).flat() });
    writeRows(at('non_controllable_stats.parquet'),
              { ncs_id: 'i32', stage_id: 'i32', mean: 'f64', std: 'f64' },
              c.available.flatMap((list, id) => list.map(({ mean }, t) => [id, t, mean, 0.1])));
    writeRows(at('noise_openings.parquet'),
              { stage_id: 'i32', opening_index: 'u32', entity_index: 'u32', value: 'f64' },
              c.openings.flatMap((list, t) => list.flatMap((values, w) => values.map((value, i) => (
                  [t, w, i, value])))));
}

/** A row for each stage in which items have one of `members`, of columns by the item's member. */
function writeOverrides(dir, file, id, items, members, read = (item, t) => item.at?.[t] ?? {}) {
    const names = Object.entries(members);
    const rows = items.flatMap((item) => Array.from({ length: item.at?.length ?? 0 }, (_, t) => (
        [item.id, t, ...names.map(([member]) => read(item, t)[member] ?? null)])));
    writeRows(path.join(dir, 'constraints', file),
              { [id]: 'i32', stage_id: 'i32', ...Object.fromEntries(names.map(([, column]) => [column, 'f64'])) },
              rows.filter(([, , ...values]) => values.some((value) => value !== null)));
}

function writeBounds(dir, c) {
    const least = { min: 'min_generation_mw', max: 'max_generation_mw', cost: 'cost_per_mwh' };
    const hydros = c.hydros.map((hydro) => ({ ...hydro, at: hydro.withdrawal.map((withdrawal, t) => (
        { ...hydro.at?.[t], ...(withdrawal > 0 ? { withdrawal } : {}) })) }));
    const costs = (item, t) => item.at?.[t]?.costs ?? {};
    writeOverrides(dir, 'hydro_bounds.parquet', 'hydro_id', hydros, {
        min: 'min_storage_hm3', max: 'max_storage_hm3', turbined: 'max_turbined_m3s', minTurbined: 'min_turbined_m3s',
        minOutflow: 'min_outflow_m3s', maxOutflow: 'max_outflow_m3s', minGeneration: 'min_generation_mw',
        maxGeneration: 'max_generation_mw', withdrawal: 'water_withdrawal_m3s' });
    writeOverrides(dir, 'thermal_bounds.parquet', 'thermal_id', c.thermals, least);
    writeOverrides(dir, 'line_bounds.parquet', 'line_id', c.lines, { direct: 'direct_mw', reverse: 'reverse_mw' });
    writeOverrides(dir, 'pumping_bounds.parquet', 'station_id', c.stations, { min: 'min_m3s', max: 'max_m3s' });
    writeOverrides(dir, 'contract_bounds.parquet', 'contract_id', c.contracts,
                   { min: 'min_mw', max: 'max_mw', price: 'price_per_mwh' });
    writeOverrides(dir, 'penalty_overrides_line.parquet', 'line_id', c.lines, { cost: 'exchange_cost' });
    writeOverrides(dir, 'penalty_overrides_ncs.parquet', 'source_id', c.sources, { cost: 'curtailment_cost' });
    writeOverrides(dir, 'penalty_overrides_hydro.parquet', 'hydro_id', c.hydros, {
        spillage: 'spillage_cost', outflowBelow: 'outflow_violation_below_cost', fpha: 'fpha_turbined_cost',
        generation: 'generation_violation_below_cost', storage: 'storage_violation_below_cost',
        filling: 'filling_target_violation_cost', evaporation: 'evaporation_violation_cost',
        withdrawal: 'water_withdrawal_violation_cost' }, costs);
    if (c.lines.some(({ factors }) => factors))
        json(dir, 'constraints/exchange_factors.json', { exchange_factors: c.lines.flatMap((line) => (
            line.factors.map((blocks, t) => ({ line_id: line.id, stage_id: t, block_factors: blocks.map(([to, back], id) => (
                { block_id: id, direct_factor: to, reverse_factor: back })) })))) });
}

const term = ([factor, variable, id, block]) => (
    `${factor < 0 ? '-' : '+'} ${Math.abs(factor)} * ${variable}(${id}${block === undefined ? '' : `, ${block}`})`);

function writeConstraints(dir, c) {
    writeBounds(dir, c);
    if (!c.constraints.length)
        return;
    json(dir, 'constraints/generic_constraints.json', { constraints: c.constraints.map((constraint) => ({
        id: constraint.id, name: `G${constraint.id}`, sense: constraint.sense,
        expression: constraint.expression.map(term).join(' '),
        slack: { enabled: true, penalty: constraint.penalty } })) });
    writeRows(path.join(dir, 'constraints/generic_constraint_bounds.parquet'),
              { constraint_id: 'i32', stage_id: 'i32', block_id: 'i32', bound: 'f64' },
              c.constraints.flatMap(({ id, rows }) => rows.map(({ stage, block, bound }) => [id, stage, block, bound])));
}

/** Write the case directory; `training` is merged into config.json. With `lastFirst` records and
 *  rows are in the reverse order, which means the same. */
export function writeCase(dir, c, training, lastFirst = false) {
    isReversed = lastFirst;
    const storages = (fills) => c.hydros.filter(({ filling }) => (filling !== null) === fills)
        .map(({ id, initial }) => ({ hydro_id: id, value_hm3: initial }));
    fs.mkdirSync(dir, { recursive: true });
    writeConfig(dir, c, training);
    writeStages(dir, c);
    writePenalties(dir, c.penalties);
    json(dir, 'initial_conditions.json', {
        storage: storages(false), filling_storage: storages(true),
        past_inflows: c.hydros.map(({ id, past }) => ({ hydro_id: id, values_m3s: past })) });
    writeSystem(dir, c);
    writeModels(dir, c);
    writeScenarios(dir, c);
    writeConstraints(dir, c);
}
