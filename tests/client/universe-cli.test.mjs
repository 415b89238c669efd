/*
 * universe-cli.test.mjs - the command line of universe: what it prints where, what it ends with,
 * what it leaves on disk; its settings; how the server begins and ends. Every wait has a deadline.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';

import {
    call, connect, create, DATABASES, disconnect, folder, kill, program, rest, root, sqlite, start, stop, until, Viewer,
} from './universe.mjs';

const DEADLINE_MS = 60_000;
const VARIABLES = ['BIND', 'PORT', 'CORS_ORIGINS', 'DB_PROVIDER', 'DATABASE_URL', 'LOG_LEVEL', 'LOG_FILE', 'VALIDATION',
    'TICK_DEFAULT_DT', 'MAX_BODY_BYTES', 'MAX_STATE_BYTES', 'INLINE_STATE_BYTES', 'AUTH_TOKEN', 'AUTH_TOKENS'];
const EMPTY = { stars: {}, rootIds: [], groups: {}, rootGroupIds: [], belts: {}, smallBodyFields: {},
    protoplanetaryDisks: {}, nebulae: {}, time: 0 };
const star = { name: 'Sol', bodyType: 'star', mass: 1, radius: 1, color: '#FFF4EA', parentId: null, orbitalDistance: 0,
    orbitalSpeed: 0 };
const stored = { id: 'sol', ...star, orbitalPhase: 0, children: [] };
const oneStar = { ...EMPTY, stars: { sol: stored }, rootIds: ['sol'] };

let dir;
let servers = [];

before(() => { dir = folder(); });
after(() => fs.rmSync(dir, { recursive: true, force: true }));
afterEach(async () => {
    for (const server of servers.splice(0))
        await kill(server);
});

/** The environment without what would change the program. */
function environment(more = {}) {
    const clean = { ...process.env, ...more };
    for (const name of VARIABLES) {
        if (!(name in more))
            delete clean[name];
    }
    return clean;
}

/** Run a command to its end. */
function run(args, { env = {}, ...options } = {}) {
    const done = spawnSync(program, args, { encoding: 'utf8', timeout: DEADLINE_MS, cwd: dir, maxBuffer: 1 << 28,
        env: environment(env), ...options });
    assert.equal(done.error, undefined, `${args}: ${done.error}`);
    return done;
}

function succeed(args, options) {
    const done = run(args, options);
    assert.equal(done.status, 0, `${args}: ${done.stderr}`);
    return done;
}

/** It fails with that status and tells so, in words and, when asked, as JSON. */
function fail(status, words, args, options) {
    const done = run(args, options);
    assert.equal(done.status, status, `${args}: ${done.stdout} ${done.stderr}`);
    assert.match(done.stderr, words);
    if (args.includes('--json'))
        assert.match(JSON.parse(done.stdout).error, words);
    else
        assert.equal(done.stdout, '');
}

function write(name, value) {
    fs.writeFileSync(path.join(dir, name), typeof value === 'string' ? value : JSON.stringify(value));
    return name;
}

async function serving(db, ...args) {
    const server = await start(db, ...args);
    servers.push(server);
    return server;
}

