/*
 * cobre-tree-lp.mjs - a case of cobre-random.mjs as one linear program over its whole scenario
 * tree, in free MPS, and its optimum by glpsol of GLPK.
 *
 * Written from the method page alone: 2.1 and 2.2 (columns and rows), 2.4 (evaporation), 2.5
 * (generic constraints), 3 (inflows), 6 (discount), 7 (risk), 16 (what the original leaves out).
 * A node of stage t has the columns of its stage; its cost and the discounted risk of its children
 * are its value. Inflows do not depend on decisions, so they are numbers here, not columns.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

const HM3 = 0.0036; /* hm3 of 1 m3/s in 1 h */

/** An LP by columns. Rows are { sense, right }, entries are added to columns. */
class Program {
    columns = [];
    rows = [];

    column(lower, upper, cost = 0) {
        this.columns.push({ lower, upper, cost, entries: new Map() });
        return this.columns.length - 1;
    }

    row(sense, right, terms) {
        this.rows.push({ sense, right });
        for (const [column, value] of terms) {
            const entries = this.columns[column].entries;
            entries.set(this.rows.length - 1, (entries.get(this.rows.length - 1) ?? 0) + value);
        }
    }

    mps() {
        const letter = { '<=': 'L', '>=': 'G', '==': 'E' };
        const lines = ['NAME tree', 'ROWS', ' N cost'];
        this.rows.forEach(({ sense }, i) => lines.push(` ${letter[sense]} r${i}`));
        lines.push('COLUMNS');
        this.columns.forEach(({ cost, entries }, j) => {
            lines.push(` x${j} cost ${cost}`);
            for (const [i, value] of entries)
                lines.push(` x${j} r${i} ${value}`);
        });
        lines.push('RHS');
        this.rows.forEach(({ right }, i) => lines.push(` right r${i} ${right}`));
        lines.push('BOUNDS');
        this.columns.forEach(({ lower, upper }, j) => {
            lines.push(Number.isFinite(lower) ? ` LO bounds x${j} ${lower}` : ` MI bounds x${j}`);
            if (Number.isFinite(upper))
                lines.push(` UP bounds x${j} ${upper}`);
        });
        return [...lines, 'ENDATA', ''].join('\n');
    }
}

/* ---- inflows and loads ----------------------------------------------------------------------- */

const DAY_MS = 86_400_000;
const month = (year, index) => ({ start: Date.UTC(year, index, 1), end: Date.UTC(year, index + 1, 1) });
const spanOf = (stage) => ({ start: Date.parse(stage.start), end: Date.parse(stage.end) });
const share = (stage, of) => (
    Math.max(0, Math.min(spanOf(stage).end, of.end) - Math.max(spanOf(stage).start, of.start)) / (of.end - of.start));

/** The lags of a hydro at a stage of a path, most recent first: inflows of months, or means of the
 *  weeks of a month (page, 3.1). A week that ends in the next month begins that one's mean. */
function lagsOf(c, hydro, path) {
    const lags = [...hydro.past];
    let sum = 0;
    let weight = 0;
    path.forEach((z, t) => {
        const stage = c.stages[t];
        if (!stage.isWeek) {
            lags.unshift(z[hydro.id]);
            return;
        }
        const own = share(stage, month(2030, stage.season));
        sum += own * z[hydro.id];
        weight += own;
        if (c.stages[t + 1].season === stage.season)
            return;
        lags.unshift(sum / weight);
        weight = share(stage, month(2030, stage.season + 1));
        sum = weight * z[hydro.id];
    });
    return lags;
}

/** The id of the stage whose statistics a lag has: so many stages before, or the last week of the
 *  month so many months before; below 0 before the study. */
function idBefore(c, t, lag) {
    if (!c.stages[t].isWeek)
        return t - lag;
    let at = t;
    let left = lag;
    for (; at > 0 && left > 0; at--)
        left -= c.stages[at - 1].season !== c.stages[at].season ? 1 : 0;
    return at - left;
}

