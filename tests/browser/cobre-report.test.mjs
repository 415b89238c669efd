/*
 * cobre-report.test.mjs - the HTML report of cobre in a real browser: its figures against the files
 * of the run, its tables, log scale, themes, small screens and paper, what it says about missing
 * parts, and that it asks for nothing outside itself.
 *
 * Each wait has a deadline of a minute: drawing on a busy machine is slow.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { chromium } from 'playwright-core';

import { copyCase, limit, object, root, run } from '../client/cobre-shell.mjs';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((file) => fs.existsSync(file));
const WAIT_MS = 60_000;
const SECTIONS = ['convergence', 'costs', 'storage', 'marginal_cost', 'generation', 'deficit', 'cuts', 'solver'];
/* Pictures of what was seen are left here. */
const pictures = path.join(root, 'build', 'report');
let browser, dir, output;

before(async () => {
    assert.ok(CHROMIUM, 'there is no chromium: scripts/bootstrap installs it');
    fs.mkdirSync(pictures, { recursive: true });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'], timeout: WAIT_MS });
    dir = copyCase('two-rivers', { training: limit(12), simulation: { num_scenarios: 40 } });
    output = path.join(dir, 'output');
    assert.equal(run(['run', dir, '--quiet']).status, 0);
});

after(() => browser?.close());

/** Write the report of an output directory and open it; what it asked for and complained of. */
async function open(where, args = [], { width = 1280, height = 900, scheme = 'light', scale = 1 } = {}) {
    const done = run(['report', where, ...args]);
    assert.equal(done.status, 0, done.stderr);
    const file = done.stdout.trimEnd();
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, deviceScaleFactor: scale });
    const page = await context.newPage(), faults = [], asked = [];
    page.setDefaultTimeout(WAIT_MS);
    page.on('console', (message) => faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.stack));
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`file://${file}`);
    await page.waitForFunction(() => window.cobre?.isReady);
    await page.waitForFunction(() => [...document.querySelectorAll('.chart')].every((chart) => chart.querySelector('canvas')));
    return { page, file, faults, asked, end: () => context.close() };
}

/** No fault, and no request but the file itself. */
function assertClean({ faults, asked, file }) {
    assert.deepEqual(faults, []);
    assert.deepEqual(asked.filter((url) => !url.startsWith('data:')), [`file://${file}`]);
}

/** Whether the canvas of a figure shows anything. */
const isDrawn = (page, selector) => page.locator(selector).first().evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4)
        if (data[i + 3] > 0)
            seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return seen.size > 3;
});

