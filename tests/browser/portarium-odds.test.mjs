/*
 * portarium-odds.test.mjs - the cockpit where something is out of the ordinary: a server or a
 * network that goes away, clicks that come twice, long lists, evidence that was cut, definitions
 * that have changed, addresses of nothing, several tabs and tokens.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';

import { chromium } from 'playwright-core';

import { CONTENT, plane, root } from '../client/portarium-rest.mjs';
import { until } from '../client/support/until.mjs';
import { reportFailures, watch } from './witness.mjs';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((file) => fs.existsSync(file));
const WAIT_MS = 60_000, REFRESH_MS = 150 /* of the page */, WS = '/v1/workspaces/ws-1';
const pictures = path.join(root, 'build', 'cockpit');

const FORM = {
    type: 'object', required: ['window', 'sure'],
    properties: { window: { type: 'string', title: 'Window', enum: ['tonight', 'weekend'] }, sure: { type: 'boolean', title: 'Sure', enum: [true] } },
};
const content = structuredClone(CONTENT);
const [first] = content.workspaces, gate = first.workflows[2];
first.workflows.push({ ...gate, workflowId: 'wf-form', name: 'Migrate', actions: [{ ...gate.actions[0], actionId: 'migrate', approvalForm: FORM }] });
first.workflows.push({ ...gate, workflowId: 'wf-manual', name: 'By hand', executionTier: 'ManualOnly' });
first.workflows.push({ ...gate, workflowId: 'wf-risky', name: 'Risky', actions: [{ ...gate.actions[0], sideEffect: true }] });

let server, wire, browser;

/** What is between the browser and the server: { port, cut(), mute(), mend() }. */
async function wireTo(port) {
    const pairs = new Set();
    let listener;
    const open = (at) => new Promise((resolve) => {
        listener = net.createServer((near) => {
            const far = net.connect(port, '127.0.0.1'), pair = { near, far };
            pairs.add(pair);
            for (const [one, other] of [[near, far], [far, near]]) {
                one.on('error', () => {}).pipe(other);
                one.on('close', () => { other.destroy(); pairs.delete(pair); });
            }
        }).listen(at, '127.0.0.1', () => resolve(listener.address().port));
    });
    const self = { port: await open(0) };
    /* The connections break, and there are no new ones. */
    self.cut = () => {
        listener.close();
        for (const { near } of pairs)
            near.resetAndDestroy();
    };
    self.mend = () => open(self.port);
    /* On the connections of now nothing arrives any more; new ones work. */
    self.mute = () => { for (const { near, far } of pairs) { near.unpipe(far); far.unpipe(near); near.pause(); far.pause(); } };
    return self;
}

before(async () => {
    assert.ok(CHROMIUM, 'there is no chromium: scripts/bootstrap installs it');
    fs.mkdirSync(pictures, { recursive: true });
    server = await plane(content);
    wire = await wireTo(new URL(server.base).port);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'], timeout: WAIT_MS });
});
after(async () => {
    await browser?.close();
    wire?.cut();
    await server?.close();
});

reportFailures(() => [server?.log ?? '']);

/* @param allowed a fault that is expected, such as that of a request that failed */
async function visit({ user = 'anna', roles = 'admin,approver', base = server.base, where = '', init = undefined, allowed = /$^/ } = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
    const page = await context.newPage(), faults = [];
    page.setDefaultTimeout(WAIT_MS);
    page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) faults.push(message.text()); });
    page.on('pageerror', (error) => faults.push(error.stack));
    watch(page, faults);
    const open = new Set(); /* requests but for the events */
    let begun = 0;
    page.on('request', (request) => { begun++; if (!/events:stream/.test(request.url())) open.add(request); });
    for (const end of ['requestfinished', 'requestfailed'])
        page.on(end, (request) => open.delete(request));
    if (init)
        await page.addInitScript(init);
    await page.goto(`${base}/#token=${server.token(user, roles)}`);
    await page.getByText('live', { exact: true }).waitFor();
    if (where)
        await page.goto(`${base}/#/${where}`);
    /* Nothing is asked for, and no answer may lead to another request. */
    const idle = () => until(async () => {
        const before = begun, wasOpen = open.size;
        await page.evaluate((ms) => new Promise((done) => { setTimeout(done, ms); }), 3 * REFRESH_MS);
        return !wasOpen && begun === before;
    }, 'a page that asks for nothing');
    return { page, faults, idle, async end() {
        await page.unrouteAll({ behavior: 'wait' });
        await context.close();
        assert.deepEqual(faults.filter((words) => !allowed.test(words)), []);
    } };
}

