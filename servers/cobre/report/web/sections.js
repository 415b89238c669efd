/*
 * sections.js - one function a section: its data in, its figures out.
 */
import { figure } from './charts.js';
import { cell, el, integer, isNumber, money, moneyTick, number, numbers, percent } from './format.js';

const sum = (values) => values.reduce((all, value) => all + (value ?? 0), 0);
const grid = (figures, kind = '') => el('div', { class: `grid ${kind}` }, figures);
const lead = (text) => el('p', { class: 'lead' }, text);
const note = (text) => text ? el('p', { class: 'note' }, text) : null;
const rows = (...columns) => columns[0].map((_, i) => columns.map((column) => column[i]));

function convergence({ iteration, lower_bound, upper_bound, ci_95, gap, inner_upper_bound, note: words }) {
    const above = upper_bound.map((mean, i) => mean + ci_95[i]), below = upper_bound.map((mean, i) => mean - ci_95[i]);
    const top = { label: '', values: above, hidden: true }, bottom = { label: '', values: below, hidden: true };
    const lower = { label: 'Lower bound', values: lower_bound, color: 'lower', width: 2.5, write: money };
    const upper = { label: 'Upper bound (mean of the forward passes)', values: upper_bound, color: 'upper', width: 1.5, write: money };
    const share = gap.map((value) => 100 * value), hasInner = inner_upper_bound.some(isNumber);
    const inner = hasInner ? [{ label: 'Upper bound that holds for certain (inner approximation)', values: inner_upper_bound, color: 'deficit', dash: [6, 4], width: 2, write: money }] : [];
    const columns = [['Iteration', iteration], ['Lower bound, $', lower_bound], ['Upper bound, $', upper_bound], ['± 95 %, $', ci_95], ['Gap, %', share], ...hasInner ? [['Inner bound, $', inner_upper_bound]] : []];
    return [lead('The lower bound never falls and ends near the expected cost. The upper bound is the mean of the forward passes of one iteration, with its 95 % interval; it is noisy where passes are few, and may lie below the lower bound.' + (hasInner ? ' The inner bound is never below the optimum.' : '') + ' Drag across a chart to look closer; a double click shows all of it again.'),
        grid([
            figure({ title: 'Bounds', unit: '$', x: iteration, xLabel: 'iteration', xName: 'iteration', series: [top, bottom, lower, upper, ...inner],
                     bands: [{ series: [top, bottom], color: 'upper', opacity: 0.16 }], height: 300, log: true, yTicks: moneyTick },
                   numbers('Bounds by iteration', columns.map(([head]) => head), rows(...columns.map(([, values]) => values))), { wide: true }),
            figure({ title: 'Gap', unit: '% of the upper bound', x: iteration, xLabel: 'iteration', xName: 'iteration', series: [{ label: 'Gap', values: share, color: 'lower', width: 1.5, write: percent }], height: 150 },
                   null, { wide: true }),
        ]), note(words)];
}

/* The categories as a table with a bar each. */
function shares(categories, total) {
    const most = Math.max(...categories.map(({ values }) => sum(values)));
    const line = ({ label, color, values }) => {
        const cost = sum(values);
        return el('tr', {}, el('th', { scope: 'row' }, el('i', { class: 'dot', style: `background:var(--${color})` }), label),
            el('td', { class: 'share', 'aria-hidden': 'true' }, el('i', { style: `background:var(--${color});width:${Math.max(0, 100 * cost / most)}%` })),
            el('td', {}, money(cost)), el('td', {}, percent(total ? 100 * cost / total : NaN)));
    };
    return el('figure', {}, el('figcaption', {}, el('span', {}, el('b', {}, 'Expected cost by category'), el('span', { class: 'unit' }, '  $, discounted'))),
        el('table', { 'aria-label': 'Expected cost by category' }, el('thead', {}, el('tr', {}, ['Category', '', 'Cost', 'Share'].map((head) => el('th', { scope: 'col', class: head ? null : 'share' }, head)))),
            el('tbody', {}, categories.map(line), el('tr', { class: 'sum' }, el('th', { scope: 'row' }, 'Total'), el('td', { class: 'share' }), el('td', {}, money(total)), el('td', {})))));
}

const COST_COLORS = { thermal: 'thermal', contract: 'contract', deficit: 'deficit', violation: 'violation', curtailment: 'source', exchange: 'hydro' };

