/*
 * visit.mjs - what the browser tests share: a server, Debian's Chromium without a screen, a page at
 * a universe, and the list of everything the page reported as wrong.
 *
 * Each wait has a deadline of a minute: drawing in software on a busy machine is slow, and that is
 * no fault of the page.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { chromium } from 'playwright-core';

import { root, start, stop } from '../client/universe.mjs';
import { reportFailures, watch } from './witness.mjs';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((file) => fs.existsSync(file));
const FLAGS = ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--disable-dev-shm-usage'];
const WAIT_MS = 60_000;
const servers = [];

reportFailures(() => servers.map(({ log }) => log));

/** Pictures of what was seen are left here. */
export const pictures = path.join(root, 'build', 'page');

/** A server and a browser: {server, visit(id, options), close()}. */
export async function open(...args) {
    assert.ok(CHROMIUM, 'there is no chromium: scripts/bootstrap installs it');
    fs.mkdirSync(pictures, { recursive: true });
    const server = await start('memory', ...args);
    servers.push(server);
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: WAIT_MS });
    return {
        server,
        visit: (id, options = {}) => visit(browser, server, id, options),
        async close() {
            await browser.close();
            await stop(server);
        },
    };
}

/* A page at a universe, or at no universe where `id` is null, and everything that it reported. */
async function visit(browser, server, id, { width = 1280, height = 800, scheme = 'dark', touch = false, init = undefined } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce', hasTouch: touch, isMobile: touch });
    const page = await context.newPage(), faults = [], asked = [];
    page.setDefaultTimeout(WAIT_MS);
    page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning')
            faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(error.stack));
    page.on('request', (request) => asked.push(new URL(request.url()).origin));
    watch(page, faults);
    await page.addInitScript(() => {
        window.violations = [];
        document.addEventListener('securitypolicyviolation', (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
    });
    if (init)
        await page.addInitScript(init);
    await page.goto(id === null ? server.base : `${server.base}/#${encodeURIComponent(id)}`);
    if (id !== null)
        await page.waitForFunction(() => window.causeway?.stats().connection === 'connected' && window.causeway.stats().version >= 0);
    return { page, faults, asked, base: server.base, end: () => context.close() };
}

/** The page reported no fault, broke no security policy and asked no other host. @param allowed a
 *  fault that is expected */
export async function assertClean({ page, faults, asked, base }, allowed = /$^/) {
    /* drawing in software is slow, and Chromium says so */
    const drawing = /GPU stall|ReadPixels|WebGL.*performance/i;
    assert.deepEqual(faults.filter((words) => !drawing.test(words) && !allowed.test(words)), []);
    assert.deepEqual(await page.evaluate(() => window.violations), []);
    assert.deepEqual([...new Set(asked)], [base]);
}
