/*
 * service.test.mjs - a server under a service manager: sockets that it is passed, what it reports,
 * what it reloads at SIGHUP. The manager is this test; systemd itself is in the tests of
 * packages.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';

import { addStar, folder, program, until } from './universe.mjs';

let dir, streams;
const running = new Set();

beforeEach(() => {
    dir = folder();
    streams = [];
});
afterEach(async () => {
    for (const child of running)
        child.kill('SIGKILL');
    running.clear();
    for (const stream of streams)
        stream.destroy();
    fs.rmSync(dir, { recursive: true, force: true });
});

const at = (name) => path.join(dir, name);

/* ---- the service manager --------------------------------------------------------------------- */

const RECEIVER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1].replace('@', chr(0), 1) if sys.argv[1][0] == '@' else sys.argv[1])
print('bound', flush=True)
while True:
    print(repr(s.recv(4096).decode()), flush=True)
`;

/** Whom a service notifies: { address, said }. */
async function receiver(address) {
    const child = spawn('python3', ['-c', RECEIVER, address], { stdio: ['ignore', 'pipe', 'inherit'] });
    const self = { address, child, text: '' };
    running.add(child);
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (text) => { self.text += text; });
    await until(() => self.text.startsWith('bound\n'), 'the receiver to listen');
    self.has = (message, what) => until(() => self.text.includes(message), what ?? message);
    return self;
}

/* Binds the places of its arguments, prints their ports, and after a line of input becomes the
 * program. */
const STARTER = `
import json, os, socket, sys
kept, ports = [], []
for kind, where in json.loads(sys.argv[1]):
    if kind == 'file':
        kept.append(open(where))
    else:
        s = socket.socket(socket.AF_UNIX if kind == 'unix' else socket.AF_INET)
        s.bind(where if kind == 'unix' else (where, 0))
        s.listen()
        ports.append(0 if kind == 'unix' else s.getsockname()[1])
        kept.append(s)
print('bound', *ports, file=sys.stderr, flush=True)
sys.stdin.readline()
for i, fd in enumerate([os.dup(one.fileno()) for one in kept]):
    os.dup2(fd, 50 + i)
for i in range(len(kept)):
    os.dup2(50 + i, 3 + i)
os.environ['LISTEN_PID'] = str(os.getpid())
os.execv(sys.argv[2], sys.argv[2:])
`;

/** Start the server as a service. `sockets`: [kind, place] that are descriptors 3 and on, where
 *  kind is tcp, unix, or file for one that is no socket. `before` is called with their ports when
 *  they are bound. */
async function service({ args = [], sockets = [], env = {}, count = sockets.length, before = () => {} }) {
    const words = [program, 'serve', '--db', `sqlite:${at('universe.db')}`, '--log-level', 'info', ...args];
    const passed = count > 0 ? { LISTEN_FDS: String(count) } : {};
    const [name, ...rest] = sockets.length > 0 ? ['python3', '-c', STARTER, JSON.stringify(sockets), ...words] : words;
    const child = spawn(name, rest, { stdio: ['pipe', 'ignore', 'pipe'], env: { ...process.env, ...passed, ...env } });
    const self = { child, log: '', ports: [] };
    running.add(child);
    child.stderr.setEncoding('utf8');
    child.stderr.on('data', (text) => { self.log += text; });
    child.on('close', () => { self.isClosed = true; });
    self.says = (pattern) => until(() => {
        assert.ok(!self.isClosed, self.log);
        return pattern.exec(self.log);
    }, `${pattern}, so far: ${self.log}`);
    self.end = async () => {
        if (child.exitCode === null) {
            child.kill('SIGTERM');
            await once(child, 'exit');
        }
        running.delete(child);
        return child.exitCode;
    };
    if (sockets.length > 0) {
        const [line, ports] = await self.says(/^bound ?(.*)\n/);
        self.ports = ports.split(' ').map(Number);
        await before(self.ports);
        self.log = self.log.slice(line.length);
        child.stdin.write('go\n');
    }
    return self;
}

/** One that must not start: its status, and what it says. */
async function refused(options) {
    const self = await service(options);
    await until(() => self.isClosed, `the end, so far: ${self.log}`);
    running.delete(self.child);
    return [self.child.exitCode, self.log.trim()];
}

/** The status of a request, and the body where it is wanted. */
function ask(where, token, options = {}) {
    return new Promise((resolve, reject) => {
        const kind = options.ca ? https : http;
        const request = kind.get(where, {
            agent: false, ...options, headers: token ? { Authorization: `Bearer ${token}` } : {},
        }, (answer) => {
            const certificate = options.ca ? answer.socket.getPeerCertificate().subject.CN : undefined;
            let text = '';
            answer.setEncoding('utf8');
            answer.on('data', (part) => { text += part; });
            answer.on('end', () => resolve({ status: answer.statusCode, text, certificate }));
            answer.on('error', reject);
        });
        request.on('error', reject);
    });
}

const hash = (token) => crypto.createHash('sha256').update(token).digest('hex');
const write = (name, text) => { fs.writeFileSync(at(name), text, { mode: 0o600 }); return at(name); };

/* ---- sockets --------------------------------------------------------------------------------- */

test('connections of passed sockets are served, TCP and Unix, and the file of the latter stays', async () => {
    let waiting;
    const server = await service({
        sockets: [['tcp', '127.0.0.1'], ['unix', at('socket')]], args: ['--health'],
        before: ([port]) => { waiting = ask(`http://127.0.0.1:${port}/health`); },
    });
    const [port] = server.ports;
    assert.equal((await waiting).status, 200); /* it was asked before the program existed */
    await server.says(new RegExp(`serving http://127.0.0.1:${port}/mcp\n`));
    await server.says(/serving a Unix socket of the service manager\n/);
    assert.equal((await ask(`http://127.0.0.1:${port}/universes`)).status, 200);
    assert.equal((await ask('http://localhost/universes', null, { socketPath: at('socket') })).status, 200);
    assert.equal(await server.end(), 0);
    assert.ok(fs.existsSync(at('socket')));
});