function costs({ stages, categories, distribution, mean, cvar, note: words }) {
    const series = categories.map(({ name, label, mean: values }) => ({ label, values, color: COST_COLORS[name] ?? 'grey', bar: true, write: money }));
    const total = sum(series.map(({ values }) => sum(values)));
    const { probability, cost } = distribution;
    return [lead('Costs of the simulation, discounted to the first stage and averaged over its scenarios. The distribution shows how far single scenarios lie from the mean.'),
        grid([
            figure({ title: 'Expected cost by stage', unit: '$, discounted', x: stages, xLabel: 'stage', series, yTicks: moneyTick },
                   numbers('Expected cost by stage', ['Stage', ...categories.map(({ label }) => `${label}, $`)], rows(stages, ...series.map(({ values }) => values))), { wide: true }),
            shares(series, total),
            figure({ title: 'Cost of a scenario', unit: '$', x: probability, xLabel: 'share of scenarios that cost less, %', xName: 'share', series: [
                { label: 'Cost', values: cost, color: 'lower', write: money },
                ...(isNumber(mean) ? [{ label: 'Mean', values: probability.map(() => mean), color: 'grey', dash: [6, 4], width: 1.5, legend: () => money(mean) }] : []),
                ...(isNumber(cvar) ? [{ label: 'Mean of the worst 5 %', values: probability.map(() => cvar), color: 'deficit', dash: [2, 4], width: 1.5, legend: () => money(cvar) }] : []),
            ], yTicks: moneyTick }, numbers('Cost of a scenario', ['Share, %', 'Cost, $'], rows(probability, cost))),
        ]), note(words)];
}

function fan({ quantiles: [q5, q25, q50, q75, q95] = [], mean, name }, stages, unit, color, write) {
    const series = [q95, q5, q75, q25].map((values) => ({ label: '', values, hidden: true }));
    const range = (low, high) => (index) => `${write(low[index])} to ${write(high[index])}`;
    const outer = { label: '5–95 %', values: stages.map(() => null), color, box: true, opacity: 0.22, legend: range(q5, q95) };
    const inner = { label: '25–75 %', values: stages.map(() => null), color, box: true, opacity: 0.5, legend: range(q25, q75) };
    return figure({ title: name, unit, x: stages, series: [...series, { label: 'Median', values: q50, color, width: 2, write }, inner, outer],
                    bands: [{ series: [series[0], series[1]], color, opacity: 0.16 }, { series: [series[2], series[3]], color, opacity: 0.26 }], height: 170, zero: unit !== '$/MWh' },
                  numbers(name, ['Stage', '5 %', '25 %', 'Median', '75 %', '95 %', 'Mean'], rows(stages, q5, q25, q50, q75, q95, mean)));
}

const fans = (text, unit, color, write) => ({ stages, entities, note: words }) =>
    [lead(text), grid(entities.map((entity) => fan(entity, stages, unit, color, write)), entities.length > 2 ? 'many' : ''), note(words)];

const SOURCE_COLORS = { hydro: 'hydro', thermal: 'thermal', non_controllable: 'source', contract: 'contract', deficit: 'deficit' };

function generation({ stages, sources, load, note: words }) {
    const series = sources.map(({ name, label, gwh }) => ({ label, values: gwh, color: SOURCE_COLORS[name] ?? 'grey', bar: true }));
    return [lead('Mean energy of a stage by source, against the load. Losses, pumping and excess make the difference.'),
        grid([figure({ title: 'Generation', unit: 'GWh', x: stages, xLabel: 'stage', series: [...series, { label: 'Load', values: load, color: 'ink', width: 1.5, dash: [5, 4] }], height: 300 },
                     numbers('Generation by stage', ['Stage', ...sources.map(({ label }) => `${label}, GWh`), 'Load, GWh'], rows(stages, ...sources.map(({ gwh }) => gwh), load)), { wide: true })]), note(words)];
}