/* An answer of that status, also where it was asked too often at first. */
async function ask(method, where, options, status = 200) {
    const answer = await until(async () => {
        const one = await server.ask(method, WS + where, options);
        return one.status !== 429 && one;
    }, 'an answer');
    assert.equal(answer.status, status, answer.text);
    return answer.json;
}
const start = async (workflowId, parameters) => (await ask('POST', '/runs', { body: { workflowId, parameters } }, 201)).runId;
const approvalOf = (runId) => until(async () => (await ask('GET', `/approvals?runId=${runId}`)).items[0], 'an approval');
const countOf = async (workflowId) => (await ask('GET', `/runs?workflowId=${workflowId}&limit=200`)).items.length;
const detailOf = (page) => page.locator('#detail');

async function open(page, approval) {
    await page.goto(`${new URL(page.url()).origin}/#/inbox/${approval.approvalId}`);
    await detailOf(page).getByText(approval.subjectHash).waitFor();
}

async function fillStart(page, workflow, parameters) {
    await page.goto(`${new URL(page.url()).origin}/#/runs/new`);
    await page.getByLabel('Workflow').selectOption(workflow);
    await page.getByLabel('Parameters, as JSON').fill(JSON.stringify(parameters));
    return page.getByRole('button', { name: 'Start', exact: true });
}

test('a double click starts one run', async () => {
    const { page, end } = await visit({ user: 'ole', roles: 'admin,operator' });
    const before = await countOf('wf-noop');
    await page.route(/\/runs$/, async (route) => {
        const response = await route.fetch();
        await until(async () => await countOf('wf-noop') > before, 'the run');
        await route.fulfill({ response });
    });
    await (await fillStart(page, 'wf-noop', { n: 1 })).dblclick();
    await page.getByText('Started.').waitFor();
    await page.waitForURL(/#\/runs\/run-/);
    assert.equal(await countOf('wf-noop'), before + 1);
    await end();
});

test('a start whose answer was lost is the same start when it is tried again', async () => {
    const { page, end } = await visit({ user: 'ole', roles: 'admin,operator', allowed: /Failed to load resource/ });
    const before = await countOf('wf-noop');
    let lost = 0;
    await page.route(/\/runs$/, async (route) => {
        const response = await route.fetch();
        if (lost++ === 0)
            await route.abort();
        else
            await route.fulfill({ response });
    });
    const button = await fillStart(page, 'wf-noop', { n: 2 });
    await button.click();
    await page.locator('#toast').getByText(/fetch/).waitFor();
    await button.click();
    await page.getByText('Started.').waitFor();
    assert.equal(await countOf('wf-noop'), before + 1);
    await (await fillStart(page, 'wf-noop', { n: 2 })).click();
    await until(async () => await countOf('wf-noop') === before + 2, 'another run');
    await end();
});

test('a decision that is clicked twice is made once, and said to be done', async () => {
    const approval = await approvalOf(await start('wf-gate', { target: 'twice' }));
    const { page, end } = await visit();
    const asked = [];
    await page.route(/decide$/, async (route) => {
        asked.push(route.request().postData());
        const response = await route.fetch();
        await page.waitForTimeout(300); /* a slow network: it is no wait for anything */
        await route.fulfill({ response });
    });
    await open(page, approval);
    await page.locator('#rationale').fill('Twice.');
    await page.getByRole('button', { name: /^Approve/ }).dblclick();
    await page.getByText('Approve: done.').waitFor();
    assert.equal(asked.length, 1);
    await end();
});

test('what could not be fetched while the server was away is there when it is back', async () => {
    const run = await start('wf-wait', { ms: 600_000 });
    const { page, end } = await visit({ base: `http://127.0.0.1:${wire.port}`, allowed: /Failed to load resource|ERR_/ });
    await start('wf-noop', { n: 3 }); /* an event, behind which the stream continues */
    await page.waitForResponse(/approvals/);
    wire.cut();
    await page.getByText('reconnecting', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.locator('#toast').getByText(/fetch/).waitFor();
    await wire.mend();
    await page.locator(`a.row[href="#/runs/${run}"]`).waitFor();
    await end();
});

test('a connection that is dead without a word is made again', async () => {
    const { page, idle, end } = await visit({ base: `http://127.0.0.1:${wire.port}`, allowed: /Failed to load resource|ERR_/, init: () => {
        const later = window.setTimeout; /* the silence that is waited for, shorter */
        window.setTimeout = (work, ms, ...rest) => later(work, ms === 100_000 ? 3000 : ms, ...rest);
    } });
    await idle();
    wire.mute();
    const approval = await approvalOf(await start('wf-gate', { target: 'after the silence' }));
    await page.locator(`a.row[href="#/inbox/${approval.approvalId}"]`).waitFor();
    await end();
});

test('a tab that is not shown has no connection, and is up to date when it is shown', async () => {
    const { page, idle, end } = await visit();
    const show = (isHidden) => page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
    }, isHidden);
    const closed = page.waitForEvent('requestfailed', (request) => /events:stream/.test(request.url()));
    await show(true);
    await closed;
    await idle(); /* what the page asked for while it was shown has its answer */
    const approval = await approvalOf(await start('wf-gate', { target: 'hidden' }));
    assert.equal(await page.locator(`a.row[href="#/inbox/${approval.approvalId}"]`).count(), 0);
    await show(false);
    await page.locator(`a.row[href="#/inbox/${approval.approvalId}"]`).waitFor();
    await end();
});