/** base + sum psi * lag + sigma * noise (page, 3). */
function inflowAt(c, hydro, t, path, noise) {
    const { stats, coefficients, ratios } = c.inflow;
    const at = (stage) => stats[hydro.id][stage + 2];
    const lags = lagsOf(c, hydro, path);
    let value = at(t).mean + at(t).std * ratios[hydro.id][t] * noise;
    coefficients[hydro.id][t].forEach((coefficient, l) => {
        const lag = at(idBefore(c, t, l + 1));
        value += coefficient * at(t).std / lag.std * (lags[l] - lag.mean);
    });
    return c.inflow.method.startsWith('truncation') ? Math.max(0, value) : value;
}

function loadsAt(c, t, noises) {
    let next = c.hydros.length;
    return c.loads.map((load) => (load[t].std > 0
        ? Math.max(0, load[t].mean + load[t].std * noises[next++]) : load[t].mean));
}

/* ---- the columns of a node ------------------------------------------------------------------- */

const limited = (value) => (value > 0 ? Infinity : 0);

const isThere = ({ entry, exit }, stage) => (entry ?? 0) <= stage.id && stage.id < (exit ?? Infinity);
const fills = (hydro, stage) => hydro.filling !== null && hydro.filling.start <= stage.id && stage.id < hydro.entry;

/** The case with the values of one stage (the case page, 8). */
function inStage(c, stage) {
    const all = (items) => items.map((item) => ({ ...item, ...item.at?.[stage.id] }));
    return { ...c, hydros: all(c.hydros), thermals: all(c.thermals), lines: all(c.lines), stations: all(c.stations),
             contracts: all(c.contracts), sources: all(c.sources) };
}

function hydroColumns(lp, c, hydro, stage, price) {
    const p = { ...c.penalties, ...hydro.costs };
    const total = stage.blocks.reduce((sum, hours) => sum + hours, 0);
    const isFilling = fills(hydro, stage);
    const operates = isThere(hydro, stage);
    const there = operates || isFilling;
    const isFpha = operates && c.planes.some((plane) => plane.hydro === hydro.id);
    const most = !operates ? 0 : isFpha ? hydro.turbined : Math.min(hydro.turbined, hydro.maxGeneration / hydro.productivity);
    const isSoft = operates && (c.isSoft || hydro.filling !== null);
    const gap = price(0, isSoft ? Infinity : 0, p.storage);
    const each = (lower, upper, cost) => stage.blocks.map((hours) => price(lower, upper, cost * hours));
    const storage = () => {
        if (!there)
            return lp.column(0, Infinity);
        const column = lp.column(isSoft || isFilling ? 0 : hydro.min, hydro.max);
        if (isSoft)
            lp.row('>=', hydro.min, [[column, 1], [gap, 1]]);
        return column;
    };
    /* Storages after each block; the last is the stage's. */
    const storages = (stage.isChronological ? stage.blocks : [0]).map(storage);
    return {
        v: storages.at(-1), storages, isFpha, there, operates, isFilling,
        q: each(0, most, isFpha ? p.fpha : 0), s: each(0, Infinity, there ? p.spillage : 0),
        d: each(0, operates ? hydro.diversion?.max ?? 0 : 0, hydro.diversion ? p.diversion : 0),
        G: isFpha ? each(0, hydro.maxGeneration, 0) : null,
        outflowBelow: each(0, limited(hydro.minOutflow), p.outflowBelow),
        outflowAbove: each(0, hydro.maxOutflow === null ? 0 : Infinity, p.outflowAbove),
        turbinedBelow: each(0, limited(hydro.minTurbined), p.turbined),
        generationBelow: each(0, limited(hydro.minGeneration), p.generation),
        missing: price(0, c.inflow.method === 'truncation' ? 0 : Infinity, p.inflow * total),
        grown: price(0, isFilling ? Infinity : 0, p.filling),
        reached: price(0, isFilling ? Infinity : 0, p.filling),
        less: price(0, there ? limited(hydro.withdrawal[stage.id]) : 0, p.withdrawal * total),
        more: price(0, there ? limited(hydro.withdrawal[stage.id]) : 0, p.withdrawal * total),
    };
}

