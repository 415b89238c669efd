/*
 * portarium.test.mjs - the cockpit in Chromium: a person signs in, approves by keys, and sees what
 * others do; hostile texts stay texts.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { chromium } from 'playwright-core';

import { CONTENT, plane, program, root } from '../client/portarium-rest.mjs';
import { until } from '../client/support/until.mjs';
import { reportFailures, watch } from './witness.mjs';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((file) => fs.existsSync(file));
const WAIT_MS = 60_000, PRESS_MS = 1000, RUNS = '/v1/workspaces/ws-1/runs';
const pictures = path.join(root, 'build', 'cockpit');
const HOSTILE = '<img src=x onerror="window.broken=1">\u202egnp.exe\u0007';

const FORM = { type: 'object', properties: { window: { type: 'string', title: 'Maintenance window', enum: ['tonight', 'weekend'] } }, required: ['window'] };
const content = structuredClone(CONTENT);
const [first] = content.workspaces;
first.workflows.push({
    ...first.workflows[2], workflowId: 'wf-form', name: 'Migrate the database',
    actions: [{ ...first.workflows[2].actions[0], actionId: 'migrate', approvalForm: FORM }],
});
first.workflows.push({ ...first.workflows[2], workflowId: 'wf-manual', name: 'By hand', executionTier: 'ManualOnly' });
first.policies = [{ schemaVersion: 1, policyId: 'pol-1', name: 'Nothing on Fridays', active: true, priority: 0, rules: [{ ruleId: 'friday', condition: 'run.parameters.day == "Friday"', effect: 'Deny' }] }];

let server, browser, keys;

before(async () => {
    assert.ok(CHROMIUM, 'there is no chromium: scripts/bootstrap installs it');
    fs.mkdirSync(pictures, { recursive: true });
    keys = fs.mkdtempSync(path.join(os.tmpdir(), 'portarium-key-'));
    server = await plane(content, '--evidence-key', path.join(keys, 'key'));
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'], timeout: WAIT_MS });
});
after(async () => {
    await browser?.close();
    await server?.close();
    fs.rmSync(keys, { recursive: true, force: true });
});

reportFailures(() => [server?.log ?? '']);

async function visit({ user = 'anna', roles = 'admin,approver', width = 1280, height = 800, scheme = 'light', where = null } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce' });
    const page = await context.newPage(), faults = [], asked = new Set();
    page.setDefaultTimeout(WAIT_MS);
    page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) faults.push(message.text()); });
    page.on('pageerror', (error) => faults.push(error.stack));
    page.on('request', (request) => asked.add(new URL(request.url()).origin));
    watch(page, faults);
    await page.goto(where ?? `${server.base}/#token=${server.token(user, roles)}`);
    return { page, faults, asked, async end() {
        await page.unrouteAll({ behavior: 'wait' });
        await context.close();
        assert.deepEqual(faults, []);
        assert.deepEqual([...asked], [server.base]);
    } };
}

async function start(workflowId, parameters) {
    const { status, json } = await server.ask('POST', RUNS, { body: { workflowId, parameters } });
    assert.equal(status, 201, JSON.stringify(json));
    return json.runId;
}

async function approvalOf(runId) {
    for (const until = Date.now() + WAIT_MS; Date.now() < until;) {
        const { json } = await server.ask('GET', `/v1/workspaces/ws-1/approvals?runId=${runId}`);
        if (json.items?.length) /* none: also when it was asked too often */
            return json.items[0];
        await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
    assert.fail(`run ${runId} has no approval`);
}

async function ended(runId) {
    let run;
    for (const until = Date.now() + WAIT_MS; Date.now() < until;) {
        run = (await server.ask('GET', `${RUNS}/${runId}?wait=10`)).json;
        if (['Succeeded', 'Failed', 'Cancelled'].includes(run.status))
            return run;
    }
    assert.fail(`run ${runId} is still ${run.status}`);
}

/* The details of this approval, not of the one that the inbox showed before. */
async function open(page, approval) {
    await page.goto(`${server.base}/#/inbox/${approval.approvalId}`);
    await page.locator('#detail').getByText(approval.subjectHash).waitFor();
}

test('the token is taken out of the address, and a reload keeps the session', async () => {
    const { page, end } = await visit();
    await page.getByText('live', { exact: true }).waitFor();
    assert.ok(!page.url().includes('token'));
    await page.reload();
    await page.getByText('live', { exact: true }).waitFor();
    assert.deepEqual(await page.context().cookies(), []);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API token').waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    await end();
});

