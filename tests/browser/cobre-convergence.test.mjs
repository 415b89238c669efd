/*
 * cobre-convergence.test.mjs - the page of cobre/query-convergence in the frame of a host, as hosts
 * of MCP Apps show it: it introduces itself, draws the result that it is given, and says so where
 * there is none. Its texts come from the server and are never taken for HTML.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { chromium } from 'playwright-core';

import { answer, call, root, workshop } from '../client/support/cobre.mjs';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((file) => fs.existsSync(file));
const URI = 'ui://cobre/convergence';
const UI = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } };
let shop, client, browser, page, frame, result;

before(async () => {
    assert.ok(CHROMIUM, 'there is no chromium: scripts/bootstrap installs it');
    shop = workshop('page');
    client = await shop.connect('2026-07-28', 'stdio', ['--allow-write'], UI);
    const dir = shop.copyCase('four-stages', 'a', { iterations: 12, scenarios: 1 });
    const { output_dir } = answer(await call(client, 'cobre/run', { case_dir: dir }));
    result = await call(client, 'cobre/query-convergence', { output_dir });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
    page = await browser.newPage({ viewport: { width: 760, height: 480 } });
});

after(async () => {
    await browser?.close();
    await shop.close();
});

/** Be a host: answer the page's introduction, and keep what it says. */
async function host(html) {
    await page.setContent('<iframe sandbox="allow-scripts" style="width:720px;height:430px;border:0"></iframe>');
    await page.evaluate((text) => {
        window.said = [];
        const inner = document.querySelector('iframe');
        addEventListener('message', ({ source, data }) => {
            if (source !== inner.contentWindow)
                return;
            window.said.push(data);
            if (data.method === 'ui/initialize')
                source.postMessage({ jsonrpc: '2.0', id: data.id, result: { protocolVersion: '2026-01-26',
                    hostInfo: { name: 'host', version: '1' }, hostCapabilities: {}, hostContext: {} } }, '*');
        });
        inner.srcdoc = text;
    }, html);
    await page.waitForFunction(() => window.said.some(({ method }) => method === 'ui/notifications/initialized'));
    frame = page.frames()[1];
}

const give = (params) => page.evaluate((value) => document.querySelector('iframe').contentWindow.postMessage(
    { jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: value }, '*'), params);

test('the tool names the page to clients that show pages; it is read and not listed', async () => {
    const { tools } = await client.listTools();
    assert.equal(tools.find(({ name }) => name === 'cobre/query-convergence')._meta.ui.resourceUri, URI);
    const plain = await shop.connect('2025-11-25', 'stdio', []);
    const { tools: others } = await plain.listTools();
    assert.equal(others.find(({ name }) => name === 'cobre/query-convergence')._meta?.ui, undefined);
    assert.deepEqual((await client.listResources()).resources, []);
    const { contents } = await client.readResource({ uri: URI });
    assert.equal(contents[0].mimeType, 'text/html;profile=mcp-app');
    assert.deepEqual(contents[0]._meta.ui.csp, { connectDomains: [], resourceDomains: [] });
    assert.equal(contents[0].text, fs.readFileSync(path.join(root, 'servers', 'cobre', 'pages', 'convergence.html'), 'utf8'));
    assert.ok(!/https?:\/\/(?!www\.w3\.org)/.test(contents[0].text), 'it needs no other origin');
});

test('it draws the bounds of its result', async () => {
    const { contents } = await client.readResource({ uri: URI });
    await host(contents[0].text);
    await give(result);
    await frame.waitForSelector('path.lower');
    for (const name of ['lower', 'upper'])
        assert.equal((await frame.getAttribute(`path.${name}`, 'd')).match(/[ML]/g).length, 12);
    const points = (await frame.getAttribute('path.lower', 'd')).match(/[\d.]+ [\d.]+/g).map((pair) => Number(pair.split(' ')[1]));
    const { iterations } = result.structuredContent;
    assert.ok(points.at(-1) < points[0], 'a higher bound is higher up');
    assert.equal(points.every((y, i) => i === 0 || y <= points[i - 1] + 0.11), iterations.every((row, i) => i === 0 || row.lower_bound >= iterations[i - 1].lower_bound - 1));
    assert.equal(await frame.textContent('#said'), '12 of 12 iterations, ended by iteration_limit.');
    const said = await page.evaluate(() => window.said);
    assert.ok(said.some(({ method, params }) => method === 'ui/notifications/size-changed' && params.height > 100));
    assert.ok(said.every(({ jsonrpc }) => jsonrpc === '2.0'));
    if (process.env.CAUSEWAY_SCREENSHOT)
        await page.screenshot({ path: process.env.CAUSEWAY_SCREENSHOT });
});

test('results that cannot be drawn, and words that look like HTML', async () => {
    const { contents } = await client.readResource({ uri: URI });
    await host(contents[0].text);
    await give({ isError: true, content: [] });
    await frame.waitForFunction(() => document.getElementById('said').textContent.includes('no convergence record'));
    await give({ structuredContent: { iterations: [], total_iterations: 0, termination_reason: '<img src=x onerror=alert(1)>' } });
    await frame.waitForFunction(() => document.getElementById('said').textContent.includes('<img'));
    assert.equal(await frame.locator('img').count(), 0);
    assert.equal(await frame.locator('svg *').count(), 0);
    await give({ structuredContent: { iterations: [{ iteration: 1, lower_bound: 5, upper_bound: 5, ci_95: 0 }], total_iterations: 1, termination_reason: 'x' } });
    await frame.waitForSelector('path.lower', { state: 'attached' });
});
