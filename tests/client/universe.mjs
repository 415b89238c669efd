/*
 * universe.mjs - what the tests of the server universe share: its databases, the server itself,
 * REST, a viewer of its event stream, and the official clients under each revision.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';

import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { assertFits, recorded } from './recorded.mjs';

export { until } from './support/until.mjs';
import { until } from './support/until.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
export const root = path.resolve(here, '..', '..');
export const program = path.join(process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin'), 'universe');

/* ---- databases ------------------------------------------------------------------------------- */

/** A folder that goes with the test. */
export function folder() {
    return fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'universe-')));
}

/** An SQLite file of one's own: { name, url, sql(), close() }. */
export function sqlite() {
    const dir = folder();
    const file = path.join(dir, 'universe.db');
    return {
        name: 'SQLite', url: `sqlite:${file}`, file,
        /** Run statements from outside the server; the rows of the last where it is a SELECT. */
        sql(text) {
            const db = new DatabaseSync(file);
            db.exec('PRAGMA busy_timeout = 20000');
            const rows = /^select/i.test(text) ? db.prepare(text).all() : db.exec(text);
            db.close();
            return rows;
        },
        close: () => fs.rmSync(dir, { recursive: true, force: true }),
    };
}

function psql(url, text) {
    const bins = fs.readdirSync('/usr/lib/postgresql').map((version) => `/usr/lib/postgresql/${version}/bin/psql`);
    const done = spawnSync(bins[0], ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', url, '-c', text],
        { encoding: 'utf8', timeout: 60_000 });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout.trim();
}

/** A PostgreSQL of one's own: { name, url, sql(), halt(), resume(), close() }. */
export function postgres() {
    const dir = folder();
    const script = path.join(root, 'tests', 'support', 'postgres');
    const run = (action) => {
        const done = spawnSync(script, [action, dir], { encoding: 'utf8', timeout: 280_000 });
        assert.equal(done.status, 0, done.stderr);
        return done.stdout.trim();
    };
    const url = run('start');
    return {
        halt: () => run('halt'),
        resume: () => run('resume'),
        name: 'PostgreSQL', url,
        sql(text) {
            if (!/^select/i.test(text))
                return psql(url, text);
            return JSON.parse(psql(url, `SELECT coalesce(json_agg(t), '[]') FROM (${text}) t`));
        },
        close() {
            spawnSync(script, ['stop', dir], { timeout: 60_000 });
            fs.rmSync(dir, { recursive: true, force: true });
        },
    };
}

export const DATABASES = [sqlite, postgres];

/* ---- the server ------------------------------------------------------------------------------ */

/** Start it on a free port; it says on standard error where it is. */
export async function start(db, ...args) {
    const child = spawn(program, ['serve', '--port', '0', '--db', db, '--log-level', 'warning', ...args],
        { stdio: ['ignore', 'ignore', 'pipe'] });
    const server = { child, url: null, base: null, log: '' };

    child.stderr.setEncoding('utf8');
    child.stderr.on('data', (text) => { server.log += text; });
    while (!/serving http:\S+\n/.test(server.log))
        await Promise.race([once(child.stderr, 'data'),
            once(child, 'exit').then(([code, signal]) => assert.fail(`ended with ${code ?? signal}: ${server.log}`))]);
    server.url = new URL(/serving (http:\S+)\n/.exec(server.log)[1]);
    server.base = server.url.origin;
    server.log = '';
    return server;
}

/* What a server says where the machine has too much to do: no fault of its own. */
const BUSY = /is declared MCP_NONBLOCKING and took more than/;

/** End it as a service is ended. It must have complained about nothing but what `expected`
 *  matches. */
export async function stop(server, expected = null) {
    const gone = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    const [code, signal] = await gone;
    const complaints = server.log.split('\n').filter((line) => line && !BUSY.test(line) && !(expected && expected.test(line)));
    assert.deepEqual(complaints, []);
    assert.deepEqual([code, signal], [0, null]);
}

/** As if the machine had failed. */
export async function kill(server) {
    if (server.child.exitCode !== null || server.child.signalCode !== null)
        return;
    const gone = once(server.child, 'exit');
    server.child.kill('SIGKILL');
    await gone;
}

/* ---- REST ------------------------------------------------------------------------------------ */

/** One request; a body that is no string is sent as JSON. What comes back is read as JSON where it
 *  is. */