function deficit({ stages, probability, expected, p95, buses, note: words }) {
    const share = probability.map((value) => 100 * value), any = share.some((value) => value > 0);
    if (!any)
        return [lead('All load is served: no scenario of the simulation has a deficit in any stage.'), note(words)];
    const table = el('figure', { class: 'wide' }, el('figcaption', {}, el('span', {}, el('b', {}, 'By bus'))), el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Deficit by bus' },
        el('table', { 'aria-label': 'Deficit by bus' }, el('thead', {}, el('tr', {}, ['Bus', 'Scenarios with deficit', 'Expected deficit, MWh', 'Share of load'].map((head) => el('th', { scope: 'col' }, head)))),
           el('tbody', {}, buses.map(({ name, probability: risk, expected: mwh, load }) => el('tr', {}, el('th', { scope: 'row' }, name), el('td', {}, percent(100 * risk)), el('td', {}, cell(mwh)), el('td', {}, percent(load ? 100 * mwh / load : NaN))))))));
    return [lead('How often load is not served, and how much of it: the share of scenarios with a deficit at any bus, and the energy not served.'),
        grid([
            figure({ title: 'Risk of a deficit', unit: '% of scenarios', x: stages, xLabel: 'stage', series: [{ label: 'Risk', values: share, color: 'deficit', bar: true, write: percent }], height: 220, range: (least, most) => [0, Math.max(1, most * 1.08)] },
                   numbers('Risk of a deficit', ['Stage', 'Risk, %', 'Expected, MWh', '95 % quantile, MWh'], rows(stages, share, expected, p95))),
            figure({ title: 'Energy not served', unit: 'MWh', x: stages, xLabel: 'stage', series: [{ label: 'Expected', values: expected, color: 'deficit', bar: true }, { label: '95 % quantile', values: p95, color: 'violation', width: 1.5, dash: [4, 4] }], height: 220, range: (least, most) => [0, Math.max(1, most * 1.08)] }, null),
            table,
        ]), note(words)];
}

function cuts({ iteration, active, added, stages, by_stage, note: words }) {
    const figures = [figure({ title: 'Active cuts', unit: 'all stages', x: iteration, xLabel: 'iteration', xName: 'iteration', series: [{ label: 'Active', values: active, color: 'lower', write: integer }, { label: 'Added', values: added, color: 'upper', width: 1.5, write: integer }], height: 220, zero: true },
                            numbers('Cuts by iteration', ['Iteration', 'Active', 'Added'], rows(iteration, active, added)), { wide: !stages })];
    if (stages)
        figures.push(figure({ title: 'Cuts by stage', unit: 'after the last selection', x: stages, xLabel: 'stage', height: 220, series: [
            { label: 'Active', values: by_stage.active, color: 'lower', bar: true, write: integer },
            { label: 'Inactive', values: by_stage.populated.map((all, i) => all - by_stage.active[i]), color: 'grey', bar: true, write: integer }] },
            numbers('Cuts by stage', ['Stage', 'Cuts', 'Active'], rows(stages, by_stage.populated, by_stage.active))));
    return [lead('Each cut bounds the future cost of a stage from below. Selection deactivates those that no visited state needs.'), grid(figures), note(words)];
}

function solver({ iteration, forward, backward, other, lp_solves, stages, by_stage, note: words }) {
    const figures = [figure({ title: 'Time of an iteration', unit: 'ms', x: iteration, xLabel: 'iteration', xName: 'iteration', height: 220, series: [
        { label: 'Backward', values: backward, color: 'lower', bar: true }, { label: 'Forward', values: forward, color: 'upper', bar: true }, { label: 'Other', values: other, color: 'grey', bar: true }] },
        numbers('Time by iteration', ['Iteration', 'Forward, ms', 'Backward, ms', 'Other, ms', 'LPs solved'], rows(iteration, forward, backward, other, lp_solves)), { wide: !stages })];
    if (stages)
        figures.push(figure({ title: 'Solver time by stage', unit: 'ms, whole training', x: stages, xLabel: 'stage', height: 220, series: [
            { label: 'Backward', values: by_stage.backward, color: 'lower', bar: true }, { label: 'Forward', values: by_stage.forward, color: 'upper', bar: true }] },
            numbers('Solver time by stage', ['Stage', 'Forward, ms', 'Backward, ms'], rows(stages, by_stage.forward, by_stage.backward))));
    return [lead(`${integer(sum(lp_solves))} linear programs were solved in the training.`), grid(figures), note(words)];
}

/** In the order of the page. */
export const SECTIONS = [
    { id: 'convergence', title: 'Convergence', render: convergence },
    { id: 'costs', title: 'Costs', render: costs },
    { id: 'storage', title: 'Storage', render: fans('Water stored at the end of each stage over all scenarios: the median, and the middle half and nine tenths.', 'hm³', 'fan', number) },
    { id: 'marginal_cost', title: 'Marginal cost', render: fans('Price of one more MWh at each bus, averaged over the blocks of a stage by their load.', '$/MWh', 'price', number) },
    { id: 'generation', title: 'Generation', render: generation },
    { id: 'deficit', title: 'Deficit', render: deficit },
    { id: 'cuts', title: 'Cuts', render: cuts },
    { id: 'solver', title: 'Solver time', render: solver },
];
