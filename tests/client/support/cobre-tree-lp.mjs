/*
 * cobre-tree-lp.mjs - a case of cobre-random.mjs as one linear program over its whole scenario
 * tree, in free MPS, and its optimum by glpsol of GLPK.
 *
 * Written from the method page alone: 2.1 and 2.2 (columns and rows), 2.4 (evaporation), 2.5
 * (generic constraints), 3 (inflows), 6 (discount), 7 (risk), 16 (losses, pumping, contracts). A
 * node of stage t has the columns of its stage; its cost and the discounted risk of its children
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

/** Lags of a hydro at a stage of a path, most recent first. */
const lagsOf = (hydro, path) => [...path.map((z) => z[hydro.id]).reverse(), ...hydro.past];

/** base + sum psi * lag + sigma * noise, with the statistics of the stages before (page, 3). */
function inflowAt(c, hydro, t, path, noise) {
    const { stats, coefficients, ratios } = c.inflow;
    const at = (stage) => stats[hydro.id][stage + 2];
    const lags = lagsOf(hydro, path);
    let value = at(t).mean + at(t).std * ratios[hydro.id][t] * noise;
    coefficients[hydro.id][t].forEach((coefficient, l) => {
        const psi = coefficient * at(t).std / at(t - l - 1).std;
        value += psi * (lags[l] - at(t - l - 1).mean);
    });
    return value;
}

function loadsAt(c, t, noises) {
    let next = c.hydros.length;
    return c.loads.map((load) => (load[t].std > 0
        ? Math.max(0, load[t].mean + load[t].std * noises[next++]) : load[t].mean));
}

/* ---- the columns of a node ------------------------------------------------------------------- */

const limited = (value) => (value > 0 ? Infinity : 0);

function hydroColumns(lp, c, hydro, stage, price) {
    const p = c.penalties;
    const total = stage.blocks.reduce((sum, hours) => sum + hours, 0);
    const isFpha = c.planes.some((plane) => plane.hydro === hydro.id);
    const most = isFpha ? hydro.turbined : Math.min(hydro.turbined, hydro.maxGeneration / hydro.productivity);
    const each = (lower, upper, cost) => stage.blocks.map((hours) => price(lower, upper, cost * hours));
    return {
        v: lp.column(hydro.min, hydro.max), isFpha,
        q: each(0, most, isFpha ? p.fpha : 0), s: each(0, Infinity, p.spillage),
        d: each(0, hydro.diversion?.max ?? 0, hydro.diversion ? p.diversion : 0),
        G: isFpha ? each(0, hydro.maxGeneration, 0) : null,
        outflowBelow: each(0, limited(hydro.minOutflow), p.outflowBelow),
        outflowAbove: each(0, hydro.maxOutflow === null ? 0 : Infinity, p.outflowAbove),
        turbinedBelow: each(0, limited(hydro.minTurbined), p.turbined),
        generationBelow: each(0, limited(hydro.minGeneration), p.generation),
        missing: price(0, Infinity, p.inflow * total),
        less: price(0, limited(hydro.withdrawal[stage.id]), p.withdrawal * total),
        more: price(0, limited(hydro.withdrawal[stage.id]), p.withdrawal * total),
    };
}

function nodeColumns(lp, c, stage, price) {
    const each = (lower, upper, cost) => stage.blocks.map((hours) => price(lower, upper, cost * hours));
    const buses = Array.from({ length: c.buses }, (_, i) => i);
    return {
        hydros: c.hydros.map((hydro) => hydroColumns(lp, c, hydro, stage, price)),
        thermals: c.thermals.map((thermal) => each(thermal.min, thermal.max, thermal.cost)),
        forward: c.lines.map((line) => each(0, line.direct, line.cost)),
        reverse: c.lines.map((line) => each(0, line.reverse, line.cost)),
        deficit: buses.map(() => c.penalties.deficit.map(({ depth, cost }) => (
            each(0, depth ?? Infinity, cost)))),
        excess: buses.map(() => each(0, Infinity, c.penalties.excess)),
        sources: c.sources.map((source) => each(
            0, source.max * c.available[source.id][stage.id].mean, -source.cost)),
        stations: c.stations.map((station) => each(station.min, station.max, 0)),
        contracts: c.contracts.map((contract) => each(contract.min, contract.max, contract.price)),
    };
}

/* ---- the rows of a node ---------------------------------------------------------------------- */

const terms = (columns, value) => columns.map((column, k) => [column, typeof value === 'function' ? value(k) : value]);

/** Evaporation of a hydro in m3/s: its column, with the row Qe - kv/2 (v + vin) + f+ - f- = k0. */
function evaporation(lp, c, hydro, stage, node, incoming, price) {
    const entry = c.evaporation.find((item) => item.hydro === hydro.id);
    if (!entry)
        return [];
    const total = stage.blocks.reduce((sum, hours) => sum + hours, 0);
    const slope = (entry.area[1] - entry.area[0]) / hydro.max;
    const reference = (hydro.min + hydro.max) / 2;
    const factor = entry.mm[stage.season] / (3.6 * total);
    const kv = factor * slope;
    const k0 = factor * (entry.area[0] + slope * reference) - kv * reference;
    const flow = price(0, 2 * Math.max(0, k0 + kv * hydro.max), 0);
    const cost = c.penalties.evaporation * total;
    const over = price(0, Infinity, cost);
    const under = price(0, Infinity, cost);
    lp.row('==', k0 + (kv / 2) * (incoming.value ?? 0),
           [[flow, 1], [node.v, -kv / 2], [over, 1], [under, -1],
            ...(incoming.column === undefined ? [] : [[incoming.column, -kv / 2]])]);
    return [[flow, HM3 * total]];
}

