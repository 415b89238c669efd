/*
 * universe.test.mjs - the scenarios MCP-1 to MCP-25 of the contract, each by its number: the
 * official clients against the real server, on both databases, under each revision that has
 * sessions. Under the revision without them all but the scenarios of sessions hold.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import {
    ERAS, DATABASES, Viewer, addStar, call, connect, create, createAnew, disconnect, rest, send, start, stop, until,
} from './universe.mjs';

const NAMES = ['get_universe_state', 'list_universe_commands', 'send_universe_command'];
const FIELDS = ['belts', 'groups', 'nebulae', 'protoplanetaryDisks', 'rootGroupIds', 'rootIds', 'smallBodyFields',
    'stars', 'time'];
const CATEGORIES = {
    'Simulation': ['tick'],
    'Star CRUD': ['addStar', 'updateStar', 'removeStar'],
    'Star hierarchy': ['attachStar', 'detachStar'],
    'Group CRUD': ['addGroup', 'updateGroup', 'removeGroup'],
    'Group hierarchy': ['addToGroup', 'removeFromGroup', 'moveToGroup'],
    'Small body fields': ['setSmallBodyFields', 'updateSmallBodyField', 'removeSmallBodyField'],
    'Protoplanetary disks': ['setProtoplanetaryDisks', 'addProtoplanetaryDisk', 'updateProtoplanetaryDisk',
        'removeProtoplanetaryDisk'],
    'Nebulae': ['setNebulae', 'updateNebula', 'removeNebula'],
    'Rings': ['updateRing', 'removeRing'],
    'Snapshot': ['replaceSnapshot'],
};
const BOTH = 'application/json, text/event-stream';

/** What makes each commit of the log fail, from outside the server; and what ends it. */
const FAULT = {
    SQLite: [
        "CREATE TRIGGER fault BEFORE INSERT ON universe_commands BEGIN SELECT RAISE(ABORT, 'the disk burns'); END",
        'DROP TRIGGER fault',
    ],
    PostgreSQL: [
        "CREATE FUNCTION burn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the disk burns'; END $$; "
        + 'CREATE TRIGGER fault BEFORE INSERT ON universe_commands FOR EACH ROW EXECUTE FUNCTION burn()',
        'DROP TRIGGER fault ON universe_commands; DROP FUNCTION burn()',
    ],
};

for (const makeDatabase of DATABASES) {
    describe(`universe on ${makeDatabase.name}`, () => {
        let db, server;

        before(async () => {
            db = makeDatabase();
            server = await start(db.url);
        });
        after(async () => {
            await stop(server, /the disk burns|were not committed|"u-42".*input\/output error/);
            db.close();
        });
        for (const era of ERAS)
            describe(`under ${era.name}`, () => scenarios(era, () => ({ db, server })));
    });
}