const availableOf = (c, source, stage) => source.max * c.available[source.id][stage.id].mean;

function nodeColumns(lp, c, stage, price) {
    const each = (lower, upper, cost) => stage.blocks.map((hours) => price(lower, upper, cost * hours));
    const between = (item, lower, upper, cost) => (
        isThere(item, stage) ? each(lower, upper, cost) : each(0, 0, 0));
    const buses = Array.from({ length: c.buses }, (_, i) => i);
    const exchange = (limit, way) => c.lines.map((line) => stage.blocks.map((hours, k) => price(
        0, isThere(line, stage) ? line[limit] * (line.factors?.[stage.id][k][way] ?? 1) : 0, line.cost * hours)));
    return {
        hydros: c.hydros.map((hydro) => hydroColumns(lp, c, hydro, stage, price)),
        thermals: c.thermals.map((thermal) => between(thermal, thermal.min, thermal.max, thermal.cost)),
        forward: exchange('direct', 0),
        reverse: exchange('reverse', 1),
        deficit: buses.map(() => c.penalties.deficit.map(({ depth, cost }) => (
            each(0, depth ?? Infinity, cost)))),
        excess: buses.map(() => each(0, Infinity, c.penalties.excess)),
        sources: c.sources.map((source) => between(source, 0, availableOf(c, source, stage), -source.cost)),
        stations: c.stations.map((station) => between(station, station.min, station.max, 0)),
        contracts: c.contracts.map((contract) => between(contract, contract.min, contract.max, contract.price)),
    };
}

/* ---- the rows of a node ---------------------------------------------------------------------- */

/** The column of a hydro's evaporation in m3/s, if any, with its row
 *  Qe - kv/2 (v + vin) + f+ - f- = k0. */
function evaporation(lp, c, hydro, stage, node, incoming, price) {
    const entry = c.evaporation.find((item) => item.hydro === hydro.id);
    if (!entry || !node.there)
        return [];
    const total = stage.blocks.reduce((sum, hours) => sum + hours, 0);
    const slope = (entry.area[1] - entry.area[0]) / entry.max;
    const reference = (entry.min + entry.max) / 2;
    const factor = entry.mm[stage.season] / (3.6 * total);
    const kv = factor * slope;
    const k0 = factor * (entry.area[0] + slope * reference) - kv * reference;
    const flow = price(0, 2 * Math.max(0, k0 + kv * hydro.max), 0);
    const cost = (hydro.costs?.evaporation ?? c.penalties.evaporation) * total;
    const over = price(0, Infinity, cost);
    const under = price(0, Infinity, cost);
    lp.row('==', k0 + (kv / 2) * (incoming.value ?? 0),
           [[flow, 1], [node.v, -kv / 2], [over, 1], [under, -1],
            ...(incoming.column === undefined ? [] : [[incoming.column, -kv / 2]])]);
    node.evaporated = flow;
    return [flow];
}

/** The rows of a hydro that is filled (page, 16): it grows, and reaches its minimum at the end. */
function fillingRows(lp, hydro, stage, own, incoming) {
    const total = stage.blocks.reduce((sum, hours) => sum + hours, 0);
    const before = incoming.column === undefined ? [] : [[incoming.column, -1]];
    if (!own.isFilling)
        return;
    lp.row('>=', HM3 * total * hydro.filling.inflow + (incoming.value ?? 0), [[own.v, 1], ...before, [own.grown, 1]]);
    if (stage.id + 1 === hydro.entry)
        lp.row('>=', hydro.min, [[own.v, 1], [own.reached, 1]]);
}

/** The flows of a hydro in block k, of 1 m3/s each: those that leave it, and those that arrive. */
function flows(c, hydro, columns, k) {
    const own = columns.hydros[hydro.id];
    const row = [[own.q[k], 1], [own.s[k], 1], [own.d[k], 1]];
    c.hydros.forEach((other, i) => {
        const from = columns.hydros[i];
        if (other.downstream === hydro.id)
            row.push([from.q[k], -1], [from.s[k], -1]);
        if (other.diversion?.downstream === hydro.id)
            row.push([from.d[k], -1]);
    });
    c.stations.forEach((station, i) => {
        if (station.source === hydro.id)
            row.push([columns.stations[i][k], 1]);
        if (station.destination === hydro.id)
            row.push([columns.stations[i][k], -1]);
    });
    return row;
}