for (const make of DATABASES) {
    const database = make();
    const db = ['--db', database.url];

    describe(`commands on ${database.name}`, () => {
        after(() => database.close());

        test('a state comes out as it went in', () => {
            write('one.json', oneStar);
            const made = JSON.parse(succeed(['import', 'one.json', '--id', 'one', '--json', ...db]).stdout);
            assert.deepEqual(made, { id: 'one', name: 'one', version: 0, bodies: 1, repairCount: 0, repairs: [] });
            assert.deepEqual(JSON.parse(succeed(['export', 'one', ...db]).stdout), oneStar);
            const told = JSON.parse(succeed(['export', 'one', 'out.json', '--json', ...db]).stdout);
            const text = fs.readFileSync(path.join(dir, 'out.json'), 'utf8');
            assert.deepEqual(told, { id: 'one', version: 0, bytes: Buffer.byteLength(text), file: 'out.json' });
            assert.deepEqual(JSON.parse(text), oneStar);
        });

        test('standard input is a file too, and what is there is replaced only when asked', () => {
            const input = JSON.stringify({ ...oneStar, time: 7 });
            assert.equal(succeed(['import', '-', '--id', 'two', '--name', 'Two', ...db], { input }).stdout, 'two\n');
            fail(1, /two exists/, ['import', '-', '--id', 'two', '--json', ...db], { input });
            const made = JSON.parse(succeed(['import', '-', '--id', 'two', '--replace', '--json', ...db],
                { input: JSON.stringify(EMPTY) }).stdout);
            assert.deepEqual([made.version, made.bodies, made.name], [1, 0, 'Two']);
            assert.deepEqual(JSON.parse(succeed(['export', 'two', ...db]).stdout), EMPTY);
            assert.equal(JSON.parse(succeed(['export', 'two', '-', '--version', '0', ...db]).stdout).time, 7);
        });

        test('what disagrees is refused, or repaired and told', () => {
            const lost = { ...oneStar, stars: { sol: stored, earth: { ...stored, id: 'earth', parentId: 'sol' } } };
            write('lost.json', lost);
            fail(1, /sol|earth/, ['import', 'lost.json', '--id', 'lost', '--json', ...db]);
            const made = JSON.parse(succeed(['import', 'lost.json', '--id', 'lost', '--lenient', '--json', ...db]).stdout);
            assert.equal(made.bodies, 2);
            assert.ok(made.repairCount >= 1);
            assert.equal(made.repairs.length, made.repairCount);
            const state = JSON.parse(succeed(['export', 'lost', ...db]).stdout);
            assert.deepEqual(state.stars.sol.children, ['earth']);
            const again = succeed(['import', 'lost.json', '--lenient', ...db]);
            assert.equal(again.stderr.match(/^repaired: /gm).length, made.repairCount);
        });

        test('the same seed grows the same universe', () => {
            const grow = (id, ...more) => JSON.parse(succeed(['generate', '--preset', 'solarLike', '--id', id, '--json',
                '--quiet', ...more, ...db]).stdout);
            const first = grow('g-1', '--seed', 'universe');
            /* the page's golden counts: 6 stars, 3 planets, 3 moons, 5 roots */
            assert.deepEqual([first.bodyTypes.star, first.bodyTypes.planet, first.bodyTypes.moon, first.roots],
                [6, 3, 3, 5]);
            grow('g-2', '--seed', 'universe');
            const other = grow('g-3', '--seed', '42');
            const states = ['g-1', 'g-2', 'g-3'].map((id) => succeed(['export', id, ...db]).stdout);
            assert.equal(states[0], states[1]);
            assert.notEqual(states[0], states[2]);
            assert.ok(other.counts.stars > 0);
            fail(1, /g-1 exists/, ['generate', '--id', 'g-1', '--json', ...db]);
            assert.equal(grow('g-1', '--seed', '42', '--replace').version, 2);
            assert.equal(succeed(['export', 'g-1', ...db]).stdout, states[2]);
        });

        test('who pipes gets no progress', () => {
            const said = (...args) => succeed([...args, ...db]).stderr;
            assert.equal(said('generate', '--preset', 'solarLike', '--seed', '7', '--id', 'piped'), '');
            assert.equal(said('export', 'piped', 'piped.json'), '');
            assert.equal(said('import', 'piped.json', '--id', 'piped-2'), '');
            assert.equal(said('replay', 'piped', '--check'), '');
        });

        test('the list has every universe, newest first', () => {
            const all = JSON.parse(succeed(['list', '--json', ...db]).stdout);
            const ids = all.map((one) => one.id);
            assert.ok(ids.indexOf('g-3') < ids.indexOf('one'));
            assert.deepEqual(Object.keys(all[0]),
                ['id', 'name', 'version', 'time', 'bodies', 'createdAt', 'updatedAt']);
            const lines = succeed(['list', ...db]).stdout.trimEnd().split('\n');
            assert.equal(lines.length, all.length + 1);
            assert.match(lines[0], /^ID +NAME +VERSION/);
        });

        test('the log makes every version again', async () => {
            const server = await serving(database.url);
            await create(server, 'r-1');
            for (let i = 0; i < 5; i++)
                await rest(server, 'POST', '/universes/r-1/commands', { type: 'tick', dt: 0.1 });
            await rest(server, 'POST', '/universes/r-1/commands', { type: 'addStar', id: 'sol', payload: star });
            /* while the server runs */
            assert.deepEqual(JSON.parse(succeed(['replay', 'r-1', '--check', '--json', ...db]).stdout),
                { id: 'r-1', from: 0, to: 6, equal: true });
            const third = JSON.parse(succeed(['replay', 'r-1', '--to', '3', ...db]).stdout);
            assert.equal(third.time, 0.1 + 0.1 + 0.1);
            succeed(['replay', 'r-1', '--to', '6', '--output', 'r.json', ...db]);
            assert.deepEqual(JSON.parse(fs.readFileSync(path.join(dir, 'r.json'), 'utf8')).stars, { sol: stored });
            fail(2, /versions 0 to 6, not 7/, ['replay', 'r-1', '--to', '7', '--json', ...db]);
            await stop(server);
        });

        test('a running server sees what a command changes', async () => {
            const server = await serving(database.url);
            await create(server, 'live');
            write('one.json', oneStar);
            succeed(['import', 'one.json', '--id', 'live', '--replace', ...db]);
            const seen = await until(async () => {
                const { json } = await rest(server, 'GET', '/universes/live');
                return json.version === 1 && json;
            }, 'the imported state');
            assert.deepEqual(seen.state, oneStar);
            await stop(server);
        });

        test('what is not there', () => {
            for (const args of [['export', 'nobody', 'x.json'], ['replay', 'nobody']])
                fail(2, /nobody/, [...args, '--json', ...db]);
            fail(2, /cannot be opened/, ['import', 'nowhere.json', '--json', ...db]);
            assert.equal(fs.existsSync(path.join(dir, 'x.json')), false);
        });

        test('what is no state leaves nothing behind', () => {
            const count = () => JSON.parse(succeed(['list', '--json', ...db]).stdout).length;
            const before = count();
            for (const text of ['', '{', '[]', '{"stars":{"a":1}}', '{"stars":{"a":{"id":"b"}}}', '{"time":1e400}'])
                fail(1, /./, ['import', write('bad.json', text), '--json', ...db]);
            fail(1, /stylePreset/, ['generate', '--preset', 'enormous', '--json', ...db]);
            fail(1, /colour/, ['generate', '--config', write('c.json', { colour: 1 }), '--json', ...db]);
            fail(1, /no configuration/, ['generate', '--config', write('c.json', '[1]'), '--json', ...db]);
            assert.equal(count(), before);
        });
    });
}