test('a flag for an address is refused with a passed socket, and so is a socket that cannot be used', async () => {
    const tcp = ['tcp', '127.0.0.1'];
    for (const flag of ['--port', '--host', '--unix']) {
        const [code, said] = await refused({ sockets: [tcp], args: [flag, flag === '--port' ? '1' : 'localhost'] });
        assert.equal(code, 2);
        assert.match(said, new RegExp(`^error: ${flag}: the service manager passes the socket .* remove the flag`));
    }
    assert.deepEqual(await refused({ sockets: [['file', write('file', '')]] }), [2, 'error: descriptor 3 is not a listening socket']);
    assert.deepEqual(await refused({ sockets: [tcp], count: 1000 }), [2, 'error: LISTEN_FDS is not a number from 0 to 16']);
    const [code, said] = await refused({ sockets: [['tcp', '0.0.0.0']] });
    assert.equal(code, 2);
    assert.match(said, /^error: others can reach 0\.0\.0\.0: this requires --tokens FILE/);
    const stdio = await refused({ sockets: [tcp], args: ['--transport', 'stdio'] });
    assert.deepEqual(stdio, [2, 'error: the service manager passes a socket (LISTEN_FDS): this requires --transport http']);
});

test('sockets of another process are not taken', async () => {
    const server = await service({ args: ['--port', '0'], env: { LISTEN_FDS: '1', LISTEN_PID: '1' } });
    await server.says(/serving http:/);
    assert.equal(await server.end(), 0);
});

/* ---- reports --------------------------------------------------------------------------------- */

for (const kind of ['path', 'abstract']) {
    test(`readiness, the watchdog, a reload and the end are reported to a socket: ${kind}`, async () => {
        const manager = await receiver(kind === 'path' ? at('notify') : `@causeway-${process.pid}-${crypto.randomUUID()}`);
        const server = await service({ args: ['--port', '0'], env: { NOTIFY_SOCKET: manager.address, WATCHDOG_USEC: '20000' } });
        const [, url] = await server.says(/serving (http:\S+)\n/);
        await manager.has(`'READY=1\\nSTATUS=serving ${url}'`);
        await until(() => manager.text.split("'WATCHDOG=1'").length > 4, 'three signs of life');
        server.child.kill('SIGHUP');
        await until(() => /'RELOADING=1\\nMONOTONIC_USEC=\d+'\n('WATCHDOG=1'\n)*'READY=1'\n/.test(manager.text), 'a reload');
        assert.equal(await server.end(), 0);
        await manager.has("'STOPPING=1'\n");
    });
}

test('an address to report to that cannot be is a warning, and the server serves', async () => {
    const server = await service({ args: ['--port', '0'], env: { NOTIFY_SOCKET: 'relative' } });
    await server.says(/serving http:/);
    await server.says(/"level":"warning".*NOTIFY_SOCKET is neither an absolute path nor @name/);
    assert.equal(await server.end(), 0);
});

/* ---- reload ---------------------------------------------------------------------------------- */