function waterBalance(lp, c, hydro, stage, columns, inflow, incoming, price) {
    const own = columns.hydros[hydro.id];
    const total = stage.blocks.reduce((sum, hours) => sum + hours, 0);
    const water = (k) => HM3 * stage.blocks[k];
    const row = [[own.v, 1], ...[own.q, own.s, own.d].flatMap((list) => terms(list, water)),
                 [own.missing, -HM3 * total], [own.less, -HM3 * total], [own.more, HM3 * total]];
    c.hydros.forEach((other, i) => {
        const from = columns.hydros[i];
        if (other.downstream === hydro.id)
            row.push(...[from.q, from.s].flatMap((list) => terms(list, (k) => -water(k))));
        if (other.diversion?.downstream === hydro.id)
            row.push(...terms(from.d, (k) => -water(k)));
    });
    c.stations.forEach((station, i) => {
        if (station.source === hydro.id)
            row.push(...terms(columns.stations[i], water));
        if (station.destination === hydro.id)
            row.push(...terms(columns.stations[i], (k) => -water(k)));
    });
    row.push(...evaporation(lp, c, hydro, stage, own, incoming, price));
    if (incoming.column !== undefined)
        row.push([incoming.column, -1]);
    lp.row('==', HM3 * total * (inflow - hydro.withdrawal[stage.id]) + (incoming.value ?? 0), row);
}

function generationOf(c, columns, h, k, factor) {
    const own = columns.hydros[h];
    return own.isFpha ? [own.G[k], factor] : [own.q[k], factor * c.hydros[h].productivity];
}

function operatingRows(lp, c, columns, stage, incoming) {
    c.hydros.forEach((hydro, h) => stage.blocks.forEach((_, k) => {
        const own = columns.hydros[h];
        const outflow = [[own.q[k], 1], [own.s[k], 1], [own.d[k], 1]];
        if (hydro.minOutflow > 0)
            lp.row('>=', hydro.minOutflow, [...outflow, [own.outflowBelow[k], 1]]);
        if (hydro.maxOutflow !== null)
            lp.row('<=', hydro.maxOutflow, [...outflow, [own.outflowAbove[k], -1]]);
        if (hydro.minTurbined > 0)
            lp.row('>=', hydro.minTurbined, [[own.q[k], 1], [own.turbinedBelow[k], 1]]);
        if (hydro.minGeneration > 0)
            lp.row('>=', hydro.minGeneration, [generationOf(c, columns, h, k, 1),
                                               [own.generationBelow[k], 1]]);
        for (const plane of c.planes.filter((item) => item.hydro === h)) {
            const half = plane.gammaV / 2;
            const row = [[own.G[k], 1], [own.v, -half], [own.q[k], -plane.gammaQ],
                         [own.s[k], -plane.gammaS]];
            if (incoming[h].column !== undefined)
                row.push([incoming[h].column, -half]);
            lp.row('<=', plane.gamma0 * plane.kappa + half * (incoming[h].value ?? 0), row);
        }
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

function genericRows(lp, c, columns, stage, price) {
    for (const constraint of c.constraints)
        for (const { bound } of constraint.rows.filter((row) => row.stage === stage.id))
            stage.blocks.forEach((hours, k) => {
                const slack = () => price(0, Infinity, constraint.penalty * hours);
                const row = constraint.expression.flatMap(([factor, name, id]) => (
                    variable(c, columns, name, id, k, factor)));
                if (constraint.sense !== '<=')
                    row.push([slack(), 1]);
                if (constraint.sense !== '>=')
                    row.push([slack(), -1]);
                lp.row(constraint.sense, bound, row);
            });
}

/* ---- the tree -------------------------------------------------------------------------------- */

const DAY_MS = 86_400_000;

function discount(c, stage) {
    const days = (Date.parse(stage.end) - Date.parse(stage.start)) / DAY_MS;
    return (1 + c.rate) ** (-days / 365.25);
}

/** The terms of (1 - lambda) E + lambda CVaR of the values of equally likely outcomes. CVaR is the
 *  least y + sum p u / alpha with u >= value - y, u >= 0. */
function riskOf(lp, cvar, values) {
    const p = 1 / values.length;
    if (!cvar || cvar.lambda === 0)
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
function addNode(lp, c, t, noises, path, incoming) {
    const stage = c.stages[t];
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
            addNode(lp, c, t + 1, child, [...path, inflows], next)));
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

/** The optimum of a program, by glpsol; `file` is where its input and output go. */
export function optimum(lp, file) {
    fs.writeFileSync(`${file}.mps`, lp.mps());
    const done = spawnSync('glpsol', ['--freemps', `${file}.mps`, '-w', `${file}.sol`],
                           { encoding: 'utf8', timeout: 60_000 });
    assert.equal(done.status, 0, `glpsol: ${done.error ?? done.stdout}`);
    const line = fs.readFileSync(`${file}.sol`, 'utf8').split('\n').find((text) => text.startsWith('s '));
    const [, , , , primal, dual, objective] = line.split(' ');
    assert.deepEqual([primal, dual], ['f', 'f'], `glpsol found no optimum: ${line}`);
    return Number(objective);
}
