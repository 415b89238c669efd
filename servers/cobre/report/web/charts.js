/*
 * charts.js - uPlot in the colours of the page: lines with bands, and stacked bars.
 *
 * A chart is drawn from its specification, and again when the theme changes. Its legend shows the
 * values under the cursor. The numbers of every chart are in a table below it, so the canvas itself
 * is an image to screen readers.
 */
import uPlot from 'uplot';

import { el, number, ticks } from './format.js';

const charts = new Set();
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Draw all charts again, as when the theme has changed. */
export function redraw() {
    for (const draw of charts)
        draw();
}

/* Room for the longest label, at 7 pixels a character. */
const room = (self, values) => Math.ceil(Math.max(3, ...(values ?? []).map((text) => `${text ?? ''}`.length)) * 7 + 12);

function axes(spec) {
    const font = '12px system-ui, sans-serif', line = { stroke: color('grid'), width: 1 };
    return [
        { font, stroke: color('soft'), grid: { show: false }, ticks: { show: false }, label: spec.xLabel, labelFont: font, labelSize: spec.xLabel ? 18 : 0,
          labelGap: 0, size: 26, gap: 4, space: 46, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000],
          values: (self, splits) => splits.map((value) => spec.xTicks ? spec.xTicks(value) : `${value}`) },
        { font, stroke: color('soft'), grid: line, ticks: { show: false }, border: { show: false }, size: room, gap: 6, space: 34,
          values: (self, splits) => splits.map((value) => value === null ? null : (spec.yTicks ?? ticks)(value)) },
    ];
}

/* The heights to which each bar reaches: values above zero are stacked up, below it down. */
function stack(series) {
    const up = [], down = [];
    return series.map(({ values }) => values.map((value, i) => {
        const sums = value >= 0 ? up : down;
        sums[i] = (sums[i] ?? 0) + (value ?? 0);
        return sums[i];
    }));
}

function legend(spec) {
    const rows = spec.series.filter(({ hidden }) => !hidden).map((one) => {
        const value = el('b');
        const mark = el('i', { class: one.bar || one.box ? null : 'line', style: one.bar || one.box ? `background:var(--${one.color});opacity:${one.opacity ?? 1}` : `border-color:var(--${one.color});border-top-style:${one.dash ? 'dashed' : 'solid'}` });
        return { one, value, node: el('span', {}, mark, `${one.label} `, value) };
    });
    const at = el('span', { class: 'at' }), node = el('div', { class: 'legend', 'aria-hidden': 'true' }, rows.map((row) => row.node), at);
    const show = (index) => {
        const isOver = index !== null && index !== undefined;
        at.textContent = isOver ? `${spec.xName ?? 'stage'} ${(spec.xTicks ?? String)(spec.x[index])}` : '';
        for (const { one, value } of rows) {
            const text = one.legend ? one.legend(index) : (one.write ?? spec.write ?? number)(one.values[index]);
            value.textContent = isOver ? text : '';
        }
    };
    return { node, show };
}

/*
 * Draw `spec` into the host: {x, xLabel, series: [{label, values, color, bar, dash, width,
 * hidden}], bands: [{series: [upper, lower], color, opacity}], height, log, zero}. Bars are stacked
 * in their order.
 */
export function chart(host, spec) {
    let plot = null;
    const bars = spec.series.filter(({ bar }) => bar), lines = spec.series.filter(({ bar }) => !bar);
    const heights = stack(bars).reverse(), order = [...bars].reverse();
    const drawn = [...order, ...lines], key = legend(spec);
    const height = spec.height ?? 260;
    const canvas = el('div', { role: 'img', 'aria-label': spec.title });
    host.append(canvas, key.node);
    const isLog = () => host.dataset.log === 'true';
    const positive = (values) => isLog() ? values.map((value) => value > 0 ? value : null) : values;
    const bandFill = (name, opacity) => `color-mix(in srgb, ${color(name)} ${Math.round(100 * opacity)}%, transparent)`;

    function options(width) {
        return {
            width, height, axes: axes(spec), legend: { show: false }, padding: [8, 16, 0, 0],
            cursor: { y: false, drag: { x: !bars.length && spec.x.length > 2, y: false }, points: { show: !bars.length, size: 6 } },
            scales: {
                x: { time: false, range: (self, least, most) => bars.length ? [least - 0.6, most + 0.6] : least === most ? [least - 1, most + 1] : [least, most] },
                y: isLog() ? { distr: 3 } : { range: (self, least, most) => spec.range ? spec.range(least, most) : uPlot.rangeNum(bars.length || spec.zero ? Math.min(0, least) : least, most === least ? least + 1 : most, { min: { pad: bars.length || spec.zero ? 0 : 0.06, soft: 0, mode: bars.length || spec.zero ? 1 : 3 }, max: { pad: 0.06, soft: 0, mode: 3 } }) },
            },
            series: [{}, ...drawn.map((one) => one.bar
                ? { fill: color(one.color), width: 0, stroke: color(one.color), points: { show: false }, paths: uPlot.paths.bars({ size: [0.72, 64] }) }
                : { stroke: one.hidden || one.box ? 'transparent' : color(one.color), width: one.hidden || one.box ? 0 : one.width ?? 2, dash: one.dash, spanGaps: false,
                    points: { show: spec.x.length === 1 && !one.hidden, size: 7 }, ...(one.steps ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}) })],
            bands: (spec.bands ?? []).map(({ series: [upper, lower], color: name, opacity }) =>
                ({ series: [drawn.indexOf(upper) + 1, drawn.indexOf(lower) + 1], fill: bandFill(name, opacity) })),
            hooks: { setCursor: [(self) => key.show(self.cursor.idx)] },
        };
    }

    function draw() {
        plot?.destroy();
        const data = [spec.x, ...heights.map(positive), ...lines.map(({ values }) => positive(values))];
        plot = new uPlot(options(Math.max(200, host.clientWidth)), data, canvas);
        key.show(null);
    }

    draw();
    charts.add(draw);
    new ResizeObserver(() => {
        if (host.clientWidth && Math.abs(plot.width - host.clientWidth) > 1)
            plot.setSize({ width: host.clientWidth, height });
    }).observe(host);
    return { log(on) { host.dataset.log = on; draw(); } };
}

/** A chart with its caption, its unit, its switch to a log scale and its table. */
export function figure(spec, table, { wide = false } = {}) {
    const host = el('div', { class: 'chart' });
    const button = spec.log ? el('button', { type: 'button', 'aria-pressed': 'false' }, 'Log scale') : null;
    const node = el('figure', { class: wide ? 'wide' : null }, el('figcaption', {}, el('span', {}, el('b', {}, spec.title), spec.unit ? el('span', { class: 'unit' }, `  ${spec.unit}`) : null), button), host, table);
    /* The size is known once the figure is in the document. */
    queueMicrotask(() => {
        const drawn = chart(host, spec);
        button?.addEventListener('click', () => {
            const on = button.getAttribute('aria-pressed') !== 'true';
            button.setAttribute('aria-pressed', on);
            drawn.log(on);
        });
    });
    return node;
}
