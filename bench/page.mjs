/*
 * page.mjs - the script time of a frame of the universe's page with 100,000 bodies, in headless
 * Chromium with software rendering.
 *
 * Frames are slow there, and a frame that waits for the previous one counts the wait as its own. So
 * three figures are printed: `script` is wall-clock time with all waits; `own` is the same without
 * three.js's render, where it waits; `processor` is the processor time of the frame's thread, with
 * render, from the browser's trace: the cost of a frame's script. The window is small because its
 * size does not change the cost of the script.
 *
 * usage: bench/page.mjs [BODIES]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

/* few bodies and short times, for figures that mean nothing */
const SMOKE = Boolean(process.env.BENCH_SMOKE);
const BODIES = Number(process.argv[2] ?? (SMOKE ? 1000 : 100000)), MEASURED_MS = SMOKE ? 500 : 20000, BATCH = 10000;
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const program = path.join(process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin'), 'universe');
const FLAGS = ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--disable-dev-shm-usage'];

async function start() {
    const child = spawn(program, ['serve', '--port', '0', '--db', 'memory', '--log-level', 'error'], { stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    child.stderr.setEncoding('utf8');
    child.stderr.on('data', (text) => { log += text; });
    while (!/serving http:\S+\n/.test(log))
        await Promise.race([once(child.stderr, 'data'), once(child, 'exit').then(() => { throw new Error(log); })]);
    return { child, base: new URL(/serving (http:\S+)\n/.exec(log)[1]).origin };
}

async function post(base, where, body) {
    const answer = await fetch(base + where, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    if (!answer.ok)
        throw new Error(`${where}: ${answer.status} ${(await answer.text()).slice(0, 200)}`);
}

const round = (x, n) => Math.round(x * 10 ** n) / 10 ** n;

/** Systems of a star, 9 planets and 10 moons of each, spread over a disc as a galaxy is. */
function* bodies() {
    for (let i = 0, system = -1; i < BODIES; i++) {
        const within = i % 100;
        if (within === 0)
            system++;
        const star = `s${system}`, ring = Math.sqrt(system + 1) * 60, angle = system * 2.39996;
        const planet = (within - 1) % 9, isPlanet = within >= 1 && within <= 9;
        const payload = within === 0
            ? { name: `Star ${system}`, bodyType: 'star', parentId: system === 0 ? null : 's0', orbitalDistance: system === 0 ? 0 : round(ring, 2),
                orbitalSpeed: system === 0 ? 0 : 0.02, orbitalPhase: round((angle * 180 / Math.PI) % 360, 2), radius: 2.2, color: ['#9BB0FF', '#FFF4EA', '#FFD2A1'][system % 3] }
            : { name: `${isPlanet ? 'Planet' : 'Moon'} ${within}`, bodyType: isPlanet ? 'planet' : 'moon', parentId: isPlanet ? star : `p${system}-${planet}`,
                orbitalDistance: isPlanet ? 4 + planet * 2.2 : round(0.6 + Math.floor((within - 10) / 9) * 0.16, 2), orbitalSpeed: isPlanet ? 12 / (planet + 1) : 40,
                orbitalPhase: (i * 37) % 360, orbitRotX: (i * 7) % 12, radius: isPlanet ? 0.45 : 0.1, color: isPlanet ? ['#4A90E2', '#E25822', '#8B7355', '#C0A080'][i % 4] : '#CCCCCC' };
        yield { type: 'addStar', id: within === 0 ? star : isPlanet ? `p${system}-${planet}` : `m${i}`, payload: { mass: 1, ...payload } };
    }
}

async function fill(base) {
    await post(base, '/universes', { id: 'large', name: 'Large', state: {} });
    let batch = [];
    for (const command of bodies()) {
        batch.push(command);
        if (batch.length === BATCH) {
            await post(base, '/universes/large/commands:batch?return=minimal', batch);
            batch = [];
        }
    }
    if (batch.length > 0)
        await post(base, '/universes/large/commands:batch?return=minimal', batch);
}

async function measure(page, name) {
    await page.evaluate(() => window.causeway.clearStats());
    await browser.startTracing(page, { categories: ['devtools.timeline'] });
    await page.waitForTimeout(MEASURED_MS);
    const trace = JSON.parse(String(await browser.stopTracing()));
    const { scriptMs, ownMs, partMs, frames, drawn } = await page.evaluate(() => window.causeway.stats());
    const processor = trace.traceEvents.filter((event) => event.name === 'FireAnimationFrame' && event.tdur !== undefined)
        .map(({ tdur }) => tdur / 1000).sort((a, b) => a - b);
    const at = (part) => processor[Math.min(processor.length - 1, Math.floor(part * processor.length))] ?? NaN;
    const words = ({ p50, p95, p99 }) => `p50 ${p50.toFixed(2)}  p95 ${p95.toFixed(2)}  p99 ${p99.toFixed(2)}`;
    console.log(`page: ${name}: ms a frame (${frames} frames, ${drawn.calls} draw calls)`);
    for (const [what, ms] of [['processor', { p50: at(0.5), p95: at(0.95), p99: at(0.99) }], ['own', ownMs], ['script', scriptMs], ...Object.entries(partMs)])
        console.log(`page:     ${what.padEnd(10)} ${words(ms)}`);
}

const server = await start();
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((file) => fs.existsSync(file));
const browser = await chromium.launch({ executablePath, args: FLAGS });
try {
    await fill(server.base);
    const page = await browser.newPage({ viewport: { width: 640, height: 400 } });
    page.setDefaultTimeout(300_000);
    const begun = Date.now();
    await page.goto(`${server.base}/#large`);
    await page.waitForFunction((count) => document.getElementById('count-bodies').textContent === count.toLocaleString('en'), BODIES);
    console.log(`page: ${BODIES} places drawn after ${Date.now() - begun} ms`);
    await page.waitForFunction((count) => window.causeway.stats().bodies === count && document.getElementById('progress').hidden, BODIES);
    console.log(`page: ${BODIES} bodies known after ${Date.now() - begun} ms`);
    await page.waitForTimeout(SMOKE ? 0 : 3000);
    await measure(page, 'all in view');
    if (process.env.PAGE_PICTURE)
        await page.screenshot({ path: process.env.PAGE_PICTURE, timeout: 120_000 });
    await page.evaluate(() => window.causeway.visit('s7'));
    await measure(page, 'near one star');
    await post(server.base, '/universes/large/clock', { running: true, timeScale: 1, hz: 10 });
    await measure(page, 'with the clock at 10 Hz');
    let writes = true;
    const writing = (async () => {
        for (let i = 0; writes; i++) {
            await post(server.base, '/universes/large/commands?return=minimal', { type: 'updateStar', id: `s${i % Math.ceil(BODIES / 100)}`, payload: { radius: 2 + (i % 5) / 10 } });
            await new Promise((resolve) => { setTimeout(resolve, 10); });
        }
    })();
    await measure(page, 'and some 100 commands a second');
    writes = false;
    await writing;
} finally {
    await browser.close();
    server.child.kill('SIGTERM');
}