const table = (page, name) => page.locator(`table[aria-label="${name}"] tbody tr`).evaluateAll((rows) =>
    rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
const plain = (text) => Number(text.replaceAll(',', '').replace('−', '-'));

test('every section is there and drawn, and the figures are those of the files', async () => {
    const seen = await open(output), { page } = seen;
    assert.equal(seen.file, path.join(output, 'report.html'));
    assert.deepEqual(await page.locator('main section').evaluateAll((all) => all.map(({ id }) => id)), SECTIONS);
    assert.equal(await page.title(), 'two-rivers – cobre report');
    for (const id of SECTIONS.filter((name) => name !== 'deficit'))
        assert.ok(await isDrawn(page, `#${id} canvas`), `${id} is empty`);
    const summary = object(run(['summary', output, '--json']));
    const head = await page.locator('#head').textContent();
    assert.match(head, /12 stages, 3 hydros, 4 thermals, 2 buses, 1 line/);
    assert.ok(head.includes(`$${(summary.training.final_lower_bound / 1e6).toPrecision(4).replace(/\.?0+$/, '')}M`), head);
    const bounds = await table(page, 'Bounds by iteration');
    assert.equal(bounds.length, 12);
    assert.ok(Math.abs(plain(bounds[11][1]) / summary.training.final_lower_bound - 1) < 1e-6);
    /* The expected cost by stage adds up to the mean that the simulation has stored. */
    const costs = await table(page, 'Expected cost by stage');
    const total = costs.reduce((all, row) => all + row.slice(1).reduce((sum, text) => sum + plain(text), 0), 0);
    assert.ok(Math.abs(total / summary.simulation.cost_summary.mean - 1) < 1e-5, `${total}`);
    /* Energy: what is generated is the load, less the deficit; the line has no losses. */
    for (const row of await table(page, 'Generation by stage')) {
        const values = row.slice(1).map(plain), load = values.pop();
        assert.ok(Math.abs(values.reduce((a, b) => a + b, 0) - load) < 1e-4 * load, `${row}`);
    }
    /* Quantiles rise; storage stays within the reservoir. */
    for (const row of await table(page, 'Upper Ash')) {
        const [, ...quantiles] = row.slice(0, 6).map(plain);
        assert.deepEqual(quantiles, [...quantiles].sort((a, b) => a - b));
        assert.ok(quantiles[0] >= 260 - 1e-3 && quantiles[4] <= 2400 + 1e-3, `${row}`);
    }
    await page.screenshot({ path: path.join(pictures, 'light.png'), fullPage: true });
    assertClean(seen);
    await seen.end();
});

test('the tables open below their charts, by keyboard too', async () => {
    const seen = await open(output), { page } = seen;
    const details = page.locator('#convergence details').first();
    assert.equal(await details.locator('table').isVisible(), false);
    await details.locator('summary').focus();
    await page.keyboard.press('Enter');
    assert.equal(await details.locator('table').isVisible(), true);
    const charts = await page.locator('[role="img"]').evaluateAll((all) => all.map((chart) => chart.getAttribute('aria-label')));
    assert.ok(charts.length >= 10 && charts.every(Boolean), charts);
    await seen.end();
});

test('the log scale is a switch, and the cursor reads values', async () => {
    const seen = await open(output), { page } = seen;
    const button = page.getByRole('button', { name: 'Log scale' }), chart = page.locator('#convergence .chart').first();
    const before = await chart.locator('canvas').evaluate((canvas) => canvas.toDataURL());
    await button.click();
    assert.equal(await button.getAttribute('aria-pressed'), 'true');
    assert.notEqual(await chart.locator('canvas').evaluate((canvas) => canvas.toDataURL()), before);
    assert.ok(await isDrawn(page, '#convergence canvas'));
    await button.click();
    await chart.locator('.u-over').hover();
    await page.waitForFunction(() => /\$\d/.test(document.querySelector('#convergence .legend b').textContent));
    assert.match(await chart.locator('.legend .at').textContent(), /^iteration \d+$/);
    assertClean(seen);
    await seen.end();
});

test('light and dark, by the system and by the button', async () => {
    const seen = await open(output, [], { scheme: 'dark' }), { page } = seen;
    const shade = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await shade();
    await page.screenshot({ path: path.join(pictures, 'dark.png'), fullPage: true });
    await page.emulateMedia({ colorScheme: 'light' });
    await page.waitForFunction(() => document.documentElement.dataset.theme === 'light');
    assert.notEqual(await shade(), dark);
    await page.locator('#theme').click();
    await page.locator('#theme').click();
    assert.equal(await page.locator('#theme').textContent(), 'Theme: dark');
    assert.equal(await shade(), dark);
    assertClean(seen);
    await seen.end();
});

test('a phone: nothing is wider than the screen or its card, and charts are redrawn', async () => {
    const seen = await open(output, [], { width: 390, height: 844, scale: 2 }), { page } = seen;
    const width = () => page.evaluate(() => document.documentElement.scrollWidth);
    const wide = () => page.evaluate(() => [...document.querySelectorAll('figure table')]
        .filter((table) => !table.closest('.scroll') && table.getBoundingClientRect().right > table.closest('figure').getBoundingClientRect().right)
        .map((table) => table.closest('figure').querySelector('b').textContent));
    assert.equal(await width(), 390);
    await page.screenshot({ path: path.join(pictures, 'phone.png'), fullPage: true });
    await page.setViewportSize({ width: 320, height: 700 });
    assert.deepEqual(await wide(), []);
    await page.setViewportSize({ width: 760, height: 400 });
    await page.waitForFunction(() => [...document.querySelectorAll('.chart')].every((chart) => Math.abs(chart.querySelector('.uplot').offsetWidth - chart.clientWidth) < 3));
    assert.equal(await width(), 760);
    assertClean(seen);
    await seen.end();
});

test('a simulation that was stopped is not shown as complete', async () => {
    const stopped = path.join(path.dirname(dir), 'stopped'), file = path.join(stopped, 'simulation', 'metadata.json');
    fs.cpSync(output, stopped, { recursive: true });
    const metadata = JSON.parse(fs.readFileSync(file, 'utf8'));
    fs.writeFileSync(file, JSON.stringify({ ...metadata, status: 'partial', scenarios: { ...metadata.scenarios, total: 5000 } }));
    const seen = await open(stopped), { page } = seen;
    assert.equal(await page.locator('.status').textContent(), 'partial');
    assert.match(await page.locator('.figures').textContent(), /, 40 of 5,000 scenarios/);
    assertClean(seen);
    await seen.end();
});

test('paper: it prints, without the buttons', async () => {
    const seen = await open(output, [], { scheme: 'dark' }), { page } = seen;
    const pdf = await page.pdf({ format: 'A4', path: path.join(pictures, 'report.pdf') });
    assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.locator('#theme').isVisible(), false);
    assert.equal(await page.locator('nav').isVisible(), false);
    await seen.end();
});