describe('files', () => {
    test('a file is there whole or not at all', () => {
        const db = sqlite();
        succeed(['import', write('one.json', oneStar), '--id', 'one', '--db', db.url]);
        const there = fs.readdirSync(dir).sort();
        fail(2, /cannot be made/, ['export', 'one', 'no/such/folder.json', '--json', '--db', db.url]);
        fail(2, /./, ['export', 'one', '--json', '--version', '9', 'z.json', '--db', db.url]);
        assert.deepEqual(fs.readdirSync(dir).sort(), there);
        db.close();
    });

    test('reading makes no database', () => {
        for (const args of [['list'], ['export', 'u', 'x.json'], ['replay', 'u']])
            fail(2, /none\.db/, [...args, '--json', '--db', 'sqlite:none.db']);
        assert.equal(fs.existsSync(path.join(dir, 'none.db')), false);
    });

    test('a dry run needs no database and makes none', () => {
        const empty = folder();
        const done = succeed(['generate', '--seed', 'universe', '--preset', 'sparse', '--dry-run', '--json', '--quiet'],
            { cwd: empty });
        const { counts, bodyTypes, roots } = JSON.parse(done.stdout);
        assert.deepEqual([bodyTypes.star, bodyTypes.planet, bodyTypes.moon, roots, counts.stars], [3, 6, 7, 3, 16]);
        assert.deepEqual(fs.readdirSync(empty), []);
        fs.rmSync(empty, { recursive: true });
    });

    test('without --db it is universe.db here', () => {
        const here = folder();
        succeed(['generate', '--id', 'u', '--quiet'], { cwd: here });
        assert.ok(fs.existsSync(path.join(here, 'universe.db')));
        fs.rmSync(here, { recursive: true });
    });
});

