/*
 * inspector.test.mjs - the official Inspector's command line against examples/everything.c: each
 * method that it offers, over stdio and over HTTP in both eras, and over HTTP+SSE. It is strict
 * about what it reads.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { program, start, stop, top } from '../conformance/everything.mjs';

const INSPECTOR = path.join(top, 'node_modules', '@modelcontextprotocol', 'inspector', 'clients', 'launcher', 'build',
    'index.js');
const home = mkdtempSync(path.join(tmpdir(), 'inspector-')); /* where it keeps what it remembers */

after(() => rmSync(home, { recursive: true, force: true }));

/** Its exit status and what it printed. */
function inspect(...args) {
    return new Promise((resolve) => {
        const env = { ...process.env, HOME: home, NO_COLOR: '1' };
        execFile(process.execPath, [INSPECTOR, '--cli', ...args, '--format', 'json'], { env, timeout: 60_000 },
            (error, stdout, stderr) => resolve({ status: error ? error.code : 0, stdout, stderr }));
    });
}

async function answer(...args) {
    const { status, stdout, stderr } = await inspect(...args);
    assert.equal(status, 0, `${args.join(' ')}: ${stdout}${stderr}`);
    return JSON.parse(stdout).result;
}

function conversation(target, revision) {
    const tool = (name, ...args) => answer(...target(), '--method', 'tools/call', '--tool-name', name, ...args);

    test('it connects', async () => {
        const { serverInfo, protocolVersion } = await answer(...target(), '--method', 'initialize');
        assert.deepEqual([serverInfo.name, protocolVersion], ['everything', revision]);
    });

    test('tools are listed and called', async () => {
        const { tools } = await answer(...target(), '--method', 'tools/list', '--strict');
        assert.ok(tools.some((one) => one.name === 'echo'));
        const { content } = await tool('echo', '--tool-arg', 'message=hello there');
        assert.deepEqual(content, [{ type: 'text', text: 'hello there' }]);
        assert.equal((await tool('test_image_content')).content[0].mimeType, 'image/png');
        const { status } = await inspect(...target(), '--method', 'tools/call', '--tool-name', 'none');
        assert.equal(status, 5); /* its word for a tool that is not there */
    });

    test('resources are listed and read', async () => {
        assert.ok((await answer(...target(), '--method', 'resources/list')).resources.length > 0);
        assert.ok((await answer(...target(), '--method', 'resources/templates/list')).resourceTemplates.length > 0);
        const { contents } = await answer(...target(), '--method', 'resources/read', '--uri', 'test://static-text');
        assert.equal(contents[0].text, 'This is the content of the static text resource.');
    });

    test('prompts are listed and filled', async () => {
        assert.ok((await answer(...target(), '--method', 'prompts/list')).prompts.length > 0);
        const { messages } = await answer(...target(), '--method', 'prompts/get', '--prompt-name', 'test_simple_prompt');
        assert.equal(messages[0].content.text, 'This is a simple prompt for testing.');
    });
}

for (const [era, revision] of [['legacy', '2025-11-25'], ['modern', '2026-07-28']]) {
    describe(`the Inspector over stdio, ${era}`, { concurrency: 4 }, () => {
        conversation(() => [program, '--protocol-era', era], revision);
    });

    describe(`the Inspector over HTTP, ${era}`, { concurrency: 4 }, () => {
        let server;

        before(async () => { server = await start(); });
        after(() => stop(server));
        conversation(() => [server.url.href, '--transport', 'http', '--protocol-era', era], revision);
    });
}

describe('the Inspector over HTTP+SSE', { concurrency: 4 }, () => {
    let server;

    before(async () => { server = await start(); });
    after(() => stop(server));
    conversation(() => [new URL('/sse', server.url).href, '--transport', 'sse'], '2025-11-25');
});