/** One balance for the stage, or for each block of a chronological one. A hydro that is not there
 *  keeps its storage: what arrives flows on. */
function waterBalance(lp, c, hydro, stage, columns, inflow, incoming, price) {
    const own = columns.hydros[hydro.id];
    const evaporated = evaporation(lp, c, hydro, stage, own, incoming, price);
    fillingRows(lp, hydro, stage, own, incoming);
    const rates = [[own.missing, -1], [own.less, -1], [own.more, 1],
                   ...evaporated.map((flow) => [flow, 1])];
    const right = inflow - (own.there ? hydro.withdrawal[stage.id] : 0);
    const blocks = stage.blocks.map((hours, k) => ({ hours, k }));
    const steps = stage.isChronological ? blocks.map((block) => [block]) : [blocks];
    let before = incoming;
    steps.forEach((step, i) => {
        const after = own.storages[i];
        const water = HM3 * step.reduce((sum, { hours }) => sum + hours, 0);
        const row = [[after, 1], ...rates.map(([column, value]) => [column, value * water]),
                     ...step.flatMap(({ hours, k }) => flows(c, hydro, columns, k)
                         .map(([column, value]) => [column, value * HM3 * hours]))];
        if (before.column !== undefined)
            row.push([before.column, -1]);
        lp.row('==', water * right + (before.value ?? 0), row);
        if (!own.there)
            lp.row('==', before.value ?? 0, [[after, 1], ...(before.column === undefined ? [] : [[before.column, -1]])]);
        before = { column: after };
    });
}

function generationOf(c, columns, h, k, factor) {
    const own = columns.hydros[h];
    return own.isFpha ? [own.G[k], factor] : [own.q[k], factor * c.hydros[h].productivity];
}

/** The storages before and after block k: of the block, or of the stage. */
function storagesAround(own, stage, incoming, k) {
    if (!stage.isChronological)
        return [incoming, own.v];
    return [k === 0 ? incoming : { column: own.storages[k - 1] }, own.storages[k]];
}

function planeRows(lp, c, h, own, stage, incoming, k) {
    const [before, after] = storagesAround(own, stage, incoming, k);
    for (const plane of c.planes.filter((item) => item.hydro === h)) {
        const half = plane.gammaV / 2;
        const row = [[own.G[k], 1], [after, -half], [own.q[k], -plane.gammaQ], [own.s[k], -plane.gammaS]];
        if (before.column !== undefined)
            row.push([before.column, -half]);
        lp.row('<=', plane.gamma0 * plane.kappa + half * (before.value ?? 0), row);
    }
}

function operatingRows(lp, c, columns, stage, incoming) {
    c.hydros.forEach((hydro, h) => stage.blocks.forEach((_, k) => {
        const own = columns.hydros[h];
        const outflow = [[own.q[k], 1], [own.s[k], 1], [own.d[k], 1]];
        if (!own.there)
            return;
        if (hydro.minOutflow > 0)
            lp.row('>=', hydro.minOutflow, [...outflow, [own.outflowBelow[k], 1]]);
        if (hydro.maxOutflow !== null)
            lp.row('<=', hydro.maxOutflow, [...outflow, [own.outflowAbove[k], -1]]);
        if (own.operates && hydro.minTurbined > 0)
            lp.row('>=', hydro.minTurbined, [[own.q[k], 1], [own.turbinedBelow[k], 1]]);
        if (own.operates && hydro.minGeneration > 0)
            lp.row('>=', hydro.minGeneration, [generationOf(c, columns, h, k, 1),
                                               [own.generationBelow[k], 1]]);
        if (own.isFpha)
            planeRows(lp, c, h, own, stage, incoming[h], k);
    }));
}

