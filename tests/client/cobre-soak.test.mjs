/*
 * cobre-soak.test.mjs - mixed calls of several clients at once, good and hostile, for some seconds
 * (CAUSEWAY_SOAK_SECONDS, 5 by default): every answer is a result or a record, none an internal
 * error, and the server keeps no descriptor.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { answer, call, record, refusal, workshop } from './support/cobre.mjs';

const SECONDS = Number(process.env.CAUSEWAY_SOAK_SECONDS ?? 5);
const CLIENTS = 4;
let shop, clients, server, dir, output;

before(async () => {
    shop = workshop('soak');
    dir = shop.copyCase('four-stages', 'a', { iterations: 3, scenarios: 5 });
    const first = await shop.connect('2025-11-25', 'stdio', ['--allow-write']);
    output = answer(await call(first, 'cobre/run', { case_dir: dir })).output_dir;
    server = first.transport.pid;
    clients = [first];
    for (let i = 1; i < CLIENTS; i++)
        clients.push(await shop.connect(i % 2 ? '2026-07-28' : '2025-06-18', 'http', ['--allow-write']));
});

after(() => shop.close());

const pick = (list) => list[Math.floor(Math.random() * list.length)];
const paths = () => pick([dir, output, `${output}/`, `${dir}/../four-stages`, '/etc', '/', '', 'x', `${dir}\u0000`, '/proc/self/fd/0', 'a'.repeat(5000)]);
const odd = () => pick([null, -1, 1e308, 'x', [], {}, [[]], '\u0000', "'; DROP TABLE x; --", [0, 1], true, ['a', 1, null]]);
const filters = () => pick([undefined, {}, { limit: 2 }, { entity_id: pick([10, 'Serra Azul', 'none', odd()]) },
    { stage_range: pick([[0, 1], [1, 0], odd()]) }, { columns: pick([['stage_id'], ['none'], odd()]) }, odd()]);
const types = () => pick(['hydros', 'thermals', 'buses', 'lines', 'costs', 'exchanges', 'none', odd()]);

const tools = [
    () => ['cobre/validate', { case_dir: paths() }],
    () => ['cobre/inspect-case', { case_dir: paths() }],
    () => ['cobre/list-scenarios', { case_dir: paths() }],
    () => ['cobre/query-results', { output_dir: paths(), entity_type: types(), filters: filters() }],
    () => ['cobre/query-convergence', { output_dir: paths(), iteration_range: pick([undefined, [1, 2], odd()]) }],
    () => ['cobre/export-results', { output_dir: paths(), format: pick(['csv', 'json', 'arrow', odd()]), entity_type: types() }],
    () => ['cobre/inspect-policy', { policy_dir: `${paths()}/policy`, stage: pick([undefined, 1, 99, odd()]) }],
    () => ['cobre/compare-policies', { policy_dirs: pick([[paths(), paths()], odd()]) }],
    () => ['cobre/get-config-schema', pick([{}, { x: odd() }])],
    () => ['cobre/run', { case_dir: pick(['/etc', `${dir}/none`]), phases: pick(['both', ['training'], odd()]) }],
];
const templates = [`cobre://case/@/config`, `cobre://case/@/entities/hydros`, `cobre://case/@/scenarios/10`, `cobre://output/@/convergence`,
    `cobre://output/@/results/costs`, `cobre://output/@/policy/summary`, 'ui://cobre/convergence', '@'];

/** An error of the protocol is one of the client's making. */
function refusedBy(error) {
    assert.ok([-32602, -32002].includes(error.code), `${error.code} ${error.message}`);
    if (error.data?.kind)
        record(error.data);
}

async function once(client) {
    if (Math.random() < 0.7) {
        const [name, args] = pick(tools)();
        const result = await call(client, name, args);
        if (result.isError)
            refusal(result);
        else
            answer(result);
    } else if (Math.random() < 0.8) {
        await client.readResource({ uri: pick(templates).replace('@', encodeURIComponent(paths())) });
    } else {
        await client.getPrompt({ name: pick(['cobre/compare-runs', 'cobre/explain-results']), arguments: { output_dirs: '/a,/b', output_dir: '/o',
            entity_type: pick(['hydros', 'x']), metric: 'storage' } });
    }
}

const descriptors = () => fs.readdirSync(`/proc/${server}/fd`).length;

test('mixed calls', async () => {
    for (let i = 0; i < 50; i++)
        await once(clients[0]).catch(refusedBy);
    const held = descriptors();
    const until = Date.now() + SECONDS * 1000;
    let count = 0;
    await Promise.all(clients.flatMap((client) => [client, client]).map(async (client) => {
        while (Date.now() < until) {
            await once(client).catch(refusedBy);
            count++;
        }
    }));
    assert.ok(count > CLIENTS, `${count} calls`);
    assert.ok(descriptors() <= held + 2, `${descriptors()} descriptors, ${held} before`);
    assert.equal(answer(await call(clients[0], 'cobre/validate', { case_dir: dir })).valid, true);
    /* By chance there was none: its folder is there now. */
    answer(await call(clients[0], 'cobre/export-results', { output_dir: output, format: 'csv', entity_type: 'hydros' }));
    assert.ok(!fs.readdirSync(path.join(output, 'exports')).some((name) => name.endsWith('.tmp')));
});
