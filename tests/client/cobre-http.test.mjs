/*
 * cobre-http.test.mjs - cobre over HTTP, by the common flags of all servers (kit/serve): the
 * official client over http, https and with tokens; a Unix socket; and what is refused at the
 * start.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, '..', '..');
const bin = process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin');
const program = path.join(bin, 'cobre-mcp');
const TOKEN = 'open-sesame';
const INITIALIZE = JSON.stringify({
    jsonrpc: '2.0', id: 0, method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
});
const HEADERS = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

let scratch;
const children = [];

before(() => {
    scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'cobre-http-')));
    makePair('server');
    makePair('other');
    const hash = createHash('sha256').update(TOKEN).digest('hex');
    fs.writeFileSync(file('tokens'), `${hash} ann cases.read\n`);
});

after(() => {
    for (const child of children)
        child.kill('SIGKILL');
    fs.rmSync(scratch, { recursive: true, force: true });
});

function file(name) {
    return path.join(scratch, name);
}

/** A certificate of this machine and its key. */
function makePair(name) {
    const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
        '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1',
        '-keyout', file(`${name}.key`), '-out', file(`${name}.crt`)]);
    assert.equal(made.status, 0, String(made.stderr));
}

/** Start the server; `said` is its line with the address. */
async function start(...args) {
    const child = spawn(program, ['--transport', 'http', '--allowed-dirs', scratch, ...args],
        { stdio: ['ignore', 'pipe', 'pipe'] });
    const server = { child, said: '', url: null };

    children.push(child);
    child.stderr.on('data', (bytes) => { server.said += bytes; });
    while (!/serving .*\n/.test(server.said))
        await Promise.race([once(child.stderr, 'data'),
            once(child, 'exit').then(([code]) => assert.fail(`ended with ${code}: ${server.said}`))]);
    const url = /serving (http\S+)\n/.exec(server.said);
    server.url = url && new URL(url[1]);
    return server;
}

async function stop(server) {
    const ended = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    const [code] = await ended;
    assert.equal(code, 0, server.said);
}

/** What a server that does not start says; it must not listen, and its exit status is that of bad
 *  flags. */
function refusal(...args) {
    const ended = spawnSync(program, ['--allowed-dirs', scratch, ...args], { timeout: 20_000, encoding: 'utf8' });
    assert.equal(ended.status, 2, ended.stderr);
    assert.doesNotMatch(ended.stderr, /serving/);
    return ended.stderr;
}

async function connect(server, headers = {}) {
    const client = new Client({ name: 'cobre-http', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(server.url, { requestInit: { headers } }));
    return client;
}

/** One POST of node's own client, whose sockets and TLS can be chosen. */
function post(module, options, body) {
    return new Promise((resolve, reject) => {
        const request = module.request({ method: 'POST', path: '/mcp', headers: HEADERS, ...options }, (answer) => {
            let text = '';
            answer.on('data', (bytes) => { text += bytes; });
            answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text, socket: request.socket }));
        });
        request.on('error', reject);
        request.end(body);
    });
}

function copyCase(label) {
    const target = path.join(scratch, label, 'four-stages');
    fs.cpSync(path.join(root, 'examples', 'cases', 'four-stages'), target, { recursive: true });
    const config = JSON.parse(fs.readFileSync(path.join(target, 'config.json'), 'utf8'));
    config.simulation.num_scenarios = 5;
    config.training.stopping_rules = [{ type: 'iteration_limit', limit: 5 }];
    fs.writeFileSync(path.join(target, 'config.json'), JSON.stringify(config));
    return target;
}