test('another token in the same tab ends what was there before', async () => {
    const { page, end } = await visit({ user: 'otto', roles: 'operator' });
    const closed = page.waitForEvent('requestfailed', (request) => /events:stream/.test(request.url()));
    await page.goto(`${server.base}/#token=${server.token('zoe', 'operator', 'ws-2')}`);
    await closed;
    await page.locator('#workspace').getByText('Second').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await end();
});

test('an address of nothing is answered in place of the details', async () => {
    const run = await start('wf-wait', { ms: 600_000 });
    const { page, end } = await visit({ where: `runs/${run}`, allowed: /404/ });
    await page.locator('.timeline li').waitFor();
    await page.goto(`${server.base}/#/runs/none`);
    await detailOf(page).getByText('Run none not found.').waitFor();
    assert.equal(await page.locator('.timeline li').count(), 0);
    await page.goto(`${server.base}/#/runs/%E0%A4%A`);
    await detailOf(page).getByText(/not found/).waitFor();
    await page.getByRole('link', { name: /^Inbox/ }).click();
    await page.waitForURL(/#\/inbox/);
    await end();
});

test('the first link leads to the list of the place that is shown', async () => {
    const { page, end } = await visit({ where: 'evidence' });
    await page.locator('#list a.row').first().waitFor();
    await page.locator('.skip').focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'list');
    assert.equal(new URL(page.url()).hash, '#/evidence');
    await end();
});

test('a form has no answer that nobody has chosen, and takes a yes', async () => {
    const run = await start('wf-form', { target: 'db' }), approval = await approvalOf(run);
    const { page, end } = await visit();
    await open(page, approval);
    await page.locator('#rationale').fill('In a window.');
    await page.getByRole('button', { name: /^Approve/ }).click();
    assert.equal(await page.evaluate(() => document.querySelector('form.decision select:invalid')?.id), 'input-window');
    await page.getByLabel('Window').selectOption('"weekend"');
    await page.getByLabel('Sure').selectOption('true');
    await page.getByRole('button', { name: /^Approve/ }).click();
    const decided = await until(async () => {
        const found = await ask('GET', `/approvals/${approval.approvalId}`);
        return found.status !== 'Pending' && found;
    }, 'the decision');
    assert.deepEqual(decided.inputs, { window: 'weekend', sure: true });
    await end();
});

test('the risk is that of the definition which the run has, not of a newer one', async () => {
    const approval = await approvalOf(await start('wf-risky', { target: 'x' }));
    const { actions } = await ask('GET', '/workflows/wf-risky');
    await ask('PATCH', '/workflows/wf-risky', { body: { actions: [{ ...actions[0], sideEffect: false }] } });
    const { page, end } = await visit();
    await open(page, approval);
    await detailOf(page).locator('dt', { hasText: 'Side effect' }).locator('+ dd').getByText('yes', { exact: true }).waitFor();
    await end();
});