function loadBalance(lp, c, columns, stage, bus, k, load) {
    const at = (items) => items.map((item, i) => [item, i]).filter(([item]) => item.bus === bus);
    const row = [
        ...at(c.hydros).map(([, h]) => generationOf(c, columns, h, k, 1)),
        ...at(c.thermals).map(([, i]) => [columns.thermals[i][k], 1]),
        ...at(c.sources).map(([, i]) => [columns.sources[i][k], 1]),
        ...at(c.stations).map(([station, i]) => [columns.stations[i][k], -station.consumption]),
        ...at(c.contracts).map(([contract, i]) => [columns.contracts[i][k],
                                                   contract.type === 'import' ? 1 : -1]),
        ...columns.deficit[bus].map((segment) => [segment[k], 1]),
        [columns.excess[bus][k], -1],
    ];
    c.lines.forEach((line, i) => {
        const kept = 1 - line.losses / 100;
        if (line.source === bus)
            row.push([columns.forward[i][k], -1], [columns.reverse[i][k], kept]);
        if (line.target === bus)
            row.push([columns.forward[i][k], kept], [columns.reverse[i][k], -1]);
    });
    lp.row('==', load * c.factors[stage.id][k], row);
}

/** The columns that a variable of an expression names, in block k. */
function variable(c, columns, name, id, k, factor) {
    const own = columns.hydros[id];
    switch (name) {
        case 'hydro_spillage': return [[own.s[k], factor]];
        case 'hydro_diversion': return [[own.d[k], factor]];
        case 'hydro_evaporation': return own.evaporated === undefined ? [] : [[own.evaporated, factor]];
        case 'hydro_withdrawal': return [[own.less, -factor], [own.more, factor]];
        case 'line_direct': return [[columns.forward[id][k], factor]];
        case 'line_reverse': return [[columns.reverse[id][k], factor]];
        case 'bus_excess': return [[columns.excess[id][k], factor]];
        case 'pumping_flow': return [[columns.stations[id][k], factor]];
        case 'pumping_power': return [[columns.stations[id][k], factor * c.stations[id].consumption]];
        case 'contract_import': case 'contract_export': return [[columns.contracts[id][k], factor]];
        case 'non_controllable_generation': return [[columns.sources[id][k], factor]];
        case 'non_controllable_curtailment': return [[columns.sources[id][k], -factor]];
        case 'hydro_storage': return [[own.v, factor]];
        case 'hydro_turbined': return [[own.q[k], factor]];
        case 'hydro_outflow': return [[own.q[k], factor], [own.s[k], factor]];
        case 'hydro_generation': return [generationOf(c, columns, id, k, factor)];
        case 'thermal_generation': return [[columns.thermals[id][k], factor]];
        case 'line_exchange': return [[columns.forward[id][k], factor], [columns.reverse[id][k], -factor]];
        case 'bus_deficit': return columns.deficit[id].map((segment) => [segment[k], factor]);
        default: throw new Error(`no variable ${name}`);
    }
}

/** The part of a variable that is no column. */
function constantOf(c, columns, stage, name, id) {
    if (name === 'hydro_withdrawal')
        return columns.hydros[id].there ? c.hydros[id].withdrawal[stage.id] : 0;
    if (name === 'non_controllable_curtailment')
        return isThere(c.sources[id], stage) ? availableOf(c, c.sources[id], stage) : 0;
    return 0;
}

function genericRow(lp, c, columns, stage, price, constraint, bound, block) {
    const slack = () => price(0, Infinity, constraint.penalty * stage.blocks[block]);
    const row = constraint.expression.flatMap(([factor, name, id, k]) => (
        variable(c, columns, name, id, k ?? block, factor)));
    const constant = constraint.expression.reduce((sum, [factor, name, id]) => (
        sum + factor * constantOf(c, columns, stage, name, id)), 0);
    if (constraint.sense !== '<=')
        row.push([slack(), 1]);
    if (constraint.sense !== '>=')
        row.push([slack(), -1]);
    lp.row(constraint.sense, bound - constant, row);
}

function genericRows(lp, c, columns, stage, price) {
    for (const constraint of c.constraints)
        for (const { bound, block } of constraint.rows.filter((row) => row.stage === stage.id))
            for (const k of block === null ? stage.blocks.keys() : [block])
                genericRow(lp, c, columns, stage, price, constraint, bound, k);
}

