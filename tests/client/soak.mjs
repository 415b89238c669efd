/*
 * soak.mjs - mcp-everything and universe under the official clients for a long time: does what they
 * hold stay the same?
 *
 *     node tests/client/soak.mjs [SECONDS]  600 at first; needs a Node.js with the official clients installed
 *
 * Clients of both lines and eras come and go over every transport: some part well, some hang up in
 * the midst of a call, some lose their stream and take it up again. A line every ten seconds says
 * what the servers hold: resident memory, descriptors, threads. What counts is the second half of
 * the run, when pools and caches have their size: the end prints how far memory moved in it, the
 * descriptors after the last client has left, and all that the servers complained about.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';

import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import * as universe from './universe.mjs';
import * as everything from '../conformance/everything.mjs';

const seconds = Number(process.argv[2] ?? 600);
const deadline = Date.now() + seconds * 1000;
const NAMES = 20;
const counts = {};
const failures = [];
const count = (what) => { counts[what] = (counts[what] ?? 0) + 1; };
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/* ---- clients of mcp-everything --------------------------------------------------------------- */

const capabilities = { sampling: {}, elicitation: {}, roots: {} };
const sampled = ({ params }) => ({
    role: 'assistant', model: 'soak', content: { type: 'text', text: `${params.messages.length} read` },
});
const elicited = ({ params }) => ({
    action: 'accept', content: Object.fromEntries(Object.entries(params.requestedSchema.properties)
        .map(([name, { type, default: standard }]) => [name, standard ?? (type === 'boolean' || 'Ada')])),
});
const roots = () => ({ roots: [{ uri: 'file:///home/ada', name: 'home' }] });

async function older(transport) {
    const client = new Client({ name: 'soak', version: '1' }, { capabilities });
    client.setRequestHandler(CreateMessageRequestSchema, sampled);
    client.setRequestHandler(ElicitRequestSchema, elicited);
    client.setRequestHandler(ListRootsRequestSchema, roots);
    await client.connect(transport);
    return client;
}

async function newer(transport, mode) {
    const client = new NewClient({ name: 'soak', version: '2' }, { capabilities, versionNegotiation: mode });
    client.setRequestHandler('sampling/createMessage', sampled);
    client.setRequestHandler('elicitation/create', elicited);
    client.setRequestHandler('roots/list', roots);
    await client.connect(transport);
    return client;
}

const text = (result) => result.content.map((block) => block.text).join();

/** What every client can do. */
async function converse(client) {
    const call = async (name, args = {}, ...more) => text(await client.callTool({ name, arguments: args }, ...more));

    assert.ok((await client.listTools()).tools.length > 30);
    for (const message of ['', 'é\u{1f600}', 'x'.repeat(1 + Math.floor(Math.random() * 100_000))])
        assert.equal(await call('echo', { message }), message);
    assert.equal(await call('test_sampling', { prompt: 'Hello?' }), 'LLM response: 1 read');
    assert.match(await call('test_input_required_result_multi_round'), /likes/);
    assert.equal((await client.callTool({ name: 'test_error_handling', arguments: {} })).isError, true);
    assert.equal((await client.readResource({ uri: 'test://static-text' })).contents.length, 1);
    assert.ok((await client.getPrompt({ name: 'test_prompt_with_image' })).messages.length > 0);
    await assert.rejects(client.readResource({ uri: 'test://none' }));
}

/** Leaves in the midst of a call. */
async function leave(client) {
    const left = client.callTool({ name: 'test_tool_with_progress', arguments: {} }).then(() => {}, () => {});
    await pause(Math.random() * 60);
    await client.close();
    await left;
}

const MODERN = { mode: { pin: '2026-07-28' } };
const kinds = {
    'http 1.x': async (url) => {
        const transport = new StreamableHTTPClientTransport(url);
        const client = await older(transport);
        await client.subscribeResource({ uri: 'test://watched-resource' });
        await converse(client);
        /* comes back for the answer */
        await client.callTool({ name: 'test_reconnection', arguments: {} });
        if (Math.random() < 0.1)
            return leave(client); /* its session is left behind */
        await transport.terminateSession();
        return client.close();
    },
    'http 2.x sessions': async (url) => {
        const transport = new NewHttp(url);
        const client = await newer(transport);
        await converse(client);
        await transport.terminateSession();
        await client.close();
    },
    'http 2.x stateless': async (url) => {
        const client = await newer(new NewHttp(url), MODERN);
        await converse(client);
        await (Math.random() < 0.5 ? leave(client) : client.close());
    },
    'http+sse 1.x': async (url) => {
        const client = await older(new SSEClientTransport(new URL('/sse', url)));
        await converse(client);
        await (Math.random() < 0.5 ? leave(client) : client.close());
    },
    'websocket 1.x': async (url) => {
        const client = await older(new WebSocketClientTransport(new URL(`ws://${url.host}/ws`)));
        await converse(client);
        await (Math.random() < 0.5 ? leave(client) : client.close());
    },
    'websocket 2.x stateless': async (url) => {
        const client = await newer(new WebSocketClientTransport(new URL(`ws://${url.host}/ws`)), MODERN);
        await converse(client);
        await client.close();
    },
};

/** One session of stdio that stays, by each line; the process is measured, too. */
async function stay(make, Transport, mode) {
    const transport = new Transport({ command: everything.program, stderr: 'pipe' });
    const client = await make(transport, mode);
    let log = '';

    transport.stderr?.on('data', (piece) => { log += piece; });
    watch(`stdio ${mode ? '2.x' : '1.x'}`, transport.pid, () => log);
    while (Date.now() < deadline) {
        await converse(client);
        count('stdio');
        await pause(50);
    }
    finish(transport.pid);
    await client.close();
}

