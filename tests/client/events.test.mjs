/*
 * events.test.mjs - streams of events of routes, read as the WHATWG's EventSource reads them (HTML,
 * section 9.2): from a socket, cut anywhere, and taken up again by Last-Event-ID.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const here = path.dirname(fileURLToPath(import.meta.url));
const bin = process.env.CAUSEWAY_BIN ?? path.resolve(here, '..', '..', 'build', 'bin');

/* ---- a reader -------------------------------------------------------------------------------- */

/** Section 9.2.6, a byte at a time: the hardest cut of all. */
class EventParser {
    constructor(reader) {
        this.reader = reader;
        this.line = [];
        this.wasReturn = false;
        this.data = '';
        this.type = '';
        this.id = '';
    }

    byte(byte) {
        if (byte === 0x0a && this.wasReturn) {
            this.wasReturn = false;
            return;
        }
        this.wasReturn = byte === 0x0d;
        if (byte !== 0x0a && byte !== 0x0d) {
            this.line.push(byte);
            return;
        }
        this.field(new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array(this.line)));
        this.line = [];
    }

    field(line) {
        if (line === '') {
            this.dispatch();
            return;
        }
        const colon = line.indexOf(':');
        if (colon === 0) {
            this.reader.comments.push(line.slice(1));
            return;
        }
        const name = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
        if (name === 'event')
            this.type = value;
        else if (name === 'data')
            this.data += `${value}\n`;
        else if (name === 'id' && !value.includes('\0'))
            this.id = value;
        else if (name === 'retry' && /^[0-9]+$/.test(value))
            this.reader.retry = Number(value);
    }

    dispatch() {
        this.reader.lastId = this.id;
        if (this.data !== '')
            this.reader.take({ type: this.type || 'message', data: this.data.slice(0, -1), id: this.id });
        this.data = '';
        this.type = '';
    }
}

/** Undoes the chunks of HTTP/1.1, a byte at a time. */
class ChunkParser {
    constructor(out) {
        this.out = out;
        this.size = '';
        this.left = -1;
        this.tail = 0;
        this.isOver = false;
    }

    byte(byte) {
        if (this.isOver) {
            assert.ok(byte === 0x0d || byte === 0x0a);
        } else if (this.tail > 0) {
            assert.equal(byte, this.tail === 2 ? 0x0d : 0x0a);
            this.tail--;
        } else if (this.left > 0) {
            this.out.byte(byte);
            if (--this.left === 0) {
                this.left = -1;
                this.tail = 2;
            }
        } else if (byte !== 0x0a) {
            this.size += String.fromCharCode(byte);
        } else {
            assert.match(this.size, /^[0-9a-f]+\r$/);
            this.left = parseInt(this.size, 16);
            this.size = '';
            if (this.left === 0)
                this.isOver = true;
        }
    }
}

class Reader {
    constructor(server, lastId, fields = '') {
        this.events = [];
        this.comments = [];
        this.waiting = [];
        this.lastId = '';
        this.head = null;
        this.chunks = new ChunkParser(new EventParser(this));
        this.socket = net.connect(Number(server.url.port), '127.0.0.1');
        this.gone = once(this.socket, 'close');
        this.socket.on('error', () => {});
        this.socket.on('data', (bytes) => this.read(bytes));
        this.socket.write(`GET /events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n${fields}` +
            `${lastId ? `Last-Event-ID: ${lastId}\r\n` : ''}\r\n`);
    }

    read(bytes) {
        if (this.head === null || !this.head.endsWith('\r\n\r\n')) {
            const all = (this.head ?? '') + bytes.toString('latin1');
            const end = all.indexOf('\r\n\r\n');
            this.head = end < 0 ? all : all.slice(0, end + 4);
            if (end < 0)
                return;
            bytes = Buffer.from(all.slice(end + 4), 'latin1');
        }
        for (const byte of bytes)
            this.chunks.byte(byte);
        this.tell();
    }

    take(event) {
        this.events.push(event);
    }

    tell() {
        const ready = this.waiting.filter((waiter) => waiter.is());
        this.waiting = this.waiting.filter((waiter) => !ready.includes(waiter));
        ready.forEach((waiter) => waiter.then());
    }

    /** Until it is so. */
    until(is) {
        return is() ? Promise.resolve() : new Promise((then) => { this.waiting.push({ is, then }); });
    }

    async connected() {
        await this.until(() => this.comments.includes('connected'));
        return this;
    }

    count(wanted) {
        return this.until(() => this.events.length >= wanted);
    }

    leave() {
        this.socket.destroy();
    }
}

/* ---- the room -------------------------------------------------------------------------------- */

let server;