test('a wrong token is refused in words', async () => {
    const { page, faults } = await visit({ where: `${server.base}/` });
    await page.getByLabel('API token').fill('ptm_0');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This token is not valid.').waitFor();
    assert.equal(faults.filter((words) => !/401/.test(words)).length, 0);
    await page.context().close();
});

test('a gate appears by itself, and is approved by keys with a rationale', async () => {
    const before = await start('wf-gate', { target: 'staging' });
    const { page, end } = await visit();
    await page.getByText('live', { exact: true }).waitFor();
    const earlier = await approvalOf(before);
    await open(page, earlier);
    await page.keyboard.press('a');
    await page.keyboard.type('Looked at it.');
    await page.keyboard.press('Control+Enter');
    assert.equal((await ended(before)).status, 'Succeeded');

    const run = await start('wf-gate', { target: 'production' });
    const approval = await approvalOf(run);
    await page.locator(`a.row[href="#/inbox/${approval.approvalId}"]`).waitFor();
    await open(page, approval);
    const detail = page.locator('#detail');
    for (const words of ['control:noop', 'otto', '"production"', '"staging"', 'changed'])
        await detail.getByText(words).first().waitFor();
    await page.screenshot({ path: path.join(pictures, 'inbox-light.png') });
    await page.locator('#rationale').fill('The staging run was fine.');
    await page.getByRole('button', { name: /^Approve/ }).click();
    assert.equal((await ended(run)).status, 'Succeeded');
    const { json } = await server.ask('GET', `/v1/workspaces/ws-1/approvals/${approval.approvalId}`);
    assert.deepEqual([json.decidedByUserId, json.rationale], ['anna', 'The staging run was fine.']);
    await end();
});

test('the decision is in sight without scrolling, wide and on a phone', async () => {
    const approval = await approvalOf(await start('wf-form', { target: 'db', why: 'x'.repeat(3000) }));
    for (const [width, height] of [[1280, 800], [390, 844]]) {
        const { page, end } = await visit({ width, height });
        await page.getByText('live', { exact: true }).waitFor({ state: 'attached' });
        await open(page, approval);
        const button = page.getByRole('button', { name: /^Approve/ });
        const box = await until(() => button.boundingBox(), 'the button, which a refresh draws again');
        assert.ok(box.y >= 0 && box.y + box.height <= height, JSON.stringify(box));
        await page.screenshot({ path: path.join(pictures, `decision-${width}.png`) });
        await end();
    }
});

test('a task is done by hand, with notes, and the bundle of its run is saved', async () => {
    const run = await start('wf-manual', { target: 'rack 7' });
    const { page, end } = await visit({ roles: 'admin,operator,approver', width: 390, height: 844 });
    await page.getByText('live', { exact: true }).waitFor({ state: 'attached' });
    await page.getByRole('link', { name: /^Tasks/ }).click();
    await page.locator('a.row').filter({ hasText: 'rack 7' }).click();
    const detail = page.locator('#detail');
    await detail.getByText('"rack 7"').waitFor();
    await page.screenshot({ path: path.join(pictures, 'task-390.png') });
    await page.locator('#notes').fill('Cable replaced.');
    await page.getByRole('button', { name: 'Done', exact: true }).click();
    assert.equal((await ended(run)).status, 'Succeeded');
    await detail.getByText('completed', { exact: true }).waitFor();
    assert.equal(await page.locator('#notes').count(), 0);
    const { json } = await server.ask('GET', '/v1/workspaces/ws-1/human-tasks?limit=10');
    const [task] = json.items.filter((one) => one.runId === run);
    assert.deepEqual([task.outcome, task.completedByUserId], ['Succeeded', 'anna']);
    await page.goto(`${server.base}/#/runs/${run}`);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save the bundle' }).click();
    const file = await (await saved).path();
    fs.writeFileSync(path.join(keys, 'pub'), execFileSync(program, ['evidence', 'key', '--evidence-key', path.join(keys, 'key')]));
    execFileSync(program, ['evidence', 'verify', file, '--key', path.join(keys, 'pub')]);
    assert.match(fs.readFileSync(file, 'utf8'), new RegExp(run));
    await end();
});