describe('cobre over HTTP', () => {
    test('two clients at once validate, run and query, each for itself', async () => {
        const server = await start('--port', '0', '--allow-write', '--threads', '2');
        const clients = [await connect(server), await connect(server)];
        const dir = copyCase('http');
        const call = (client, name, args, options) =>
            client.callTool({ name, arguments: args }, undefined, options);

        const verdicts = await Promise.all(clients.map((client) => call(client, 'cobre/validate', { case_dir: dir })));
        for (const verdict of verdicts)
            assert.equal(verdict.structuredContent.valid, true);
        const reports = [];
        const run = await call(clients[0], 'cobre/run', { case_dir: dir },
            { onprogress: (report) => reports.push(report) });
        assert.equal(run.structuredContent.status, 'completed');
        assert.ok(reports.length > 2, `${reports.length} reports`);
        const history = await call(clients[1], 'cobre/query-convergence', { output_dir: run.structuredContent.output_dir });
        assert.equal(history.structuredContent.total_iterations, 5);
        const outside = await call(clients[1], 'cobre/validate', { case_dir: '/etc' });
        assert.equal(JSON.parse(outside.content[0].text).kind, 'MissingFile');
        await Promise.all(clients.map((client) => client.close()));
        await stop(server);
    });

    test('sessions can be switched off, health and metrics on', async () => {
        const server = await start('--port', '0', '--sessions', 'off', '--health', '--metrics');
        const { status, headers } = await post(http, { port: server.url.port }, INITIALIZE);
        assert.equal(status, 200);
        assert.equal(headers['mcp-session-id'], undefined);
        assert.deepEqual(await (await fetch(new URL('/health', server.url))).json(), { status: 'ok' });
        assert.match(await (await fetch(new URL('/metrics', server.url))).text(), /^# (HELP|TYPE) /m);
        await stop(server);
    });

    test('only known names are accepted in Host', async () => {
        const server = await start('--port', '0', '--allow-host', 'cobre.example');
        const as = (host) => post(http, { port: server.url.port, headers: { ...HEADERS, Host: host } }, INITIALIZE);
        assert.equal((await as('cobre.example')).status, 200);
        assert.equal((await as('evil.example')).status, 403);
        await stop(server);
    });
});

describe('tokens', () => {
    test('a client with a token is served, one without gets a challenge', async () => {
        const server = await start('--port', '0', '--tokens', file('tokens'), '--scope', 'cases.read');
        const client = await connect(server, { Authorization: `Bearer ${TOKEN}` });
        assert.equal((await client.listTools()).tools.length, 10);
        await client.close();
        const refused = await post(http, { port: server.url.port }, INITIALIZE);
        assert.equal(refused.status, 401);
        assert.equal(refused.headers['www-authenticate'], 'Bearer scope="cases.read"');
        await assert.rejects(connect(server, { Authorization: 'Bearer wrong' }));
        await stop(server);
    });

    test('a public address without authorization options is refused', () => {
        const said = refusal('--transport', 'http', '--host', '0.0.0.0', '--port', '0');
        assert.match(said, /^error: others can reach 0\.0\.0\.0: .*--tokens FILE.*--insecure-no-auth\n$/);
        assert.match(refusal('--tokens', file('tokens')), /--tokens is for --transport http/);
        assert.match(refusal('--transport', 'http', '--tokens', file('nothing')), /nothing/);
    });

    test('with --insecure-no-auth every client is served', async () => {
        const server = await start('--host', '0.0.0.0', '--port', '0', '--insecure-no-auth');
        const { status } = await post(http, { port: server.url.port }, INITIALIZE);
        assert.equal(status, 200);
        await stop(server);
    });
});

describe('TLS', () => {
    const secure = (server, options = {}) =>
        post(https, { port: server.url.port, host: 'localhost', ca: fs.readFileSync(file('server.crt')), ...options },
            INITIALIZE);

    test('the official client speaks https', async () => {
        const server = await start('--port', '0', '--tls-cert', file('server.crt'), '--tls-key', file('server.key'));
        assert.equal(server.url.protocol, 'https:');
        const script = `
            import { Client } from '@modelcontextprotocol/sdk/client/index.js';
            import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
            const client = new Client({ name: 'tls', version: '1' });
            await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[1])));
            const { tools } = await client.listTools();
            await client.close();
            console.log(tools.length);`;
        const child = spawn(process.execPath, ['--input-type=module', '-e', script, server.url.href],
            { cwd: root, env: { ...process.env, NODE_EXTRA_CA_CERTS: file('server.crt') } });
        let said = '';
        child.stdout.on('data', (bytes) => { said += bytes; });
        child.stderr.on('data', (bytes) => { said += bytes; });
        await once(child, 'close');
        assert.equal(said, '10\n');
        await stop(server);
    });

    test('nothing older than TLS 1.2 is accepted, and no plain text', async () => {
        const server = await start('--port', '0', '--tls-cert', file('server.crt'), '--tls-key', file('server.key'));
        for (const version of ['TLSv1.2', 'TLSv1.3']) {
            const { status, socket } = await secure(server, { minVersion: version, maxVersion: version });
            assert.equal(status, 200);
            assert.equal(socket.getProtocol?.() ?? version, version);
        }
        await assert.rejects(secure(server, {
            minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0',
        }));
        await assert.rejects(post(http, { port: server.url.port }, INITIALIZE));
        await stop(server);
    });

    test('a key of another certificate, or half a pair, ends the start', () => {
        const tls = (cert, key) => refusal('--transport', 'http', '--port', '0', '--tls-cert', file(cert), '--tls-key', file(key));
        assert.match(tls('server.crt', 'other.key'), /other\.key/);
        assert.match(tls('server.crt', 'server.crt'), /server\.crt/);
        assert.match(tls('nothing.crt', 'server.key'), /nothing\.crt/);
        assert.match(refusal('--transport', 'http', '--tls-cert', file('server.crt')), /--tls-cert needs --tls-key/);
    });
});

describe('a Unix socket', () => {
    test('is enough by itself, is private, and goes with the server', async () => {
        const socketPath = file('cobre.sock');
        const server = await start('--unix', socketPath);
        assert.equal(server.url, null);
        assert.equal(fs.statSync(socketPath).mode & 0o777, 0o600);
        const opened = await post(http, { socketPath }, INITIALIZE);
        assert.equal(opened.status, 200);
        const headers = { ...HEADERS, 'Mcp-Session-Id': opened.headers['mcp-session-id'] };
        const listed = await post(http, { socketPath, headers },
            JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }));
        assert.equal(JSON.parse(listed.text).result.tools.length, 10);
        await stop(server);
        assert.equal(fs.existsSync(socketPath), false);
    });
});
