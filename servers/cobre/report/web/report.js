/*
 * report.js - the page: its head, its sections, and the theme.
 */
import './style.css';

import { redraw } from './charts.js';
import { duration, el, integer, isNumber, money, percent } from './format.js';
import { SECTIONS } from './sections.js';

const data = JSON.parse(document.getElementById('data').textContent);
const root = document.documentElement;
const dark = matchMedia('(prefers-color-scheme: dark)');
let choice = 'auto';

function applyTheme(theme = choice) {
    const isDark = theme === 'dark' || (theme === 'auto' && dark.matches);
    root.dataset.theme = isDark ? 'dark' : 'light';
    redraw();
}

function themeButton() {
    const names = { auto: 'Theme: auto', light: 'Theme: light', dark: 'Theme: dark' };
    const button = el('button', { type: 'button', id: 'theme' }, names[choice]);
    button.addEventListener('click', () => {
        choice = { auto: 'light', light: 'dark', dark: 'auto' }[choice];
        button.textContent = names[choice];
        applyTheme();
    });
    return button;
}

const plural = (count, word) => `${integer(count)} ${word}${count === 1 ? '' : word.endsWith('s') ? 'es' : 's'}`;

function figures() {
    const { training, simulation, summary } = data, items = [];
    const add = (name, value, small) => items.push(el('div', {}, el('dt', {}, name), el('dd', {}, value, small ? el('small', {}, small) : null)));
    if (isNumber(summary.lower_bound)) {
        add('Lower bound', money(summary.lower_bound), `after ${plural(training?.iterations?.completed, 'iteration')}`);
        add('Upper bound', money(summary.upper_bound), `± ${money(summary.ci_95)}, last iteration`);
        add('Gap', percent(100 * summary.gap), (summary.termination_reason ?? '').replaceAll('_', ' '));
    }
    if (simulation?.cost_summary) {
        const { mean, std, cvar } = simulation.cost_summary, { completed: count, total } = simulation.scenarios ?? {};
        const scenarios = count < total ? `${integer(count)} of ${plural(total, 'scenario')}` : plural(count, 'scenario');
        add('Expected cost', money(mean), `± ${money(1.96 * std / Math.sqrt(count))} (95 %), ${scenarios}`);
        if (isNumber(cvar))
            add('Worst 5 % on average', money(cvar), isNumber(mean) && mean ? `${percent(100 * (cvar / mean - 1))} above the mean` : null);
    }
    const [phase, timed] = training ? ['Training', training] : ['Simulation', simulation];
    add(`${phase} time`, duration(timed.duration_seconds), `${plural(timed.distribution?.threads_per_rank, 'thread')}`);
    return el('dl', { class: 'figures' }, items);
}

/** Of both phases: a simulation that was stopped makes a complete training no complete run. */
function status() {
    const { status: trained, simulation } = data;
    return trained === 'complete' && simulation?.status ? simulation.status : trained;
}

function head() {
    const { case_name: name, cobre_version: version } = data, phase = data.training ?? data.simulation, size = phase.problem_dimensions;
    const about = !size ? [] : [plural(size.num_stages, 'stage'), plural(size.num_hydros, 'hydro'), plural(size.num_thermals, 'thermal'), plural(size.num_buses, 'bus'), plural(size.num_lines, 'line')];
    const when = phase.completed_at ? `${data.training ? 'trained' : 'simulated'} ${phase.completed_at.slice(0, 16).replace('T', ' ')} UTC` : null;
    document.title = `${name} – cobre report`;
    document.getElementById('head').append(
        el('div', { class: 'titles' }, el('h1', {}, name, el('span', { class: `status ${status()}` }, status())), themeButton()),
        el('p', { class: 'about' }, [about.join(', '), when, `cobre ${version}, ${phase.solver ?? 'solver unknown'} ${phase.solver_version ?? ''}`.trim()].filter(Boolean).join(' · ')),
        figures());
    document.getElementById('foot').append(`From ${data.output_directory} by cobre ${version}, ${data.generated_at.slice(0, 16).replace('T', ' ')} UTC. Stages are numbered from 0, as in the output files.`);
}

function section({ id, title, render }) {
    const part = data.sections[id];
    const body = part.absent ? [el('p', { class: 'absent' }, part.absent)] : render(part);
    return el('section', { id, 'aria-labelledby': `${id}-title` }, el('h2', { id: `${id}-title` }, title), body);
}

const shown = SECTIONS.filter(({ id }) => data.sections[id]);
head();
document.getElementById('sections').append(el('ul', {}, shown.map(({ id, title }) => el('li', {}, el('a', { href: `#${id}` }, title)))));
document.getElementById('content').append(...shown.map(section));
applyTheme();
dark.addEventListener('change', () => applyTheme());
/* Paper is white. */
addEventListener('beforeprint', () => applyTheme('light'));
addEventListener('afterprint', () => applyTheme());
window.cobre = { data, isReady: true };