before(async () => {
    const child = spawn(path.join(bin, 'example-events'), [], { stdio: ['ignore', 'pipe', 'pipe'] });
    server = { child, log: '' };
    child.stderr.on('data', (bytes) => { server.log += bytes; });
    const [line] = await once(child.stdout, 'data');
    server.url = new URL(String(line).trim());
});

after(async () => {
    if (server.child.exitCode === null) {
        server.child.kill('SIGTERM');
        await once(server.child, 'exit');
    }
    assert.equal(server.child.exitCode, 0, server.log);
    assert.equal(server.log, '');
});

async function say(text) {
    const answer = await fetch(new URL('/say', server.url), { method: 'POST',
        headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ text }) });
    assert.equal(answer.status, 200);
    return (await answer.json()).id;
}

test('a stream begins with its comment and its retry, and is no answer to be kept', async () => {
    const reader = await new Reader(server).connected();
    await reader.until(() => reader.retry === 1000);
    assert.match(reader.head, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(reader.head, /\r\nContent-Type: text\/event-stream\r\n/);
    assert.match(reader.head, /\r\nCache-Control: [^\r]*no-cache/);
    reader.leave();
});

test('all readers get what is said, over REST and by the tool', async () => {
    const readers = await Promise.all([1, 2, 3].map(() => new Reader(server).connected()));
    const client = new Client({ name: 'events-test', version: '1.0.0' });
    const texts = ['one', 'two\nlines', 'a\r\nb\rc', 'naïve ☃ 🚀', 'data: forged\n\nid: 7', ' a blank first'];

    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server.url)));
    for (const text of texts)
        await say(text);
    await client.callTool({ name: 'say', arguments: { text: 'by a model' } });
    await client.close();
    for (const reader of readers) {
        await reader.count(7);
        assert.deepEqual(reader.events.map((event) => event.data),
            [...texts.map((text) => text.replace(/\r\n?/g, '\n')), 'by a model']);
        assert.ok(reader.events.every((event) => event.type === 'said'));
        reader.leave();
    }
});

test('a reader that comes back gets what it missed, once', async () => {
    const first = await new Reader(server).connected();
    const ids = [await say('before')];
    await first.count(1);
    first.leave();
    ids.push(await say('while it was away'), await say('and more'));
    const second = await new Reader(server, first.lastId).connected();
    ids.push(await say('after'));
    await second.count(3);
    assert.deepEqual([...first.events, ...second.events].map((event) => event.id), ids.map(String));
    second.leave();
});

test('many readers come and go while much is said, and none sees a gap', async () => {
    const total = 60;
    const start = await say('begin');
    const follow = async (turn) => {
        let last = String(start);
        const seen = [];
        while (seen.length < total) {
            const reader = await new Reader(server, last).connected();
            await reader.count(Math.min(7 + turn, total - seen.length));
            reader.leave();
            seen.push(...reader.events.map((event) => Number(event.id)));
            last = String(seen.at(-1));
        }
        assert.deepEqual(seen.slice(0, total), Array.from({ length: total }, (_, i) => start + 1 + i));
    };
    const followers = Array.from({ length: 8 }, (_, turn) => follow(turn));
    for (let i = 0; i < total; i++)
        await say(`number ${i}`);
    await Promise.all(followers);
});

test('two hundred silent readers hold, and all hear the next word', async () => {
    const readers = await Promise.all(Array.from({ length: 200 }, () => new Reader(server).connected()));
    const id = await say('anybody there?');
    await Promise.all(readers.map((reader) => reader.count(1)));
    assert.ok(readers.every((reader) => reader.events[0].id === String(id) && reader.events.length === 1));
    readers.forEach((reader) => reader.leave());
});

test('a page of a foreign origin, a wrong method and a wrong path are refused as JSON', async () => {
    const bad = await fetch(new URL('/events', server.url), { headers: { Origin: 'https://evil.example' } });
    assert.equal(bad.status, 403);
    assert.equal((await bad.json()).error.status, 'E_DENIED');
    const wrong = await fetch(new URL('/events', server.url), { method: 'POST', body: '{}' });
    assert.equal(wrong.status, 405);
    assert.equal(wrong.headers.get('allow'), 'GET, HEAD');
    const nothing = await fetch(new URL('/nothing', server.url));
    assert.equal(nothing.status, 404);
    assert.equal((await nothing.json()).error.status, 'E_NOT_FOUND');
    const head = await fetch(new URL('/events', server.url), { method: 'HEAD' });
    assert.equal(head.status, 200);
    assert.equal(head.headers.get('content-type'), 'text/event-stream');
});

test('going down ends the streams in order', async () => {
    const reader = await new Reader(server).connected();
    server.child.kill('SIGTERM');
    await reader.gone;
    assert.equal(reader.chunks.isOver, true);
    if (server.child.exitCode === null)
        await once(server.child, 'exit');
    assert.equal(server.child.exitCode, 0, server.log);
});