describe('settings', () => {
    test('lines that make no sense end with 2 before anything is opened', () => {
        const cases = [
            [/unknown command/, ['sing']],
            [/missing ID/, ['export']],
            [/--json needs a FILE/, ['export', 'u', '--json']],
            [/DB_PROVIDER/, ['serve'], { DB_PROVIDER: 'oracle' }],
            [/DATABASE_URL/, ['serve'], { DB_PROVIDER: 'postgres' }],
            [/PORT/, ['serve'], { PORT: 'eighty' }],
            [/default-dt/, ['serve', '--default-dt', '0', '--db', 'memory']],
            [/default-dt/, ['serve', '--db', 'memory'], { TICK_DEFAULT_DT: 'nan' }],
            [/is for --transport http/, ['serve', '--transport', 'stdio', '--port', '1']],
            [/others can reach.*AUTH_TOKEN/, ['serve', '--host', '0.0.0.0', '--port', '0']],
            [/AUTH_TOKEN has a token of 6 characters/, ['serve', '--db', 'memory', '--port', '0'], { AUTH_TOKEN: 'secret' }],
            [/AUTH_TOKENS has a token with characters/, ['serve', '--db', 'memory', '--port', '0'], { AUTH_TOKENS: `${'x'.repeat(32)},${'ä'.repeat(32)}` }],
            [/contradicts.*AUTH_TOKEN/, ['serve', '--db', 'memory', '--port', '0', '--insecure-no-auth'], { AUTH_TOKEN: 'x'.repeat(32) }],
            [/cannot be opened for the log/, ['serve', '--log-file', 'no/such/log', '--db', 'memory', '--port', '0']],
        ];
        for (const [words, args, env] of cases) {
            const done = run(args, { env });
            assert.equal(done.status, 2, `${args}: ${done.stderr}`);
            assert.match(done.stderr, words);
        }
        assert.equal(fs.existsSync(path.join(dir, 'universe.db')), false);
    });

    test('--help and --version', () => {
        for (const name of ['serve', 'list', 'export', 'import', 'generate', 'replay']) {
            assert.match(succeed(['--help']).stdout, new RegExp(`^  ${name} `, 'm'));
            assert.match(succeed([name, '--help']).stdout, /--db/);
        }
        assert.match(succeed(['--version']).stdout, /^universe \d+\.\d+\.\d+\n$/);
    });

    test('variables stand in for flags, and the log is JSON', async () => {
        const db = sqlite();
        const log = path.join(dir, 'serve.log');
        const child = spawn(program, ['serve'], { stdio: ['ignore', 'ignore', 'pipe'], cwd: dir, env: environment({
            PORT: '0', BIND: 'localhost', DB_PROVIDER: 'sqlite', DATABASE_URL: db.url, LOG_LEVEL: 'trace', LOG_FILE: log,
            CORS_ORIGINS: 'https://a.example, https://b.example', TICK_DEFAULT_DT: '2.5', INLINE_STATE_BYTES: '0' }) });
        const server = { child, log: '' };
        servers.push(server);
        child.stderr.setEncoding('utf8').on('data', (text) => { server.log += text; });
        server.base = await until(() => /serving (http:\S+)\/mcp/.exec(server.log)?.[1], 'the address');
        await create(server, 'u');
        const tick = await rest(server, 'POST', '/universes/u/commands', { type: 'tick' });
        assert.deepEqual([tick.json.time, tick.json.stateOmitted], [2.5, true]);
        const cors = await rest(server, 'GET', '/health', undefined, { Origin: 'https://b.example' });
        assert.equal(cors.headers.get('access-control-allow-origin'), 'https://b.example');
        const none = await rest(server, 'GET', '/health', undefined, { Origin: 'https://c.example' });
        assert.equal(none.headers.get('access-control-allow-origin'), null);
        const gone = once(child, 'exit');
        child.kill('SIGINT');
        assert.deepEqual(await gone, [0, null]);
        const lines = server.log.split('\n').filter((line) => line && !/^universe: (the page is|serving) http:/.test(line));
        assert.equal(fs.readFileSync(log, 'utf8').trimEnd(), lines.join('\n'));
        const records = lines.map((line) => JSON.parse(line));
        for (const one of records) {
            assert.match(one.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
            assert.match(one.component, /^(command-service|command-gateway|mcp-server|database)$/);
        }
        const command = records.find((one) => one.type === 'tick');
        assert.deepEqual([command.component, command.universeId, command.outcome, command.level],
            ['command-gateway', 'u', 'applied', 'debug']);
        assert.ok(command.durationMs > 0);
        db.close();
    });

    test('--strict-schema takes each command as it is listed and nothing else; --no-negative-dt holds time to one way', async () => {
        const server = await start('memory', '--strict-schema', '--no-negative-dt');
        servers.push(server);
        await create(server, 'u');
        const peer = await connect(server);
        const send = (command) => call(peer, 'send_universe_command', { universeId: 'u', command });
        const { tools } = await peer.client.listTools();
        const { inputSchema } = tools.find(({ name }) => name === 'send_universe_command');
        assert.deepEqual(inputSchema.required, ['universeId', 'command']);
        assert.deepEqual(inputSchema.properties.command.required, ['type']);
        assert.equal(inputSchema.properties.command.oneOf.length, 25);
        const listed = await call(peer, 'list_universe_commands', { universeId: 'u' });
        const examples = [...listed.text.matchAll(/```jsonl\n([^]*?)\n```/g)].flatMap(([, lines]) => lines.split('\n'));
        for (const example of ['{"type":"tick"}', ...examples]) {
            const { isError, text } = await send(JSON.parse(example));
            assert.equal(isError, false, `${example}: ${text}`);
        }
        for (const command of [{ type: 'Tick' }, { type: 'tick', step: 1 }, { type: 'addStar', id: 'a', payload: { name: 'A' } }]) {
            const { isError, json } = await send(command);
            assert.equal(isError, true);
            assert.equal(json.error, 'Invalid arguments');
            assert.equal(json.universeId, 'u');
        }
        assert.equal((await send({ type: 'tick', dt: -1 })).json.events[0].path, '/dt');
        await disconnect(peer);
    });

    test('tokens of variables are asked for, and the page is said', async () => {
        const [one, two, three] = ['1', '2', '3'].map((digit) => digit.repeat(32));
        const child = spawn(program, ['serve', '--host', '0.0.0.0', '--db', 'memory', '--port', '0'], { stdio: ['ignore', 'ignore', 'pipe'], cwd: dir,
            env: environment({ AUTH_TOKEN: one, AUTH_TOKENS: `${two}, ${three}` }) });
        const server = { child, log: '' };
        servers.push(server);
        child.stderr.setEncoding('utf8').on('data', (text) => { server.log += text; });
        const port = await until(() => /^universe: serving http:\S+:(\d+)\/mcp$/m.exec(server.log)?.[1], 'the address');
        assert.match(server.log, new RegExp(`^universe: the page is http://0\\.0\\.0\\.0:${port}/$`, 'm'));
        server.base = `http://127.0.0.1:${port}`;
        for (const token of [one, two, three])
            assert.equal((await rest(server, 'GET', '/universes', undefined, { Authorization: `Bearer ${token}` })).status, 200);
        for (const headers of [{}, { Authorization: `Bearer ${'4'.repeat(32)}` }, { Authorization: `Bearer ${two}${three}` }]) {
            assert.equal((await rest(server, 'GET', '/universes', undefined, headers)).status, 401);
            assert.equal((await rest(server, 'POST', '/mcp', {}, headers)).status, 401);
        }
        assert.equal((await rest(server, 'GET', '/')).status, 200);
        const gone = once(child, 'exit');
        child.kill('SIGTERM');
        assert.deepEqual(await gone, [0, null]);
    });

    test('on standard output there is nothing but MCP', () => {
        const message = (id, method, params) => JSON.stringify({ jsonrpc: '2.0', id, method, params });
        const input = [
            message(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }),
            JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
            message(2, 'tools/call', { name: 'send_universe_command', arguments: { universeId: 'u', command: { type: 'tick' } } }),
            'no JSON', '',
        ].join('\n');
        const done = run(['serve', '--transport', 'stdio', '--db', 'memory', '--log-level', 'trace'], { input, env: { AUTH_TOKEN: 'short' } });
        assert.equal(done.status, 0, done.stderr);
        const lines = done.stdout.trimEnd().split('\n').map((line) => JSON.parse(line));
        assert.equal(lines.length, 3);
        for (const line of lines)
            assert.equal(line.jsonrpc, '2.0');
        assert.doesNotMatch(done.stderr, /the page|serving/);
    });

    test('one revision can be pinned, by a flag or by its variable', () => {
        const initialize = (protocolVersion) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize',
            params: { protocolVersion, capabilities: {}, clientInfo: { name: 't', version: '1' } } }) + '\n';
        const answer = (args, env) => {
            const done = run(['serve', '--transport', 'stdio', '--db', 'memory', '--log-level', 'off', ...args],
                { input: initialize('2025-11-25'), env });
            assert.equal(done.status, 0, done.stderr);
            return JSON.parse(done.stdout);
        };
        assert.equal(answer([]).result.protocolVersion, '2025-11-25');
        assert.equal(answer(['--revision', '2025-03-26']).result.protocolVersion, '2025-03-26');
        assert.equal(answer([], { UNIVERSE_REVISION: '2025-03-26' }).result.protocolVersion, '2025-03-26');
        assert.equal(answer(['--revision=2025-03-26', '--strict-version']).error.code, -32602);
    });

    test('names of tools can be in the safe form', () => {
        const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }) + '\n';
        const done = run(['serve', '--transport', 'stdio', '--db', 'memory', '--tool-names', 'safe'], { input: list });
        assert.equal(done.status, 0, done.stderr);
        for (const { name } of JSON.parse(done.stdout).result.tools)
            assert.match(name, /^[A-Za-z0-9_]+$/);
    });

    test('a server that is read only changes nothing', async () => {
        const db = sqlite();
        succeed(['import', write('one.json', oneStar), '--id', 'one', '--db', db.url]);
        const server = await serving(db.url, '--read-only');
        assert.equal((await rest(server, 'POST', '/universes/one/commands', { type: 'tick' })).status, 403);
        assert.equal((await rest(server, 'DELETE', '/universes/one')).status, 403);
        assert.deepEqual((await rest(server, 'GET', '/universes/one')).json.state, oneStar);
        await stop(server);
        db.close();
    });
});