test('SIGHUP reloads the tokens, and an open stream continues; with a bad file the earlier ones remain', async () => {
    const tokens = write('tokens', `${hash('one')} ann\n`);
    const server = await service({ args: ['--port', '0', '--tokens', tokens] });
    const [, url] = await server.says(/serving (http:\S+)\/mcp\n/);
    const made = await fetch(`${url}/universes`, {
        method: 'POST', headers: { Authorization: 'Bearer one', 'Content-Type': 'application/json' },
        body: JSON.stringify({ id: 'u', name: 'U', state: {} }),
    });
    assert.equal(made.status, 201);
    const stream = http.get(`${url}/universes/u/events`, { agent: false, headers: { Authorization: 'Bearer one' } });
    streams.push(stream);
    const [events] = await once(stream, 'response');
    let heard = '';
    events.setEncoding('utf8');
    events.on('data', (text) => { heard += text; });

    write('tokens', `${hash('two')} bob\n`);
    server.child.kill('SIGHUP');
    await server.says(/the tokens: reloaded/);
    assert.equal((await ask(`${url}/universes`, 'one')).status, 401);
    assert.equal((await ask(`${url}/universes`, 'two')).status, 200);
    const command = await fetch(`${url}/universes/u/commands`, {
        method: 'POST', headers: { Authorization: 'Bearer two', 'Content-Type': 'application/json' },
        body: JSON.stringify(addStar('sun')),
    });
    assert.equal(command.status, 200, await command.text());
    await until(() => heard.includes('event: command'), 'the stream to go on');

    write('tokens', 'no hash\n');
    server.child.kill('SIGHUP');
    await server.says(/"level":"error".*the tokens: not reloaded, the earlier one remains: .*tokens, line 1: a line begins with 64 hexadecimal digits/);
    assert.equal((await ask(`${url}/universes`, 'two')).status, 200);
    assert.equal(await server.end(), 0);
});

function certificate(name) {
    const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${name}`,
        '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', at('key.pem'), '-out', at('cert.pem')], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    return fs.readFileSync(at('cert.pem'));
}

test('SIGHUP reloads the certificate for connections to come; with a bad one the earlier remains', async () => {
    const first = certificate('first');
    const server = await service({ args: ['--port', '0', '--tls-cert', at('cert.pem'), '--tls-key', at('key.pem')] });
    const [, url] = await server.says(/serving (https:\S+)\/mcp\n/);
    assert.equal((await ask(`${url}/universes`, null, { ca: first })).certificate, 'first');
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
    assert.equal((await ask(`${url}/universes`, null, { ca: first, agent })).certificate, 'first');

    const second = certificate('second');
    server.child.kill('SIGHUP');
    await server.says(/the certificate: reloaded/);
    assert.equal((await ask(`${url}/universes`, null, { ca: second })).certificate, 'second');
    /* The open connection. */
    assert.equal((await ask(`${url}/universes`, null, { ca: first, agent })).certificate, 'first');
    agent.destroy();

    fs.writeFileSync(at('cert.pem'), 'nothing');
    server.child.kill('SIGHUP');
    await server.says(/"level":"error".*the certificate: not reloaded, the earlier one remains: the certificate .*cannot be used/);
    assert.equal((await ask(`${url}/universes`, null, { ca: second })).certificate, 'second');
    assert.equal(await server.end(), 0);
});

test('SIGHUP opens the log file again after it was renamed', async () => {
    const server = await service({ args: ['--port', '0', '--log-file', at('log')] });
    await server.says(/serving http:/);
    fs.renameSync(at('log'), at('log.1'));
    server.child.kill('SIGHUP');
    await until(() => fs.existsSync(at('log')), 'a new file');
    assert.equal(await server.end(), 0);
    assert.match(fs.readFileSync(at('log'), 'utf8'), /going down: terminated/);
    assert.doesNotMatch(fs.readFileSync(at('log.1'), 'utf8'), /going down/);
});

/* ---- the journal ----------------------------------------------------------------------------- */

test('lines of the journal begin with their level, those of another stream and of the file do not', async () => {
    const log = fs.openSync(at('stderr'), 'w');
    const about = fs.fstatSync(log);
    for (const [stream, first] of [[`${about.dev}:${about.ino}`, /^<6>\{/m], [`${about.dev}:${about.ino + 1}`, /^\{/m], ['x', /^\{/m]]) {
        fs.ftruncateSync(log);
        const child = spawn(program, ['serve', '--db', `sqlite:${at('universe.db')}`, '--port', '0', '--log-level', 'info', '--log-file', at('log')],
            { stdio: ['ignore', 'ignore', log], env: { ...process.env, JOURNAL_STREAM: stream } });
        running.add(child);
        await until(() => fs.readFileSync(at('stderr'), 'utf8').includes('serving'), 'the server');
        child.kill('SIGTERM');
        assert.deepEqual(await once(child, 'exit'), [0, null]);
        assert.match(fs.readFileSync(at('stderr'), 'utf8').replaceAll('\0', ''), first);
        assert.match(fs.readFileSync(at('log'), 'utf8'), /^\{/);
        assert.doesNotMatch(fs.readFileSync(at('log'), 'utf8'), /<6>/);
    }
    fs.closeSync(log);
});
