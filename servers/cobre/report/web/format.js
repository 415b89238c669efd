/*
 * format.js - numbers and small pieces of the document.
 */

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 4 });
const tick = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 6 });
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const exact = new Intl.NumberFormat('en', { maximumSignificantDigits: 7 });

export const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);
const or = (write) => (value) => isNumber(value) ? write(value) : '–';
const minus = (text) => text.replace('-', '−');

export const number = or((value) => minus(compact.format(value)));
export const ticks = or((value) => minus(tick.format(value)));
export const integer = or((value) => minus(whole.format(value)));
export const cell = or((value) => minus(exact.format(value)));
export const percent = or((value) => value > 0 && value < 0.01 ? '< 0.01 %'
    : minus(`${value.toLocaleString('en', { maximumSignificantDigits: Math.abs(value) < 1 ? 2 : 3 })} %`));
export const money = or((value) => value < 0 ? `−$${compact.format(-value)}` : `$${compact.format(value)}`);
export const moneyTick = or((value) => value < 0 ? `−$${tick.format(-value)}` : `$${tick.format(value)}`);

/** A duration: 9.1 s, 2 min 5 s, 1 h 12 min. */
export const duration = or((seconds) => {
    if (seconds < 60)
        return `${seconds.toFixed(1)} s`;
    const all = Math.round(seconds), hours = Math.floor(all / 3600), minutes = Math.floor(all / 60) % 60;
    return hours ? `${hours} h ${minutes} min` : `${minutes} min ${all % 60} s`;
});

/** An element; children are nodes or texts, and null ones are left out. */
export function el(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes))
        if (value !== null && value !== undefined && value !== false)
            node.setAttribute(key, value === true ? '' : value);
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
}

/** The numbers of a chart as a table that opens below it. */
export function numbers(title, heads, rows, write = cell) {
    const row = (values) => el('tr', {}, values.map((value, index) =>
        el(index ? 'td' : 'th', index ? {} : { scope: 'row' }, typeof value === 'string' ? value : write(value))));
    return el('details', {}, el('summary', {}, 'Numbers'), el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Numbers: ${title}` },
        el('table', { 'aria-label': title }, el('thead', {}, el('tr', {}, heads.map((head) => el('th', { scope: 'col' }, head)))),
           el('tbody', {}, rows.map(row)))));
}