test('what is missing is said: no simulation, no convergence record, a broken file', async () => {
    const trained = copyCase('1dtoy', { training: limit(4), simulation: { enabled: false } });
    assert.equal(run(['run', trained, '--quiet']).status, 0);
    let seen = await open(path.join(trained, 'output'));
    for (const id of ['costs', 'storage', 'marginal_cost', 'generation', 'deficit'])
        assert.match(await seen.page.locator(`#${id} .absent`).textContent(), /holds no finished simulation/);
    assert.ok(await isDrawn(seen.page, '#convergence canvas'));
    assertClean(seen);
    await seen.end();

    const broken = path.join(path.dirname(dir), 'broken');
    fs.cpSync(output, broken, { recursive: true });
    fs.rmSync(path.join(broken, 'training', 'convergence.parquet'));
    fs.writeFileSync(path.join(broken, 'simulation', 'buses', 'scenario_id=0003', 'data.parquet'), 'x');
    fs.rmSync(path.join(broken, 'training', 'dictionaries', 'entities.csv'));
    seen = await open(broken);
    assert.match(await seen.page.locator('#convergence .absent').textContent(), /no convergence record/);
    assert.match(await seen.page.locator('#deficit .absent').textContent(), /simulation\/buses cannot be read: /);
    assert.ok(await isDrawn(seen.page, '#storage canvas'));
    /* Without the dictionary plants go by their ids. */
    assert.deepEqual(await seen.page.locator('#storage figcaption b').allTextContents(), ['0', '2', '1']);
    assertClean(seen);
    await seen.end();
});

test('some sections, the largest entities, another file', async () => {
    const file = path.join(path.dirname(dir), 'some.html');
    const seen = await open(output, ['--section', 'storage,costs', '--entities', '2', '--output', file]), { page } = seen;
    assert.equal(seen.file, file);
    assert.deepEqual(await page.locator('main section').evaluateAll((all) => all.map(({ id }) => id)), ['costs', 'storage']);
    assert.deepEqual(await page.locator('#storage figcaption b').allTextContents(), ['Upper Ash', 'Heron']);
    assert.match(await page.locator('#storage .note').textContent(), /^The 2 largest of 3 hydros are shown, by storage\. `cobre report --entities N` shows more\.$/);
    assertClean(seen);
    await seen.end();
});

test('names from files are texts, whatever they hold', async () => {
    const odd = path.join(path.dirname(dir), 'odd <script>alert(1)</script>', 'output');
    fs.cpSync(output, odd, { recursive: true });
    const names = path.join(odd, 'training', 'dictionaries', 'entities.csv');
    fs.writeFileSync(names, fs.readFileSync(names, 'utf8').replace('Heron', '</script><script>alert(1)</script><!--'));
    const seen = await open(odd), { page } = seen;
    let alerts = 0;
    page.on('dialog', (dialog) => { alerts++; dialog.dismiss(); });
    await page.reload();
    await page.waitForFunction(() => window.cobre?.isReady);
    assert.equal(await page.locator('#storage figcaption b').nth(1).textContent(), '</script><script>alert(1)</script><!--');
    assert.equal(alerts, 0);
    assert.deepEqual(seen.faults, []);
    await seen.end();
});
