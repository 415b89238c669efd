/*
 * universe-resources.test.mjs - documentation and universes as resources: what they hold, news of
 * changes that are neither lost nor a flood, suggestions for ids; by the official client.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { addStar, connect, create, disconnect, kill, rest, send, sqlite, start, stop, until } from './universe.mjs';

const TOPICS = ['system-overview', 'universe-structure', 'commands-reference', 'validation-rules', 'realtime-streaming',
    'full'];
const TYPES = 25;

let db;
let server;
let peer;

before(async () => {
    db = sqlite();
    server = await start(db.url);
    peer = await connect(server);
});

after(async () => {
    try {
        await disconnect(peer);
        await stop(server);
    } finally {
        await kill(server);
        db.close();
    }
});

const read = async (uri) => (await peer.client.readResource({ uri })).contents[0];

describe('documentation', () => {
    test('six topics, each in Markdown, the last with all of them', async () => {
        const { resources } = await peer.client.listResources();
        assert.deepEqual(resources.map(({ uri }) => uri), TOPICS.map((topic) => `docs://universe/${topic}`));
        const texts = {};
        for (const topic of TOPICS) {
            const { mimeType, text } = await read(`docs://universe/${topic}`);
            assert.equal(mimeType, 'text/markdown');
            assert.match(text, /^# /);
            texts[topic] = text;
        }
        for (const topic of TOPICS.slice(0, 5))
            assert.ok(texts.full.includes(texts[topic].trim()), topic);
    });

    test('the reference has every command, with a schema that takes it', async () => {
        const { text } = await read('docs://universe/commands-reference');
        const schema = JSON.parse(/```json\n([^]*?)\n```/.exec(text)[1]);
        assert.equal(schema.oneOf.length, TYPES);
        for (const one of schema.oneOf)
            assert.ok(text.includes(`| \`${one.title}\` |`), one.title);
    });

    test('the structure names every member that a body or another entity may have', async () => {
        const { text } = await read('docs://universe/universe-structure');
        const { text: reference } = await read('docs://universe/commands-reference');
        const { $defs } = JSON.parse(/```json\n([^]*?)\n```/.exec(reference)[1]);
        const orbit = /^orbit(Offset|Rot)[XYZ]$/; /* told in one row */
        for (const shape of ['Star', 'Group', 'SmallBodyField', 'NebulaRegion']) {
            for (const name of Object.keys($defs[shape].properties)) {
                if (!orbit.test(name))
                    assert.match(text, new RegExp(`\`${name}\\??\``), `${shape}.${name}`);
            }
        }
    });
});

describe('universes', () => {
    test('state and summary are what REST tells', async () => {
        await create(server, 'u-1');
        await send(server, 'u-1', addStar('sol'));
        const { json } = await rest(server, 'GET', '/universes/u-1');
        assert.deepEqual(JSON.parse((await read('universe://u-1/state')).text), json.state);
        const summary = JSON.parse((await read('universe://u-1/summary')).text);
        assert.deepEqual([summary.id, summary.version, summary.counts.stars], ['u-1', 1, 1]);
        await assert.rejects(read('universe://u-missing/state'), (error) => {
            assert.equal(error.code, -32002);
            assert.match(error.message, /u-missing/);
            return true;
        });
    });

    test('an id of any characters has a URI', async () => {
        const id = 'a b/c?ü#%';
        await create(server, id);
        assert.equal(JSON.parse((await read(`universe://${encodeURIComponent(id)}/summary`)).text).id, id);
    });

    test('ids are suggested by their beginnings', async () => {
        for (const id of ['alpha-1', 'alpha-2', 'beta'])
            await create(server, id);
        const suggested = async (value) => (await peer.client.complete({
            ref: { type: 'ref/resource', uri: 'universe://{id}/state' }, argument: { name: 'id', value } })).completion.values;
        assert.deepEqual((await suggested('alpha')).sort(), ['alpha-1', 'alpha-2']);
        assert.deepEqual(await suggested('gamma'), []);
        assert.ok((await suggested('')).includes('beta'));
    });

    test('news come of each change, and many changes are one', async () => {
        const heard = [];
        peer.client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => { heard.push(params.uri); });
        await create(server, 'news');
        await create(server, 'other');
        await peer.client.subscribeResource({ uri: 'universe://news/state' });
        for (let i = 0; i < 200; i++)
            await send(server, 'news', { type: 'tick' });
        await send(server, 'other', { type: 'tick' });
        /* the last word comes after the last change: a client that reads then has all */
        await until(() => heard.length > 0, 'news');
        const before = heard.length;
        await send(server, 'news', { type: 'tick' });
        await until(() => heard.length > before, 'news of the last change');
        assert.ok(heard.length < 100, `${heard.length} news of 201 changes`);
        assert.deepEqual([...new Set(heard)], ['universe://news/state']);
        await peer.client.unsubscribeResource({ uri: 'universe://news/state' });
    });
});