test('a denial fails the run, and the form of a gate is answered', async () => {
    const denied = await start('wf-gate', { target: 'x' }), asked = await start('wf-form', { target: 'db' });
    const { page, end } = await visit();
    await open(page, await approvalOf(denied));
    await page.keyboard.press('d');
    await page.keyboard.type('Not today.');
    await page.keyboard.press('Control+Enter');
    assert.equal((await ended(denied)).status, 'Failed');

    const approval = await approvalOf(asked);
    await open(page, approval);
    await page.getByLabel('Maintenance window').selectOption('"weekend"');
    await page.locator('#rationale').fill('With a window.');
    await page.screenshot({ path: path.join(pictures, 'form-light.png') });
    await page.getByRole('button', { name: /^Approve/ }).click();
    assert.equal((await ended(asked)).status, 'Succeeded');
    const { json } = await server.ask('GET', `/v1/workspaces/ws-1/approvals/${approval.approvalId}`);
    assert.deepEqual(json.inputs, { window: 'weekend' });
    await end();
});

test('what was typed is kept while others work', async () => {
    const mine = await approvalOf(await start('wf-gate', { target: 'mine' }));
    const { page, end } = await visit();
    await open(page, mine);
    await page.locator('#rationale').fill('I am still thi');
    const other = await approvalOf(await start('wf-gate', { target: 'other' }));
    await page.locator(`a.row[href="#/inbox/${other.approvalId}"]`).waitFor();
    await page.keyboard.type('nking');
    assert.equal(await page.locator('#rationale').inputValue(), 'I am still thinking');
    await end();
});

test('hostile texts are shown, not obeyed', async () => {
    const { page, end } = await visit();
    const approval = await approvalOf(await start('wf-gate', { target: HOSTILE, [HOSTILE]: 1 }));
    await page.goto(`${server.base}/#/inbox/${approval.approvalId}`);
    await page.locator('#detail').getByText('\\u202egnp.exe').first().waitFor();
    const text = await page.locator('body').innerText();
    assert.ok(!/[\u202a-\u202e\u0007]/.test(text));
    assert.equal(await page.evaluate(() => window.broken), undefined);
    assert.equal(await page.locator('#detail img').count(), 0);
    await end();
});

test('a run is a timeline, and a person may pause it', async () => {
    const run = await start('wf-wait', { ms: 600_000 });
    const { page, end } = await visit({ scheme: 'dark' });
    await page.goto(`${server.base}/#/runs/${run}`);
    await page.locator('.timeline li[data-word=Waiting]').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('#ask-why').fill('Waiting for the team.');
    await page.locator('#ask-yes').click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.screenshot({ path: path.join(pictures, 'run-dark.png') });
    await end();
});

test('policies are simulated, evidence is read, a workspace is frozen', async () => {
    await ended(await start('wf-noop', { n: 1, day: 'Monday' }));
    const { page, end } = await visit({ scheme: 'dark' });
    await page.goto(`${server.base}/#/policies/pol-1`);
    await page.getByLabel('Draft').fill(JSON.stringify({ schemaVersion: 1, policyId: 'pol-1', name: 'None', active: true, priority: 0, rules: [{ ruleId: 'all', condition: 'true', effect: 'Deny' }] }));
    await page.getByRole('button', { name: 'Simulate' }).click();
    await page.getByText(/of the last \d+ judgements would have ended otherwise/).waitFor();
    await page.screenshot({ path: path.join(pictures, 'policies-dark.png') });
    await page.goto(`${server.base}/#/evidence`);
    await page.locator('#list a.row').first().click();
    await page.getByRole('heading', { name: 'Entry' }).waitFor();
    const { json: document } = await server.ask('GET', '/v1/openapi.json', { token: null });
    if (document.paths['/v1/workspaces/{workspaceId}/evidence/verify']) {
        await page.getByRole('button', { name: 'Verify the chain' }).click();
        await page.getByText('The chain is whole.').waitFor();
    }
    await page.screenshot({ path: path.join(pictures, 'evidence-dark.png') });
    for (const [button, done] of [['Freeze', 'Unfreeze'], ['Unfreeze', 'Freeze']]) {
        await page.getByRole('button', { name: button, exact: true }).click();
        await page.locator('#ask-why').fill('A drill of the team.');
        await page.locator('#ask-yes').click();
        await page.getByRole('button', { name: done, exact: true }).waitFor();
    }
    await end();
});

