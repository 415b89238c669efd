/*
 * casparian.test.mjs - the page for approvals in Chromium: a person sees what will be written,
 * approves, and watches the job; rejects with a reason; hostile texts stay texts; without the key
 * there is nothing.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { chromium } from 'playwright-core';

import { fixPlace, program, root, serve } from '../client/casparian.mjs';
import { reportFailures, watch } from './witness.mjs';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((file) => fs.existsSync(file));
const WAIT_MS = 60_000, PRESS_MS = 2000;
const HOSTILE = '<img src=x onerror="window.broken=1">\u202egnp.exe';
const REQUEST = { plugin_ref: { path: 'parsers/fix/fix_parser.py' }, input_dir: 'samples/fix', output: './output' };
const pictures = path.join(root, 'build', 'inbox');

let self, server, inbox, browser, address;

before(async () => {
    assert.ok(CHROMIUM, 'there is no chromium: scripts/bootstrap installs it');
    fs.mkdirSync(pictures, { recursive: true });
    self = fixPlace();
    server = await serve(self, ['--allow-dev-plugins']);
    inbox = spawn(program, ['approvals', 'serve'], { cwd: self.dir, env: self.env, stdio: ['ignore', 'pipe', 'inherit'] });
    address = await new Promise((resolve) => { inbox.stdout.once('data', (line) => resolve(String(line).trim())); });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'], timeout: WAIT_MS });
});
after(async () => {
    await browser?.close();
    inbox?.kill('SIGTERM');
    await server?.close();
    self?.remove();
});

reportFailures(() => [server?.errors() ?? '']);

async function visit(width = 1280) {
    const context = await browser.newContext({ viewport: { width, height: 800 }, reducedMotion: 'reduce' });
    const page = await context.newPage(), faults = [];
    page.setDefaultTimeout(WAIT_MS);
    page.on('console', (message) => { if (message.type() === 'error') faults.push(message.text()); });
    page.on('pageerror', (error) => faults.push(error.stack));
    watch(page, faults);
    await page.goto(address);
    return { page, async end() { await context.close(); assert.deepEqual(faults, []); } };
}

test('a person approves what is shown, and sees the job end', async () => {
    const { approval_id: id } = await server.ask('run_request', { ...REQUEST, reason: HOSTILE });
    const { page, end } = await visit();
    assert.equal(await page.evaluate(() => location.hash), '', 'the key does not stay in the address');
    await page.locator(`[data-path="api/approvals/${id}"]`).click();
    await page.getByText('order_lifecycle.fix').first().waitFor();
    await page.getByText('\\u{202e}gnp.exe').first().waitFor();
    await page.getByText('fix_order_lifecycle', { exact: true }).first().waitFor();
    assert.equal(await page.evaluate(() => window.broken), undefined);
    await page.screenshot({ path: path.join(pictures, 'request.png') });
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('approved', { exact: true }).first().waitFor();
    const { job_id: job, decided_by: by } = await server.ask('approval_status', { approval_id: id });
    assert.match(by, /^page:/);
    await page.locator(`nav [data-path="api/jobs/${job}"]`).click();
    await page.getByText(`Job ${job}: completed`).waitFor();
    assert.ok(fs.readdirSync(path.join(self.dir, 'output')).some((name) => name.endsWith('.parquet')));
    await end();
});

test('a press counts although the lists are read again before the release', async () => {
    const { approval_id: id } = await server.ask('run_request', { ...REQUEST, force: true });
    const { page, end } = await visit();
    await page.locator(`[data-path="api/approvals/${id}"]`).hover();
    await page.mouse.down();
    await page.waitForTimeout(PRESS_MS); /* a long press: it is no wait for anything */
    await page.mouse.up();
    await page.getByLabel('Reason of a rejection').fill('only pressed');
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('rejected', { exact: true }).first().waitFor();
    await end();
});

test('a person rejects with a reason, at the width of a phone', async () => {
    const { approval_id: id } = await server.ask('run_request', { ...REQUEST, force: true });
    const { page, end } = await visit(390);
    await page.locator(`[data-path="api/approvals/${id}"]`).click();
    await page.getByLabel('Reason of a rejection').fill('not today');
    await page.screenshot({ path: path.join(pictures, 'phone.png') });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is not wider than the screen');
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('rejected', { exact: true }).first().waitFor();
    assert.equal((await server.ask('approval_status', { approval_id: id })).rejection_reason, 'not today');
    await end();
});

test('without the key, or from another origin, nothing is answered', async () => {
    const { origin, hash } = new URL(address);
    const key = new URLSearchParams(hash.slice(1)).get('key');
    const get = (headers) => fetch(`${origin}/api/approvals`, { headers });
    assert.equal((await get({})).status, 401);
    assert.equal((await get({ Authorization: `Bearer ${'0'.repeat(key.length)}` })).status, 401);
    assert.equal((await get({ Authorization: `Bearer ${key}`, Origin: 'http://evil.example' })).status, 403);
    assert.equal((await get({ Authorization: `Bearer ${key}` })).status, 200);
    const page = await (await fetch(origin)).text();
    assert.ok(!page.includes(key));
});