export async function rest(server, method, where, body = undefined, headers = {}, signal = undefined) {
    const answer = await fetch(server.base + where, {
        method, signal, headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
        body: body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    const isJson = /^application\/([a-z]+\+)?json/.test(answer.headers.get('content-type') ?? '');
    return { status: answer.status, headers: answer.headers, text, json: isJson && text ? JSON.parse(text) : undefined };
}

/** A universe of that id, new and empty (or as given). */
export async function create(server, id, state = {}, name = 'Test') {
    const { status, json, text } = await rest(server, 'POST', '/universes', { id, name, state });
    assert.equal(status, 201, text);
    return json;
}

/** The same, whether there was one or not. */
export async function createAnew(server, id, state = {}) {
    const { status } = await rest(server, 'DELETE', `/universes/${id}`);
    assert.ok(status === 204 || status === 404);
    return create(server, id, state);
}

/** Send a command that is accepted. */
export async function send(server, id, command) {
    const { status, json, text } = await rest(server, 'POST', `/universes/${id}/commands?return=minimal`, command);
    assert.equal(status, 200, text);
    return json;
}

/** A command that adds a body. */
export function addStar(id, parentId = null, more = {}) {
    return {
        type: 'addStar', id,
        payload: {
            name: id, mass: 1, radius: 1, color: '#4A90E2', parentId, orbitalDistance: parentId === null ? 0 : 50,
            orbitalSpeed: parentId === null ? 0 : 1, ...more,
        },
    };
}

/* ---- the event stream ------------------------------------------------------------------------ */

/** Who looks at GET /universes/ID/events. `after`: as a browser that comes back (Last-Event-ID). */
export class Viewer {
    static async open(server, id, { query = '', after = undefined, path: where = undefined, headers = {} } = {}) {
        const viewer = new Viewer();
        const url = new URL(where ?? `/universes/${encodeURIComponent(id)}/events${query}`, server.base);
        await new Promise((resolve, reject) => {
            viewer.request = http.get(url, {
                agent: false,
                headers: { Accept: 'text/event-stream', ...headers, ...(after === undefined ? {} : { 'Last-Event-ID': String(after) }) },
            }, (answer) => {
                viewer.answer = answer;
                viewer.status = answer.statusCode;
                answer.setEncoding('utf8');
                answer.on('data', (text) => viewer.read(text));
                answer.on('error', () => { viewer.closed = true; });
                answer.on('close', () => { viewer.closed = true; });
                resolve();
            });
            viewer.request.on('error', (error) => { viewer.closed = true; reject(error); });
        });
        return viewer;
    }

    raw = '';
    rest = '';
    events = [];
    comments = [];
    retry = undefined;
    closed = false;

    read(text) {
        this.raw += text;
        this.rest += text;
        for (let end = this.rest.indexOf('\n\n'); end >= 0; end = this.rest.indexOf('\n\n')) {
            const block = this.rest.slice(0, end);
            this.rest = this.rest.slice(end + 2);
            this.take(block.split('\n'));
        }
    }

    take(lines) {
        const event = { event: 'message', id: undefined, data: undefined };
        for (const line of lines) {
            const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line);
            if (name === '')
                this.comments.push(value);
            else if (name === 'retry')
                this.retry = Number(value);
            else if (name === 'data')
                event.data = event.data === undefined ? value : `${event.data}\n${value}`;
            else
                event[name] = value;
        }
        if (event.data) /* MCP begins a stream with an event without data, for its id */
            this.events.push({ event: event.event, id: event.id === undefined ? undefined : Number(event.id), data: JSON.parse(event.data) });
    }

    /** The events of that name. */
    of(name) {
        return this.events.filter((event) => event.event === name);
    }

    /** The versions of the commands, in the order in which they came. */
    get versions() {
        return this.of('command').map(({ id }) => id);
    }

    until(condition, what) {
        return until(() => condition(this), `${what}; so far ${this.events.length} events, the last ${JSON.stringify(this.events.at(-1))}`);
    }

    close() {
        this.request.destroy();
    }
}

/** first, first + 1, ... last */
export function range(first, last) {
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
}

/* ---- MCP ------------------------------------------------------------------------------------- */

/** The revisions, and the client that speaks each. Those of sessions are asked for in the first
 *  message. */
export const ERAS = [
    { name: '2025-03-26', revision: '2025-03-26', sessions: true },
    { name: '2025-06-18', revision: '2025-06-18', sessions: true },
    { name: '2025-11-25', revision: '2025-11-25', sessions: true },
    { name: '2025-11-25 by the 2.x client', revision: '2025-11-25', sessions: true, isNew: true },
    { name: '2026-07-28 by the 2.x client', revision: '2026-07-28', sessions: false, isNew: true },
];

/** The 1.x client asks for its newest revision; here it asks for this one. */
function asking(transport, revision) {
    const send = transport.send.bind(transport);
    transport.send = (message, ...more) => {
        if (message.method === 'initialize')
            message.params.protocolVersion = revision;
        return send(message, ...more);
    };
}

/** A client that has met the server. */
export async function connect(server, era = ERAS[2]) {
    const transport = era.isNew ? new NewTransport(server.url) : new StreamableHTTPClientTransport(server.url);
    const record = recorded(transport);
    const client = era.isNew
        ? new NewClient({ name: 'universe-test', version: '2.0.0' },
            { versionNegotiation: era.sessions ? undefined : { mode: { pin: era.revision } } })
        : new Client({ name: 'universe-test', version: '1.0.0' });
    const peer = { client, transport, record, faults: [], era };

    if (!era.isNew)
        asking(transport, era.revision);
    client.onerror = (error) => { peer.faults.push(error); };
    await client.connect(transport);
    return peer;
}

/** Part from it: nothing was said that the client or the official schema could not take. */
export async function disconnect(peer) {
    await peer.client.close();
    assert.deepEqual(peer.faults, []);
    assertFits(peer.record);
}

/** A tool's result; its text is read as JSON where it is. */
export async function call(peer, name, args) {
    const result = await peer.client.callTool({ name, arguments: args });
    let json;
    try {
        json = JSON.parse(result.content[0].text);
    } catch { /* Markdown */ }
    return { result, text: result.content[0].text, json, isError: result.isError ?? false };
}
