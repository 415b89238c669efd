/*
 * bound.test.mjs - libmcp.so from another language: bound.py, which has no binding but the ABI,
 * serves a tool to the official client.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const here = path.dirname(fileURLToPath(import.meta.url));
const bin = process.env.CAUSEWAY_BIN ?? path.resolve(here, '..', '..', 'build', 'bin');
const library = path.join(bin, '..', 'libmcp.so');

/* A sanitizer has to be there before the program. Python leaves memory to the system at its end. */
function environment() {
    const sanitizer = /=> (\S*lib[at]san\S*)/.exec(spawnSync('ldd', [library], { encoding: 'utf8' }).stdout)?.[1];
    return sanitizer === undefined ? {} : { LD_PRELOAD: sanitizer, ASAN_OPTIONS: 'detect_leaks=0' };
}

test('a server in Python', { skip: fs.existsSync(library) ? false : 'there is no libmcp.so' }, async () => {
    const transport = new StdioClientTransport({ command: 'python3', args: [path.join(here, 'bound.py'), library], stderr: 'pipe',
        env: { PATH: process.env.PATH, ...environment() } });
    const client = new Client({ name: 'bound-test', version: '1.0.0' });
    let said = '';
    transport.stderr.on('data', (bytes) => { said += bytes; });
    await client.connect(transport);
    assert.deepEqual(client.getServerVersion(), { name: 'bound', version: '1' });
    assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), ['greet']);
    const { content, isError } = await client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
    assert.notEqual(isError, true);
    assert.deepEqual(content, [{ type: 'text', text: 'Hello, Ada!' }]);
    assert.equal((await client.callTool({ name: 'greet', arguments: {} })).isError, true);
    await client.close();
    assert.equal(said, '');
});