test('an approval of a whole run shows the effects that are planned', async () => {
    const run = await start('wf-gate', { target: 'planned' });
    const { planId } = await approvalOf(run), plan = await ask('GET', `/plans/${planId}`);
    const approval = await ask('POST', '/approvals', { body: { runId: run, planId, prompt: 'Everything?' } }, 201);
    const { page, end } = await visit();
    await open(page, approval);
    await detailOf(page).getByText(`"effectId": "${plan.plannedEffects[0].effectId}"`).waitFor();
    await end();
});

test('who scrolls through the list stays there while others work', async () => {
    await Promise.all(Array.from({ length: 40 }, () => start('wf-gate', { target: 'many' })));
    const { page, end } = await visit();
    const list = page.locator('#list');
    await until(() => page.locator('a.row').count().then((count) => count >= 40), 'the rows');
    await page.route(/\/approvals\?/, async (route) => { /* it answers who has scrolled */
        const response = await route.fetch();
        await page.waitForFunction(() => document.getElementById('list').scrollTop > 0);
        await route.fulfill({ response });
    });
    await page.locator('a.row').first().click();
    await page.waitForURL(/#\/inbox\/./);
    await list.evaluate((element) => { element.scrollTop = element.scrollHeight; });
    const approval = await approvalOf(await start('wf-gate', { target: 'another' }));
    await page.locator(`a.row[href="#/inbox/${approval.approvalId}"]`).waitFor();
    assert.ok(await list.evaluate((element) => element.scrollTop > element.scrollHeight / 2));
    await end();
});

test('evidence is called whole when all of it was verified, by as many requests as that takes', async () => {
    const { page, end } = await visit({ where: 'evidence' });
    const asked = [];
    await page.route(/evidence\/verify/, async (route) => { /* as if a request verified 5 */
        const url = new URL(route.request().url()), from = Number(url.searchParams.get('from') ?? 1);
        url.searchParams.set('from', from);
        url.searchParams.set('to', Math.min(Number(url.searchParams.get('to') ?? 1e9), from + 4));
        asked.push(from);
        await route.fulfill({ response: await route.fetch({ url: url.href }) });
    });
    const button = page.getByRole('button', { name: 'Verify the chain' });
    await button.click();
    await page.getByText('The chain is whole.').waitFor();
    assert.ok(asked.length > 3, String(asked));

    const file = new DatabaseSync(server.db.slice('sqlite:'.length));
    file.exec('PRAGMA busy_timeout = 20000; DROP TRIGGER evidence_is_not_changed');
    const { json } = file.prepare('SELECT json FROM evidence WHERE workspace = ? AND seq = 8').get('ws-1');
    const change = file.prepare('UPDATE evidence SET json = ? WHERE workspace = ? AND seq = 8');
    change.run(json.replace('"schemaVersion":1', '"schemaVersion":2'), 'ws-1');
    await button.click();
    await page.getByText('✗ Entry 7: hash mismatch.').waitFor();
    assert.equal(await page.getByText('The chain is whole.').count(), 0);
    change.run(json, 'ws-1');
    file.close();
    await end();
});

test('what there is beyond 200 is counted, and can be reached', async () => {
    const oldest = await approvalOf(await start('wf-gate', { target: 'the oldest' }));
    const byHand = await start('wf-manual', { target: 'an old task' });
    for (let left = 210; left > 0; left -= 30)
        await Promise.all(Array.from({ length: 30 }, async () => {
            await start('wf-gate', { target: 'newer' });
            const run = await start('wf-manual', { target: 'cancelled' });
            await until(async () => (await ask('GET', `/human-tasks?runId=${run}`)).items.length > 0, 'its task');
            await ask('POST', `/runs/${run}/cancel`, { body: { rationale: 'Not needed.' } });
        }));
    const { page, end } = await visit();
    const inbox = page.getByRole('link', { name: /^Inbox/ });
    await inbox.getByText('200+').waitFor();
    await page.getByRole('button', { name: /^Show more/ }).click();
    await page.locator(`a.row[href="#/inbox/${oldest.approvalId}"]`).waitFor();
    await page.screenshot({ path: path.join(pictures, 'long-list.png') });
    await page.getByRole('link', { name: /^Tasks/ }).click();
    await page.locator('a.row').filter({ hasText: 'an old task' }).waitFor();
    await inbox.getByText('200+').waitFor();
    await ask('POST', `/runs/${byHand}/cancel`, { body: { rationale: 'The end.' } });
    await end();
});