describe('the end', () => {
    test('SIGTERM ends open streams and the program, and nothing acknowledged is lost', async () => {
        const db = sqlite();
        const server = await serving(db.url);
        await create(server, 'u');
        const streams = await Promise.all(Array.from({ length: 20 }, () => fetch(`${server.base}/universes/u/events`)));
        const texts = streams.map((stream) => stream.text());
        for (let i = 0; i < 10; i++)
            assert.equal((await rest(server, 'POST', '/universes/u/commands', { type: 'tick' })).status, 200);
        const gone = once(server.child, 'exit');
        server.child.kill('SIGTERM');
        assert.deepEqual(await gone, [0, null]);
        /* A stream may end before the last events are sent: what came has no gap, and who comes
         * back gets the rest. */
        const seen = (await Promise.all(texts)).map((text) =>
            [...text.matchAll(/^id: (\d+)$/gm)].map((id) => Number(id[1])).filter((id) => id > 0));
        const next = await serving(db.url);
        for (const versions of seen) {
            const viewer = await Viewer.open(next, 'u', { after: versions.length });
            await viewer.until(() => versions.length + viewer.versions.length >= 10, 'the rest');
            assert.deepEqual([...versions, ...viewer.versions], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
            viewer.close();
        }
        await stop(next);
        assert.equal(JSON.parse(succeed(['export', 'u', '--db', db.url]).stdout).time, 10);
        db.close();
    });
});

test('the demo of the README runs', () => {
    const done = spawnSync(process.execPath, [path.join(root, 'examples', 'universe-demo.mjs')],
        { encoding: 'utf8', timeout: DEADLINE_MS });
    assert.equal(done.status, 0, done.stderr);
    assert.match(done.stdout, /viewer < version 4: {"type":"tick","dt":60}/);
    /* 60 degrees of a circle of 50 */
    assert.match(done.stdout, /earth is at 25\.00, 0\.00, 43\.30/);
});

describe('a server over stdio without --db', () => {
    const hello = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } } })}\n`;
    const stdio = (env) => run(['serve', '--transport', 'stdio'], { env, cwd: '/', input: hello });

    test('has its database in the state of the user, and says where', () => {
        const home = path.join(dir, 'home'), state = path.join(dir, 'state');
        fs.mkdirSync(home);
        for (const [env, place] of [[{ HOME: home, XDG_STATE_HOME: '' }, path.join(home, '.local', 'state')],
            [{ HOME: home, XDG_STATE_HOME: state }, state], [{ HOME: '', XDG_STATE_HOME: state }, state]]) {
            const { status, stdout, stderr } = stdio(env);
            assert.equal(status, 0, stderr);
            assert.equal(JSON.parse(stdout).result.serverInfo.name, 'universe');
            const file = path.join(place, 'causeway', 'universe.db');
            assert.match(stderr, new RegExp(`the database is sqlite:${file}`));
            assert.ok(fs.existsSync(file));
            assert.equal(fs.statSync(path.dirname(file)).mode & 0o777, 0o700);
        }
    });

    test('names the way out where the user has none', () => {
        const { status, stdout, stderr } = stdio({ HOME: '', XDG_STATE_HOME: '' });
        assert.equal(status, 2);
        assert.equal(stdout, '');
        assert.match(stderr, /neither HOME nor XDG_STATE_HOME is set; set one, or --db sqlite:\/PATH\/universe\.db/);
        assert.equal(fs.existsSync('/universe.db'), false);
    });

    test('has the one that is named otherwise', () => {
        const file = path.join(dir, 'named.db');
        for (const env of [{ UNIVERSE_DB: `sqlite:${file}` }, { DATABASE_URL: `sqlite:${file}` }, { DB_PROVIDER: 'memory' }]) {
            const { status, stderr } = stdio({ HOME: '', XDG_STATE_HOME: '', ...env });
            assert.equal(status, 0, stderr);
        }
        assert.ok(fs.existsSync(file));
    });
});