/* ---- the tree -------------------------------------------------------------------------------- */

function discount(c, stage) {
    const days = (spanOf(stage).end - spanOf(stage).start) / DAY_MS;
    return (1 + c.rate) ** (-days / 365.25);
}

/** The terms of (1 - lambda) E + lambda CVaR of the values of equally likely outcomes. CVaR is the
 *  least y + sum p u / alpha with u >= value - y, u >= 0. */
function riskOf(lp, cvar, values) {
    const p = 1 / values.length;
    /* CVaR of all outcomes is the mean; by rounded probabilities its LP would have no bound. */
    if (!cvar || cvar.lambda === 0 || cvar.alpha === 1)
        return values.map((value) => [value, p]);
    const y = lp.column(-Infinity, Infinity);
    return [
        ...values.map((value) => [value, p * (1 - cvar.lambda)]), [y, cvar.lambda],
        ...values.map((value) => {
            const above = lp.column(0, Infinity);
            lp.row('>=', 0, [[above, 1], [y, 1], [value, -1]]);
            return [above, cvar.lambda * p / cvar.alpha];
        }),
    ];
}

/** Add the node of a path of openings; returns the column of its value. */
function addNode(lp, whole, t, noises, path, incoming) {
    const stage = whole.stages[t];
    const c = inStage(whole, stage);
    const costs = [];
    const price = (lower, upper, cost) => {
        const column = lp.column(lower, upper);
        if (cost !== 0)
            costs.push([column, cost]);
        return column;
    };
    const columns = nodeColumns(lp, c, stage, price);
    const inflows = c.hydros.map((hydro, h) => inflowAt(c, hydro, t, path, noises[h]));
    const loads = loadsAt(c, t, noises);
    c.hydros.forEach((hydro, h) => (
        waterBalance(lp, c, hydro, stage, columns, inflows[h], incoming[h], price)));
    operatingRows(lp, c, columns, stage, incoming);
    loads.forEach((load, bus) => stage.blocks.forEach((_, k) => (
        loadBalance(lp, c, columns, stage, bus, k, load))));
    genericRows(lp, c, columns, stage, price);
    if (t + 1 < c.stages.length) {
        const next = columns.hydros.map((own) => ({ column: own.v }));
        const children = c.openings[t + 1].map((child) => (
            addNode(lp, whole, t + 1, child, [...path, inflows], next)));
        const factor = discount(c, stage);
        costs.push(...riskOf(lp, stage.cvar, children).map(([column, value]) => [column, value * factor]));
    }
    const value = lp.column(-Infinity, Infinity);
    lp.row('>=', 0, [[value, 1], ...costs.map(([column, cost]) => [column, -cost])]);
    return value;
}

/** The whole tree of a case. */
export function treeProgram(c) {
    const lp = new Program();
    const start = c.hydros.map((hydro) => ({ value: hydro.initial }));
    const values = c.openings[0].map((noises) => addNode(lp, c, 0, noises, [], start));
    for (const [column, weight] of riskOf(lp, c.stages[0].cvar, values))
        lp.columns[column].cost += weight;
    return lp;
}

/** The optimum of a program, by glpsol; `file` is where its input and output go. The last basis of
 *  the usual arithmetic is where the exact one begins: by itself it takes minutes at times. */
export function optimum(lp, file) {
    fs.writeFileSync(`${file}.mps`, lp.mps());
    const done = spawnSync('glpsol', ['--xcheck', '--freemps', `${file}.mps`, '-w', `${file}.sol`],
                           { encoding: 'utf8', timeout: 60_000 });
    assert.equal(done.status, 0, `glpsol: ${done.error ?? done.stdout}`);
    const line = fs.readFileSync(`${file}.sol`, 'utf8').split('\n').find((text) => text.startsWith('s '));
    const [, , , , primal, dual, objective] = line.split(' ');
    assert.deepEqual([primal, dual], ['f', 'f'], `glpsol found no optimum: ${line}`);
    return Number(objective);
}