/** What no client sends: halves of requests, and ends without a word. */
async function vandal(url) {
    const pieces = ['G', 'GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n',
        'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{"jsonrpc"', '\0\x16\x03\x01',
        'GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'
        + 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: mcp\r\n\r\n\x81\xff\0\0'];
    const socket = net.connect(Number(url.port), url.hostname);

    socket.on('error', () => {});
    socket.write(pieces[Math.floor(Math.random() * pieces.length)]);
    await pause(20);
    if (Math.random() < 0.5)
        socket.resetAndDestroy();
    else
        socket.destroy();
}

/* ---- clients of universe --------------------------------------------------------------------- */

/** A universe that is made, changed, watched with interruptions, asked about, and forgotten. */
async function live(server, id) {
    await universe.create(server, id);
    let viewer = await universe.Viewer.open(server, id);
    const era = universe.ERAS[Math.floor(Math.random() * universe.ERAS.length)];
    const peer = await universe.connect(server, era);
    let last = 0;

    for (let i = 0; i < 30; i++) {
        ({ version: last } = await universe.send(server, id, universe.addStar(`s${i}`)));
        if (i % 10 === 5) { /* it loses its stream and comes back for what it missed */
            await viewer.until(({ versions }) => versions.length > 0, 'a command');
            const after = viewer.versions.at(-1);
            viewer.close();
            viewer = await universe.Viewer.open(server, id, { after });
        }
    }
    await viewer.until(({ versions }) => versions.at(-1) === last, `version ${last}`);
    const { tools } = await peer.client.listTools();
    const { resources } = await peer.client.listResources();
    assert.equal(tools.length, 3);
    assert.ok(resources.length > 0);
    assert.equal((await universe.rest(server, 'GET', `/universes/${id}/state`)).status, 200);
    if (era.sessions && Math.random() < 0.95) /* the others are left behind, and kept for an hour */
        await peer.transport.terminateSession();
    await universe.disconnect(peer);
    assert.equal((await universe.rest(server, 'DELETE', `/universes/${id}`)).status, 204);
    viewer.close();
}

/* ---- what the servers hold ------------------------------------------------------------------- */

const watched = [];

function watch(name, pid, log) {
    watched.push({ name, pid, log, rows: [], ended: false });
}

function finish(pid) {
    watched.find((one) => one.pid === pid).ended = true;
}

function look(pid) {
    const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
    const number = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)[1]);
    return { kib: number('VmRSS'), threads: number('Threads'), fds: fs.readdirSync(`/proc/${pid}/fd`).length };
}

function report() {
    const parts = watched.filter((one) => !one.ended).map((one) => {
        const row = look(one.pid);
        one.rows.push(row);
        return `${one.name} ${(row.kib / 1024).toFixed(1)} MiB ${row.fds} fds ${row.threads} threads`;
    });
    console.log(`${String(Math.round(seconds - (deadline - Date.now()) / 1000)).padStart(5)} s  ${parts.join(' | ')}`);
}

/* ---- the run --------------------------------------------------------------------------------- */

async function repeat(what, run) {
    while (Date.now() < deadline) {
        try {
            await run();
            count(what);
        } catch (error) {
            failures.push(`${what}: ${error.stack ?? error}`);
            count(`${what} FAILED`);
        }
        await pause(20);
    }
}

const all = await everything.start('--transport', 'ws');
const db = universe.sqlite();
const space = await universe.start(db.url);
watch('everything', all.child.pid, () => all.log);
watch('universe', space.child.pid, () => space.log);
const before = watched.slice(0, 2).map(({ pid }) => look(pid).fds);
const timer = setInterval(report, 10_000);
/* names come again: what is deleted stays in the database for a while, and its pages in the
 * cache */
let number = 0;

await Promise.all([
    ...Object.entries(kinds).map(([what, run]) => repeat(what, () => run(all.url))),
    repeat('vandal', () => vandal(all.url)),
    repeat('universe', () => live(space, `a${number++ % NAMES}`)),
    repeat('universe', () => live(space, `b${number++ % NAMES}`)),
    repeat('vandal of universe', () => vandal(space.url)),
    stay(older, StdioClientTransport),
    stay(newer, NewStdio, MODERN),
]);
clearInterval(timer);
await pause(12_000); /* keep-alive comments find who has gone */
watched.slice(0, 2).forEach((one, i) => {
    const { fds, kib } = look(one.pid);
    console.log(`${one.name}: ${before[i]} descriptors before the first client, ${fds} after the last; ${(kib / 1024).toFixed(1)} MiB`);
});
for (const { name, rows, log } of watched) {
    const half = rows.slice(Math.floor(rows.length / 2));
    const mean = (part) => part.reduce((sum, row) => sum + row.kib, 0) / part.length / 1024;
    const quarter = Math.max(1, Math.floor(half.length / 2));
    console.log(`${name}: ${mean(half.slice(0, quarter)).toFixed(2)} MiB in the third quarter, `
        + `${mean(half.slice(-quarter)).toFixed(2)} MiB in the last; complaints: ${log() || 'none'}`);
}
console.log(counts);
for (const failure of failures.slice(0, 10))
    console.log(failure);
await everything.stop(all);
await universe.stop(space);
db.close();
process.exit(failures.length > 0 ? 1 : 0);