function scenarios(era, place) {
    let db, server, peer;
    const sessions = era.sessions ? test : () => {};

    before(async () => {
        ({ db, server } = place());
        await createAnew(server, 'u-1');
        await createAnew(server, 'u-42');
        peer = await connect(server, era);
    });
    after(() => disconnect(peer));

    const tool = async (name) => (await peer.client.listTools()).tools.find((one) => one.name === name);
    const tick = (id) => call(peer, 'send_universe_command', { universeId: id, command: { type: 'tick' } });
    const state = (id) => call(peer, 'get_universe_state', { universeId: id });

    /* ---- tool registration ---- */

    test('MCP-1 exactly the three tools', async () => {
        const { tools } = await peer.client.listTools();
        assert.deepEqual(tools.map(({ name }) => name).sort(), NAMES);
    });

    test('MCP-2 each has a name, a description and an input schema', async () => {
        for (const { name, description, inputSchema } of (await peer.client.listTools()).tools) {
            assert.ok(name.length > 0);
            assert.ok(description.length > 0);
            assert.equal(inputSchema.type, 'object');
        }
    });

    for (const [number, name] of [[3, NAMES[0]], [4, NAMES[1]]]) {
        test(`MCP-${number} ${name} wants universeId, a string`, async () => {
            const { inputSchema } = await tool(name);
            assert.deepEqual(inputSchema.required, ['universeId']);
            assert.equal(inputSchema.properties.universeId.type, 'string');
        });
    }

    test('MCP-5 send_universe_command wants universeId and a command with a type', async () => {
        const { inputSchema } = await tool('send_universe_command');
        const { universeId, command } = inputSchema.properties;
        assert.deepEqual(inputSchema.required.toSorted(), ['command', 'universeId']);
        assert.equal(universeId.type, 'string');
        assert.equal(command.type, 'object');
        assert.equal(command.properties.type.type, 'string');
        assert.deepEqual(command.required, ['type']);
    });

    /* ---- what the tools do ---- */

    test('MCP-6a the state of u-1 as it is stored', async () => {
        await send(server, 'u-1', { type: 'tick', dt: 2.5 });
        const stored = (await rest(server, 'GET', '/universes/u-1')).json.state;
        const { json } = await state('u-1');
        assert.deepEqual(Object.keys(json).sort(), FIELDS);
        assert.deepEqual(json, stored);
        assert.equal(json.time, 2.5);
    });

    test('MCP-6b a universe of three stars has three stars', async () => {
        await createAnew(server, 'u-three');
        for (const id of ['alpha', 'beta', 'gamma'])
            await send(server, 'u-three', addStar(id));
        const { json } = await state('u-three');
        assert.deepEqual(Object.keys(json.stars).sort(), ['alpha', 'beta', 'gamma']);
        assert.deepEqual(json.rootIds, ['alpha', 'beta', 'gamma']);
        assert.deepEqual(json.stars.beta, {
            id: 'beta', name: 'beta', mass: 1, radius: 1, color: '#4A90E2', parentId: null, orbitalDistance: 0,
            orbitalSpeed: 0, orbitalPhase: 0, children: [],
        });
    });

    test('MCP-7 the commands are listed, whatever the universe holds', async () => {
        const list = (id) => call(peer, 'list_universe_commands', { universeId: id });
        await createAnew(server, 'u-empty');
        await createAnew(server, 'u-full');
        await send(server, 'u-full', addStar('sol'));
        const { result, text, isError } = await list('u-full');
        assert.equal(isError, false);
        for (const [category, commands] of Object.entries(CATEGORIES)) {
            const section = text.split(/^#+ /m).find((part) => part.startsWith(category));
            assert.ok(section, category);
            for (const type of commands)
                assert.match(section, new RegExp(`\\b${type}\\b`));
        }
        assert.deepEqual((await list('u-empty')).result, result);
        assert.deepEqual(JSON.parse(result.content[1].text).commandTypes.toSorted(), Object.values(CATEGORIES).flat().sort());
    });

    test('MCP-8 a tick goes the way of REST: it is applied, stored and broadcast', async () => {
        const viewer = await Viewer.open(server, 'u-1');
        const { json: before } = await rest(server, 'GET', '/universes/u-1');
        const { json, isError } = await tick('u-1');
        assert.equal(isError, false);

        const { json: next } = await rest(server, 'GET', '/universes/u-1');
        assert.equal(next.version, before.version + 1);
        assert.equal(next.state.time, before.state.time + 1);
        const [row] = db.sql("SELECT version, time FROM universes WHERE id = 'u-1'");
        assert.deepEqual([row.version, row.time], [next.version, next.state.time]);
        await viewer.until(() => viewer.events.length > 0, 'the tick');
        assert.deepEqual(viewer.events, [{ event: 'command', id: next.version, data: { type: 'tick', dt: 1 } }]);
        viewer.close();

        const door = await rest(server, 'POST', '/universes/u-1/commands', { type: 'tick' });
        assert.equal(door.status, 200);
        assert.deepEqual(Object.keys(door.json), Object.keys(json));
        assert.deepEqual(door.json.nextState, { ...json.nextState, time: json.nextState.time + 1 });
    });

    test('MCP-9 the answer to a command holds the state after it', async () => {
        await createAnew(server, 'u-next');
        const { json } = await call(peer, 'send_universe_command', { universeId: 'u-next', command: addStar('sol') });
        assert.deepEqual(json.events, [{ type: 'starAdded', id: 'sol' }]);
        assert.deepEqual(json.nextState, (await state('u-next')).json);
        assert.ok(json.nextState.stars.sol);
    });

    /* ---- the form of answers ---- */

    test('MCP-10 every answer is text that is not empty, errors too', async () => {
        const answers = await Promise.all([
            state('u-1'), state('u-missing'), tick('u-1'), tick('u-missing'),
            call(peer, 'list_universe_commands', { universeId: 'u-1' }),
            call(peer, 'list_universe_commands', { universeId: 'u-missing' }),
            call(peer, 'list_universe_commands', { universeId: 'u-1', category: 'rings' }),
            call(peer, 'list_universe_commands', { universeId: 'u-1', category: 'nothing' }),
            call(peer, 'get_universe_state', {}),
            call(peer, 'send_universe_command', { universeId: 'u-1' }),
            call(peer, 'send_universe_command', { universeId: 'u-1', command: {} }),
            call(peer, 'send_universe_command', { universeId: 'u-1', command: { type: 'explode' } }),
        ]);
        assert.deepEqual(answers.map(({ isError }) => isError),
            [false, true, false, true, false, true, false, true, true, true, true, true]);
        for (const { result } of answers) {
            assert.ok(result.content.length > 0);
            for (const { type, text } of result.content) {
                assert.equal(type, 'text');
                assert.ok(text.length > 0);
            }
        }
    });

    test('MCP-11 a success is not an error', async () => {
        const { result } = await state('u-1');
        assert.ok(result.isError === undefined || result.isError === false);
    });

    test('MCP-12 the text is the state as JSON', async () => {
        const { result } = await state('u-1');
        assert.equal(result.content.length, 1);
        const parsed = JSON.parse(result.content[0].text);
        assert.deepEqual(Object.keys(parsed).sort(), FIELDS);
    });

    test('MCP-13 all ten categories are named', async () => {
        const { text } = await call(peer, 'list_universe_commands', { universeId: 'u-1' });
        for (const category of Object.keys(CATEGORIES))
            assert.ok(text.includes(category), category);
    });

    /* ---- errors ---- */

    test('MCP-14a the state of a universe that is not there', async () => {
        const { isError, json } = await state('u-missing');
        assert.equal(isError, true);
        assert.deepEqual(json, { error: 'Universe not found', universeId: 'u-missing' });
    });

    test('MCP-14b a command to a universe that is not there', async () => {
        const { isError, json } = await tick('u-missing');
        assert.equal(isError, true);
        assert.deepEqual(json, { error: 'Universe not found', universeId: 'u-missing' });
    });

    /* The fault of the reducer itself: tests/unit/servers/universe/service/test_commit_batch.c */
    test('MCP-15 a failure on the way is an error with words, and nothing else fails', async () => {
        const [begin, end] = FAULT[db.name];
        const before = (await rest(server, 'GET', '/universes/u-42')).json;
        db.sql(begin);
        try {
            const { isError, json, text } = await tick('u-42');
            assert.equal(isError, true);
            assert.equal(json.error, 'Command processing failed');
            assert.equal(json.universeId, 'u-42');
            assert.ok(json.message.length > 0);
            assert.doesNotMatch(text, /disk burns/); /* the log's, not the client's */
            assert.equal((await state('u-42')).isError, false);
            const door = await rest(server, 'POST', '/universes/u-42/commands', { type: 'tick' });
            assert.equal(door.status, 500);
            assert.deepEqual(door.json, { error: 'Internal server error' });
        } finally {
            db.sql(end);
        }
        assert.deepEqual((await rest(server, 'GET', '/universes/u-42')).json, before);
        const { isError, json } = await tick('u-42');
        assert.equal(isError, false);
        assert.equal(json.nextState.time, before.state.time + 1);
        assert.equal((await rest(server, 'GET', '/universes/u-42')).json.version, before.version + 1);
    });

    test('MCP-16 an error names its universe', async () => {
        await rest(server, 'DELETE', '/universes/u-42');
        const errors = [
            await state('u-42'), await tick('u-42'), await call(peer, 'list_universe_commands', { universeId: 'u-42' }),
        ];
        await create(server, 'u-42');
        errors.push(
            await call(peer, 'send_universe_command', { universeId: 'u-42', command: { type: 'removeStar', id: 'x' } }),
            await call(peer, 'send_universe_command', { universeId: 'u-42', command: { type: 'explode' } }),
            await call(peer, 'send_universe_command', { universeId: 'u-42', command: { type: 'tick' }, expectedVersion: 7 }),
            await call(peer, 'send_universe_command', { universeId: 'u-42' }),
            await call(peer, 'get_universe_state', { universeId: 'u-42', limit: 0 }),
        );
        for (const { isError, text, json } of errors) {
            assert.equal(isError, true, text);
            assert.equal(json.universeId, 'u-42', text);
        }
        const [, , , removed, unknown, conflict, missing] = errors;
        assert.equal(removed.json.reason, 'starNotFound');
        assert.equal(unknown.json.reason, 'unknownCommand');
        assert.equal(conflict.json.error, 'versionConflict');
        assert.equal(missing.json.error, 'Invalid arguments');
    });

    /* ---- transport and sessions ---- */

    const rpc = (body, headers = {}, method = 'POST') =>
        rest(server, method, '/mcp', body, { Accept: BOTH, ...headers });
    const initialize = (headers) => rpc({
        jsonrpc: '2.0', id: 1, method: 'initialize',
        params: { protocolVersion: era.revision, capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    }, headers);
    const open = async () => {
        const { headers } = await initialize();
        const named = { 'mcp-session-id': headers.get('mcp-session-id'), 'mcp-protocol-version': era.revision };
        await rpc({ jsonrpc: '2.0', method: 'notifications/initialized' }, named);
        return named;
    };
    const close = (named) => rpc(undefined, named, 'DELETE');

    sessions('MCP-17 initialize is answered with a result and a session', async () => {
        const { status, headers, json } = await initialize();
        assert.equal(status, 200);
        assert.equal(json.result.protocolVersion, era.revision);
        assert.equal(json.result.serverInfo.name, 'universe');
        assert.match(headers.get('mcp-session-id'), /^[\x21-\x7e]{16,}$/);
        assert.ok(peer.transport.sessionId.length > 0);
    });

    sessions('MCP-18a POST with the session calls a tool', async () => {
        const named = await open();
        const { status, json } = await rpc({
            jsonrpc: '2.0', id: 7, method: 'tools/call',
            params: { name: 'get_universe_state', arguments: { universeId: 'u-1' } },
        }, named);
        assert.equal(status, 200);
        assert.equal(json.id, 7);
        assert.deepEqual(Object.keys(JSON.parse(json.result.content[0].text)).sort(), FIELDS);
        await close(named);
    });

    sessions('MCP-18b GET with the session opens a stream', async () => {
        const named = await open();
        const stream = await Viewer.open(server, null, { path: '/mcp', headers: named });
        assert.equal(stream.status, 200);
        assert.equal(stream.answer.headers['content-type'].split(';')[0], 'text/event-stream');
        assert.equal(stream.closed, false);
        stream.close();
        await close(named);
    });

    sessions('MCP-18c DELETE with the session ends it', async () => {
        const named = await open();
        const { status } = await close(named);
        assert.ok(status === 200 || status === 204, String(status));
    });

    sessions('MCP-19 two clients have two sessions', async () => {
        const other = await connect(server, era);
        assert.notEqual(other.transport.sessionId, peer.transport.sessionId);
        await Promise.all([tick('u-1'), call(other, 'get_universe_state', { universeId: 'u-1' })]);
        await other.transport.terminateSession();
        await disconnect(other);
        assert.equal((await tick('u-1')).isError, false);
    });

    sessions('MCP-20 the header mcp-session-id is there and says something', async () => {
        const { headers } = await initialize();
        assert.ok(headers.get('mcp-session-id').length > 0);
    });

    sessions('MCP-21 initialize without a session makes a new one each time', async () => {
        const ids = [];
        for (const headers of [{}, {}, { 'mcp-session-id': 'session-expired' }]) {
            const answer = await initialize(headers);
            assert.equal(answer.status, 200);
            ids.push(answer.headers.get('mcp-session-id'));
        }
        assert.equal(new Set(ids).size, 3);
        const other = await rpc({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
        assert.equal(other.status, 400);
        assert.equal(other.json.error.code < 0, true);
    });

    sessions('MCP-22 what is ended stays ended, and its stream with it', async () => {
        const named = await open();
        const stream = await Viewer.open(server, null, { path: '/mcp', headers: named });
        assert.equal((await close(named)).status, 200);
        await until(() => stream.closed, 'the end of the stream');
        for (const method of ['GET', 'DELETE']) {
            const { status } = await rpc(undefined, named, method);
            assert.equal(status, 404, method);
        }
        const { status } = await rpc({ jsonrpc: '2.0', id: 3, method: 'tools/list' }, named);
        assert.equal(status, 404);
    });

    sessions('MCP-23 GET and DELETE with a session that is not there', async () => {
        for (const method of ['GET', 'DELETE']) {
            for (const [headers, expected] of [[{ 'mcp-session-id': 'session-expired' }, 404], [{}, 400]]) {
                const { status } = await rpc(undefined, headers, method);
                assert.equal(status, expected, `${method} ${JSON.stringify(headers)}`);
            }
        }
    });

    /* ---- coexistence ---- */

    test('MCP-24 the routes next to /mcp answer as ever', async () => {
        const health = await rest(server, 'GET', '/health');
        assert.equal(health.status, 200);
        assert.deepEqual(Object.keys(health.json), ['ok', 'uptime']);
        assert.equal(health.json.ok, true);
        assert.ok(Number.isInteger(health.json.uptime));
        const list = await rest(server, 'GET', '/universes');
        assert.equal(list.status, 200);
        assert.ok(list.json.some(({ id }) => id === 'u-1'));
        const command = await rest(server, 'POST', '/universes/u-1/commands', { type: 'tick' });
        assert.equal(command.status, 200);
        assert.deepEqual(command.json.events, []);
        assert.deepEqual(Object.keys(command.json.nextState).sort(), FIELDS);
    });

    test('MCP-25 the stream of MCP and the stream of commands leave each other alone', async () => {
        const named = era.sessions ? await open() : null;
        const stream = named && await Viewer.open(server, null, { path: '/mcp', headers: named });
        const viewers = [await Viewer.open(server, 'u-1'), await Viewer.open(server, 'u-1')];
        await tick('u-1');
        await Promise.all(viewers.map((viewer) => viewer.until(() => viewer.versions.length === 1, 'the tick')));
        assert.deepEqual(viewers[0].events, viewers[1].events);
        viewers[0].close();
        await tick('u-1');
        await viewers[1].until(() => viewers[1].versions.length === 2, 'the second tick');
        viewers[1].close();
        if (stream) {
            assert.equal(stream.closed, false);
            /* no command of a universe comes by MCP's stream */
            assert.deepEqual(stream.events, []);
            stream.close();
            await close(named);
        }
        assert.equal((await tick('u-1')).isError, false);
    });
}
