/*
 * icons.test.mjs - what a host shows of each server: the icon of serverInfo is the server's own
 * drawing, an SVG in a data URI, in the revisions that know icons (from 2025-11-25). Under
 * 2026-07-28, where each result says who the server is, only that of server/discover has it.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const bin = process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin');
const SERVERS = {
    cobre: ['cobre-mcp'],
    casparian: ['casparian', 'mcp', 'serve'],
    universe: ['universe', 'serve', '--transport', 'stdio'],
    portarium: ['portarium', 'mcp', 'serve'],
};
const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
};
const IDENTITY = 'io.modelcontextprotocol/serverInfo';

let scratch;

before(() => {
    scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'icons-')));
    fs.mkdirSync(path.join(scratch, 'home'));
});

after(() => fs.rmSync(scratch, { recursive: true, force: true }));

/** The results of requests, in their order. */
function ask([program, ...words], requests) {
    const input = requests.map((request, id) => `${JSON.stringify({ jsonrpc: '2.0', id, ...request })}\n`).join('');
    const { status, stdout, stderr } = spawnSync(path.join(bin, program), words,
        { input, encoding: 'utf8', cwd: scratch, env: { HOME: path.join(scratch, 'home'), PATH: process.env.PATH }, timeout: 120_000 });
    assert.equal(status, 0, stderr);
    const answers = stdout.trim().split('\n').map((line) => JSON.parse(line)).sort((a, b) => a.id - b.id);
    return answers.map(({ result, error }) => result ?? assert.fail(JSON.stringify(error)));
}

function initialize(words, protocolVersion) {
    const clientInfo = { name: 'icons', version: '1' };
    return ask(words, [{ method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo } }])[0].serverInfo;
}

for (const [name, words] of Object.entries(SERVERS))
    test(`${name}: its icon, where revisions know icons`, () => {
        const drawing = fs.readFileSync(path.join(root, 'servers', name, 'web', 'icon.svg')).toString('base64');
        const icons = [{ src: `data:image/svg+xml;base64,${drawing}`, mimeType: 'image/svg+xml', sizes: ['any'] }];

        assert.deepEqual(initialize(words, '2025-11-25').icons, icons);
        assert.equal(initialize(words, '2025-06-18').icons, undefined);
        const [discovered, listed] = ask(words, [{ method: 'server/discover', params: { _meta: META } },
            { method: 'tools/list', params: { _meta: META } }]);
        assert.deepEqual(discovered._meta[IDENTITY].icons, icons);
        assert.equal(listed._meta[IDENTITY].name, discovered._meta[IDENTITY].name);
        assert.equal(listed._meta[IDENTITY].icons, undefined);
    });

test('no two servers have the same drawing', () => {
    const drawings = Object.keys(SERVERS).map((name) => fs.readFileSync(path.join(root, 'servers', name, 'web', 'icon.svg'), 'utf8'));
    assert.equal(new Set(drawings).size, drawings.length);
});
