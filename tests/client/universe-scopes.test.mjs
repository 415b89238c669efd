/*
 * universe-scopes.test.mjs - the scopes of tokens: universe:read, universe:write and universe:admin
 * on every route and tool.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { folder, rest, start, stop } from './universe.mjs';

const STAR = { type: 'addStar', id: 's', payload: { name: 's', mass: 1, radius: 1, color: '#ffffff', parentId: null, orbitalDistance: 0, orbitalSpeed: 0 } };
const TICK = { type: 'tick', dt: 1 };

/* Each route that is not open to everybody, with the scope that it requires. */
const ROUTES = [
    ['GET', '/universes', undefined, 'universe:read'],
    ['GET', '/universes/u', undefined, 'universe:read'],
    ['GET', '/universes/u/state', undefined, 'universe:read'],
    ['GET', '/universes/u/summary', undefined, 'universe:read'],
    ['GET', '/universes/u/positions', undefined, 'universe:read'],
    ['GET', '/universes/u/history', undefined, 'universe:read'],
    ['GET', '/universes/u/events', undefined, 'universe:read'],
    ['GET', '/universes/u/clock', undefined, 'universe:read'],
    ['PUT', '/universes/u', { name: 'v' }, 'universe:write'],
    ['POST', '/universes/u/commands', TICK, 'universe:write'],
    ['POST', '/universes/u/commands:batch', [TICK], 'universe:write'],
    ['POST', '/universes/u/restore', { version: 0 }, 'universe:write'],
    ['POST', '/universes/u/generate', { maxSystems: 1 }, 'universe:write'],
    ['POST', '/universes/u/clock', { running: false }, 'universe:write'],
    ['POST', '/universes', { name: 'w', state: {}, id: 'w' }, 'universe:admin'],
    ['DELETE', '/universes/w', undefined, 'universe:admin'],
];
const TOOLS = [
    ['get_universe_state', { universeId: 'u' }, 'universe:read'],
    ['list_universe_commands', { universeId: 'u' }, 'universe:read'],
    ['send_universe_command', { universeId: 'u', command: TICK }, 'universe:write'],
];
const TOKENS = {
    watcher: ['universe:read'], writer: ['universe:read', 'universe:write'], admin: ['universe:admin'],
    other: ['read'], everything: [],
};
const IN_CLEAR = 'a-token-of-the-environment';

const tokenOf = (name) => `token-of-${name}-which-is-long`;
const bearer = (name) => ({ Authorization: `Bearer ${name === 'clear' ? IN_CLEAR : tokenOf(name)}` });
const allows = (name, scope) => name === 'everything' || name === 'clear' || TOKENS[name].includes(scope);

describe('scopes of tokens', () => {
    const dir = folder();
    const file = path.join(dir, 'tokens');
    let server;

    before(async () => {
        fs.writeFileSync(file, Object.entries(TOKENS).map(([name, scopes]) =>
            `${createHash('sha256').update(tokenOf(name)).digest('hex')} ${name} ${scopes.join(' ')}\n`).join(''));
        process.env.AUTH_TOKEN = IN_CLEAR;
        try {
            server = await start('memory', '--tokens', file);
        } finally {
            delete process.env.AUTH_TOKEN;
        }
        const created = await rest(server, 'POST', '/universes', { name: 'u', state: {}, id: 'u' }, bearer('everything'));
        assert.equal(created.status, 201, created.text);
        assert.equal((await rest(server, 'POST', '/universes/u/commands', STAR, bearer('everything'))).status, 200);
    });
    after(async () => {
        await stop(server);
        fs.rmSync(dir, { recursive: true, force: true });
    });

    /** The status and the scopes that the challenge names; of a stream its beginning. */
    async function ask(name, method, where, body) {
        const hangUp = new AbortController();
        const answer = await fetch(server.base + where, {
            method, signal: hangUp.signal, body: body && JSON.stringify(body),
            headers: { ...bearer(name), ...(body && { 'Content-Type': 'application/json' }) },
        });
        const text = where.endsWith('/events') && answer.status === 200 ? '' : await answer.text();
        hangUp.abort();
        return { status: answer.status, text, challenge: answer.headers.get('www-authenticate') };
    }

    /** One call of a tool, without a session. */
    async function call(name, tool, args) {
        const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' }, 'io.modelcontextprotocol/clientCapabilities': {} };
        const answer = await fetch(server.url, {
            method: 'POST',
            headers: { ...bearer(name), 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream',
                'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': tool },
            body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args, _meta: meta } }),
        });
        return { status: answer.status, text: await answer.text(), challenge: answer.headers.get('www-authenticate') };
    }

    for (const name of [...Object.keys(TOKENS), 'clear']) {
        test(`${name} may do what its scopes say, on every route`, async () => {
            for (const [method, where, body, scope] of ROUTES) {
                const { status, text, challenge } = await ask(name, method, where, body);
                if (allows(name, scope)) {
                    /* what is allowed may be repeated by the next token: the universe may be there,
                     * or gone */
                    assert.ok([200, 201, 204, 404, 409].includes(status), `${method} ${where}: ${status} ${text}`);
                    continue;
                }
                assert.equal(status, 403, `${method} ${where} with ${name}: ${status} ${text}`);
                assert.match(challenge, new RegExp(`error="insufficient_scope".*scope="${scope}"`));
                assert.equal(typeof JSON.parse(text).error, 'string');
            }
        });

        test(`${name} may do what its scopes say, with every tool`, async () => {
            for (const [tool, args, scope] of TOOLS) {
                const { status, text, challenge } = await call(name, tool, args);
                if (allows(name, scope)) {
                    assert.equal(status, 200, text);
                    assert.ok(JSON.parse(text).result, text);
                    continue;
                }
                assert.equal(status, 403, `${tool} with ${name}: ${text}`);
                assert.match(challenge, new RegExp(`error="insufficient_scope".*scope="${scope}"`));
            }
        });
    }

    test('a token without universe:read cannot read a universe as a resource', async () => {
        const read = (name) => fetch(server.url, {
            method: 'POST',
            headers: { ...bearer(name), 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream',
                'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'resources/read', 'Mcp-Name': 'universe://u/summary' },
            body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'universe://u/summary', _meta: {
                'io.modelcontextprotocol/protocolVersion': '2026-07-28',
                'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' }, 'io.modelcontextprotocol/clientCapabilities': {} } } }),
        }).then(async (answer) => [answer.status, await answer.text()]);
        assert.equal((await read('watcher'))[0], 200);
        assert.equal((await read('admin'))[0], 403);
    });

    test('what a refused request wanted was not done', async () => {
        const before = await rest(server, 'GET', '/universes/u', undefined, bearer('watcher'));
        for (const [method, where, body, scope] of ROUTES) {
            if (scope !== 'universe:read')
                await ask('watcher', method, where, body);
        }
        const now = await rest(server, 'GET', '/universes/u', undefined, bearer('watcher'));
        assert.equal(now.json.version, before.json.version);
        assert.equal(now.json.name, before.json.name);
    });

    test('pages and probes need no scope', async () => {
        for (const where of ['/health', '/readyz', '/'])
            assert.notEqual((await ask('other', 'GET', where)).status, 403, where);
    });
});

test('without tokens everybody may do everything', async () => {
    const server = await start('memory');
    assert.equal((await rest(server, 'POST', '/universes', { name: 'u', state: {}, id: 'u' })).status, 201);
    assert.equal((await rest(server, 'POST', '/universes/u/commands', TICK)).status, 200);
    assert.equal((await rest(server, 'DELETE', '/universes/u')).status, 204);
    await stop(server);
});