test('a press counts although the page is drawn again before the release', async () => {
    const run = await start('wf-wait', { ms: 600_000 });
    const { page, end } = await visit();
    await page.goto(`${server.base}/#/runs/${run}`);
    await page.locator('.timeline li[data-word=Waiting]').waitFor();
    const dialog = page.locator('#ask'), row = page.locator('#list a.row:not([aria-current])').first();
    const presses = [
        [page.getByRole('button', { name: 'Annotate' }), () => dialog.waitFor()],
        [row, async (where) => until(async () => new URL(page.url()).hash === where, 'the run of the row that was pressed')],
        [page.getByRole('link', { name: /^Tasks/ }), () => page.waitForURL(/#\/tasks$/)],
    ];
    for (const [target, seen] of presses) {
        await target.hover();
        await page.mouse.down();
        const where = await page.evaluate(() => document.querySelector('a:active')?.getAttribute('href'));
        await approvalOf(await start('wf-gate', { target: 'pressed' }));
        await page.waitForTimeout(PRESS_MS); /* a long press: it is no wait for anything */
        await page.mouse.up();
        await seen(where);
        if (await dialog.isVisible())
            await page.getByRole('button', { name: 'Cancel' }).last().click();
    }
    await end();
});

test('who has gone on to another approval stays there when the decision is answered late', async () => {
    const one = await approvalOf(await start('wf-gate', { target: 'one' })), two = await approvalOf(await start('wf-gate', { target: 'two' }));
    const { page, end } = await visit();
    let answer;
    const mayAnswer = new Promise((resolve) => { answer = resolve; });
    await page.route(/decide$/, async (route) => {
        const response = await route.fetch();
        await mayAnswer;
        await route.fulfill({ response });
    });
    await open(page, one);
    await page.locator('#rationale').fill('The first.');
    await page.getByRole('button', { name: /^Approve/ }).click();
    assert.equal((await ended(one.runId)).status, 'Succeeded');
    await open(page, two);
    answer();
    await page.getByText('Approve: done.').waitFor();
    assert.equal(new URL(page.url()).hash, `#/inbox/${two.approvalId}`);
    await page.locator('#detail').getByText(two.subjectHash).waitFor();
    await end();
});

test('where events come faster than answers, the page is drawn all the same', async () => {
    const { page, end } = await visit();
    await page.getByText('live', { exact: true }).waitFor();
    await page.route(/\/approvals\?/, async (route) => {
        const response = await route.fetch();
        await new Promise((resolve) => { setTimeout(resolve, 400); });
        await route.fulfill({ response });
    });
    const row = page.locator('a.row').filter({ hasText: 'busy' });
    let count = 0;
    await until(async () => {
        await (++count === 10 ? start('wf-gate', { target: 'busy' }) : start('wf-noop', { n: 2 }));
        return row.isVisible();
    }, 'the row of a new approval while runs come and go');
    await end();
});

test('an answer about the workspace that comes late does not hide a newer one', async () => {
    const token = server.token('anna', 'admin,approver');
    const { page, end } = await visit({ where: `${server.base}/` });
    let answer, count = 0;
    const mayAnswer = new Promise((resolve) => { answer = resolve; });
    await page.route(/workspaces\/ws-1$/, async (route) => {
        const response = await route.fetch();
        if (count++ === 0)
            await mayAnswer;
        await route.fulfill({ response });
    });
    await page.getByLabel('API token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('live', { exact: true }).waitFor();
    await until(() => count >= 1, 'the first question about the workspace');
    const frozen = await server.ask('POST', '/v1/workspaces/ws-1/freeze', { token, body: { rationale: 'A drill.' } });
    try {
        assert.equal(frozen.status, 200, frozen.text);
        await page.getByRole('button', { name: 'Unfreeze', exact: true }).waitFor();
        const late = page.waitForEvent('requestfinished', (request) => /workspaces\/ws-1$/.test(request.url()));
        answer();
        await late;
        await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
        assert.ok(await page.getByText('This workspace is frozen.').isVisible());
    } finally {
        answer();
        await server.ask('POST', '/v1/workspaces/ws-1/unfreeze', { token, body: { rationale: 'The drill is over.' } });
    }
    await end();
});

test('a phone shows the list, then the details', async () => {
    const approval = await approvalOf(await start('wf-gate', { target: 'phone' }));
    const { page, end } = await visit({ width: 390, height: 844 });
    const row = page.locator(`a.row[href="#/inbox/${approval.approvalId}"]`);
    await row.waitFor();
    await page.screenshot({ path: path.join(pictures, 'phone-list.png') });
    await row.click();
    await page.locator('#rationale').waitFor();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.screenshot({ path: path.join(pictures, 'phone-detail.png') });
    await page.getByRole('link', { name: '‹ Inbox' }).click();
    await row.waitFor();
    await end();
});

test('the page may not be framed, and asks for its own server alone', async () => {
    const { headers } = await server.ask('GET', '/', { token: null });
    assert.match(headers.get('content-security-policy'), /default-src 'self'.*frame-ancestors 'none'/);
    assert.equal(headers.get('set-cookie'), null);
});
