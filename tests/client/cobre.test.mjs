/*
 * cobre.test.mjs - the conversation an agent has with cobre, spoken by the official TypeScript
 * client over stdio, once for each session-era revision. The client itself holds every
 * structuredContent against the tool's output schema and throws where it does not fit; the text of
 * every answer is held against the same schema here, also in the revisions that have no
 * structuredContent.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import Ajv2020 from 'ajv/dist/2020.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { until } from './support/until.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, '..', '..');
const bin = process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin');
const cases = path.join(root, 'examples', 'cases');
const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const TOOLS = [
    'cobre/validate', 'cobre/run', 'cobre/query-results', 'cobre/query-convergence',
    'cobre/inspect-policy', 'cobre/compare-policies', 'cobre/inspect-case', 'cobre/list-scenarios',
    'cobre/export-results', 'cobre/get-config-schema',
];

let scratch;
const peers = []; /* closed at the end, after any failure */
const raws = [];  /* likewise */

before(() => {
    scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'cobre-client-')));
});

after(async () => {
    await Promise.all(peers.map((client) => client.close()));
    for (const child of raws)
        child.kill('SIGKILL');
    fs.rmSync(scratch, { recursive: true, force: true });
});

/** A private copy of one of the example cases, in a folder of its own, with few scenarios: each is
 *  some files, and a sanitized build writes slowly. */
function copyCase(name, label) {
    const target = path.join(scratch, label, name);
    fs.cpSync(path.join(cases, name), target, { recursive: true });
    editConfig(target, (config) => { config.simulation.num_scenarios = 10; });
    return target;
}

function editConfig(dir, edit) {
    const file = path.join(dir, 'config.json');
    const config = JSON.parse(fs.readFileSync(file, 'utf8'));
    edit(config);
    fs.writeFileSync(file, JSON.stringify(config));
}

/** Connect a client to a cobre-mcp of its own; `negotiated()` is its revision. */
async function connect(...args) {
    const transport = new StdioClientTransport({
        command: path.join(bin, 'cobre-mcp'), args, stderr: 'pipe',
    });
    const client = new Client({ name: 'cobre-test', version: '1.0.0' });
    let negotiated = null;
    transport.setProtocolVersion = (version) => { negotiated = version; };
    let log = '';
    transport.stderr.on('data', (bytes) => { log += bytes; });
    await client.connect(transport);
    peers.push(client);
    return { client, transport, negotiated: () => negotiated, log: () => log };
}

function answer(result) {
    assert.notEqual(result.isError, true, JSON.stringify(result));
    return JSON.parse(result.content[0].text);
}

/** The result of a tool, checked against its output schema. */
function typedAnswer(tool, result) {
    const folder = path.join(root, 'servers', 'cobre', 'tools');
    const name = tool.replace('cobre/', '');
    const { outputSchema } = JSON.parse(fs.readFileSync(path.join(folder, `${name}.json`), 'utf8'));
    const $defs = JSON.parse(fs.readFileSync(path.join(folder, '_defs.json'), 'utf8'));
    const check = new Ajv2020({ strict: false }).compile({ ...outputSchema, $defs });
    const value = answer(result);
    assert.ok(check(value), `${tool}: ${JSON.stringify(check.errors)}`);
    return value;
}

function refusal(result) {
    assert.equal(result.isError, true, JSON.stringify(result));
    assert.equal(result.structuredContent, undefined);
    assert.equal(result.content.length, 1);
    const record = JSON.parse(result.content[0].text);
    assert.equal(typeof record.kind, 'string');
    assert.equal(typeof record.message, 'string');
    assert.equal(typeof record.context, 'object');
    assert.ok('suggestion' in record);
    return record;
}

const call = (client, name, args, options) =>
    client.callTool({ name, arguments: args }, undefined, options);

for (const revision of REVISIONS) {
    describe(`revision ${revision}`, () => {
        let peer;
        let dir;

        before(async () => {
            dir = copyCase('four-stages', `rev-${revision}`);
            editConfig(dir, (config) => {
                config.training.stopping_rules = [{ type: 'iteration_limit', limit: 20 }];
            });
            peer = await connect('--revision', revision, '--allow-write', '--allowed-dirs', scratch);
        });

        test('the client gets the revision and the server introduces itself', async () => {
            assert.equal(peer.negotiated(), revision);
            assert.deepEqual(peer.client.getServerVersion().name, 'cobre-mcp');
            assert.equal(peer.client.getServerVersion().version, '2.0.0');
            const capabilities = peer.client.getServerCapabilities();
            assert.deepEqual(capabilities.tools, { listChanged: false });
            await peer.client.ping();
        });

        test('tools/list has the ten tools of the contract', async () => {
            const { tools } = await peer.client.listTools();
            assert.deepEqual(tools.map((tool) => tool.name), TOOLS);
            for (const tool of tools) {
                assert.ok(tool.description.length > 20, tool.name);
                assert.equal(tool.inputSchema.type, 'object');
                assert.equal(tool.outputSchema !== undefined, revision >= '2025-06-18');
                assert.equal(tool.annotations !== undefined, revision >= '2025-03-26');
            }
        });

        test('a case is validated, inspected, trained, simulated and queried', async () => {
            const { client } = peer;

            const verdict = typedAnswer('cobre/validate', await call(client, 'cobre/validate',
                                                              { case_dir: dir }));
            assert.equal(verdict.valid, true);
            assert.deepEqual(verdict.errors, []);
            assert.equal(verdict.summary.layers_completed, 5);
            assert.equal(verdict.summary.error_count, 0);

            const summary = typedAnswer('cobre/inspect-case', await call(client, 'cobre/inspect-case',
                                                              { case_dir: dir }));
            assert.deepEqual(summary.entities, { hydros: 1, thermals: 2, buses: 1, lines: 0 });
            assert.equal(summary.stages, 4);
            assert.equal(summary.scenario_source, 'par');
            assert.deepEqual(summary.config,
                             JSON.parse(fs.readFileSync(path.join(dir, 'config.json'), 'utf8')));
            assert.ok(summary.files_present.includes('system/hydros.json'));

            const limit = 20;
            const scenarios = summary.config.simulation.num_scenarios;
            const reports = [];
            const result = typedAnswer('cobre/run', await call(
                client, 'cobre/run', { case_dir: dir },
                { onprogress: (report) => reports.push(report) }));
            assert.equal(result.status, 'completed');
            assert.equal(result.output_dir, path.join(dir, 'output'));
            assert.equal(result.training.iterations, limit);
            assert.equal(result.training.termination_reason, 'iteration_limit');
            assert.equal(result.simulation.scenarios, scenarios);
            assert.ok(result.simulation.output_files.includes('simulation/costs'));
            for (let i = 1; i < reports.length; i++)
                assert.ok(reports[i].progress > reports[i - 1].progress);
            for (const report of reports)
                assert.equal(report.total, limit + scenarios);
            assert.ok(reports.length > 5, `only ${reports.length} progress reports`);
            /* This client drops a report that comes in one piece with the answer, so the last one
             * may be missing here; the transcripts look for it. */
            assert.ok(reports.at(-1).progress > limit);
            assert.ok(reports.at(-1).progress <= limit + scenarios);

            const history = typedAnswer('cobre/query-convergence', await call(
                client, 'cobre/query-convergence', { output_dir: result.output_dir }));
            assert.equal(history.total_iterations, limit);
            assert.equal(history.iterations.length, limit);
            assert.equal(history.termination_reason, 'iteration_limit');
            assert.equal(history.iterations.at(-1).lower_bound, result.training.final_lower_bound);
            assert.equal(history.iterations.at(-1).gap, result.training.final_gap);
            for (let i = 1; i < limit; i++) {
                const [a, b] = history.iterations.slice(i - 1, i + 1);
                assert.ok(b.lower_bound >= a.lower_bound * (1 - 1e-9), `iteration ${b.iteration}`);
            }

            const part = typedAnswer('cobre/query-convergence', await call(
                client, 'cobre/query-convergence',
                { output_dir: result.output_dir, iteration_range: [2, 4] }));
            assert.deepEqual(part.iterations.map((row) => row.iteration), [2, 3, 4]);
            assert.equal(part.total_iterations, limit);

            assert.ok(fs.existsSync(path.join(result.output_dir, 'training', '_SUCCESS')));
            assert.ok(fs.existsSync(path.join(result.output_dir, 'simulation', '_SUCCESS')));
        });

        test('structuredContent comes from 2025-06-18 on and equals the text', async () => {
            const result = await call(peer.client, 'cobre/get-config-schema', {});
            const text = typedAnswer('cobre/get-config-schema', result);
            assert.equal(text.schema.type, 'object');
            if (revision >= '2025-06-18')
                assert.deepEqual(result.structuredContent, text);
            else
                assert.equal(result.structuredContent, undefined);
        });

        test('bad input gets an error record and the server continues', async () => {
            const { client } = peer;
            const missing = refusal(await call(client, 'cobre/validate', {}));
            assert.equal(missing.kind, 'SchemaViolation');
            assert.equal(missing.context.field, 'case_dir');
            const wrong = refusal(await call(client, 'cobre/validate', { case_dir: 7 }));
            assert.equal(wrong.kind, 'TypeMismatch');
            const strange = refusal(await call(client, 'cobre/run',
                                               { case_dir: dir, phases: 'everything' }));
            assert.equal(strange.kind, 'InvalidEnum');
            const surplus = refusal(await call(client, 'cobre/validate', { case_dir: dir, x: 1 }));
            assert.equal(surplus.kind, 'SchemaViolation');
            assert.equal(surplus.context.field, 'x');

            const absent = refusal(await call(client, 'cobre/validate',
                                              { case_dir: path.join(scratch, 'nowhere') }));
            assert.equal(absent.kind, 'MissingFile');
            const none = refusal(await call(client, 'cobre/query-convergence',
                                            { output_dir: path.join(scratch, 'nowhere') }));
            assert.equal(none.kind, 'OutputNotFound');

            await assert.rejects(call(client, 'cobre/none', {}), (error) => error.code === -32602);
            await client.ping();
        });
    });
}

describe('what is not allowed', () => {
    let peer;

    before(async () => {
        fs.mkdirSync(path.join(scratch, 'inside'), { recursive: true });
        fs.symlinkSync('/etc', path.join(scratch, 'inside', 'etc'));
        peer = await connect('--allowed-dirs', path.join(scratch, 'inside'));
    });

    test('every path outside is refused with the same message', async () => {
        const inside = path.join(scratch, 'inside');
        const paths = [
            '/etc', '/nowhere/at/all', `${inside}/..`, `${inside}/../outside`, `${inside}/etc`,
            `/proc/self/root${inside}/../..`, '/proc/self/root/etc', `${inside}x`, '/',
        ];
        for (const dir of paths) {
            for (const [tool, argument] of [['cobre/validate', 'case_dir'],
                                            ['cobre/inspect-case', 'case_dir'],
                                            ['cobre/query-convergence', 'output_dir']]) {
                const record = refusal(await call(peer.client, tool, { [argument]: dir }));
                assert.equal(record.kind, 'MissingFile', dir);
                assert.equal(record.message, `Path '${dir}' is not within the allowed directories`);
                assert.deepEqual(record.context, { path: dir });
                assert.ok(!JSON.stringify(record).includes(inside) || dir.includes(inside));
            }
        }
        const nul = refusal(await call(peer.client, 'cobre/validate',
                                       { case_dir: `${inside}\u0000/x` }));
        assert.equal(nul.kind, 'SchemaViolation');
    });

    test('without --allow-write the writing tools are listed with a note and refused', async () => {
        const { tools } = await peer.client.listTools();
        for (const name of ['cobre/run', 'cobre/export-results']) {
            const tool = tools.find((one) => one.name === name);
            assert.match(tool.description, /--allow-write/);
        }
        const record = refusal(await call(peer.client, 'cobre/run',
                                          { case_dir: path.join(scratch, 'inside') }));
        assert.equal(record.kind, 'IncompatibleSettings');
        assert.equal(record.message, 'Write operations are disabled. Start the server with '
                     + '--allow-write to enable training and export.');
    });
});

describe('a run and its client', () => {
    let peer;
    let dir;

    before(async () => {
        dir = copyCase('four-stages', 'long');
        editConfig(dir, (config) => {
            config.training.stopping_rules = [{ type: 'iteration_limit', limit: 100000 }];
        });
        peer = await connect('--allow-write', '--allowed-dirs', scratch);
    });

    test('cancelling stops it, unlocks the directory, and leaves no marker',
         async () => {
        const { client } = peer;
        const abort = new AbortController();
        let reports = 0;
        const running = call(client, 'cobre/run', { case_dir: dir },
                             { signal: abort.signal, onprogress: () => { reports++; } });
        const ended = assert.rejects(running);
        await until(() => reports >= 3, 'three progress reports');

        const second = refusal(await call(client, 'cobre/run', { case_dir: dir }));
        assert.equal(second.kind, 'IncompatibleSettings');
        assert.match(second.message, /in progress/);

        abort.abort('enough');
        await ended;
        const output = path.join(dir, 'output');
        const metadata = path.join(output, 'training', 'metadata.json');
        await until(() => fs.existsSync(metadata), 'metadata.json of the stopped run');
        assert.equal(JSON.parse(fs.readFileSync(metadata, 'utf8')).status, 'partial');
        assert.ok(!fs.existsSync(path.join(output, 'training', '_SUCCESS')));
        assert.ok(!fs.existsSync(path.join(output, 'simulation', '_SUCCESS')));

        editConfig(dir, (config) => {
            config.training.stopping_rules = [{ type: 'iteration_limit', limit: 3 }];
        });
        /* The run may still be closing its files and count as in progress. */
        let again = await call(client, 'cobre/run', { case_dir: dir });
        for (let i = 0; again.isError && i < 100; i++) {
            assert.match(refusal(again).message, /in progress/);
            await new Promise((resolve) => setTimeout(resolve, 50));
            again = await call(client, 'cobre/run', { case_dir: dir });
        }
        assert.equal(answer(again).status, 'completed');
    });
});

test('SIGTERM during a run: the iteration is completed and the partial result is sent', async () => {
    const dir = copyCase('four-stages', 'sigterm');
    editConfig(dir, (config) => {
        config.training.stopping_rules = [{ type: 'iteration_limit', limit: 1000000 }];
    });
    const peer = await connect('--allow-write', '--allowed-dirs', scratch);
    let reports = 0;
    const running = call(peer.client, 'cobre/run', { case_dir: dir }, {
        onprogress: () => {
            if (++reports === 3)
                process.kill(peer.transport.pid, 'SIGTERM');
        },
    });
    const result = answer(await running);
    assert.equal(result.status, 'partial');
    assert.equal(result.training.termination_reason, 'shutdown');
    assert.ok(result.training.iterations >= 3);
    assert.equal(result.simulation, null);
    await peer.client.close();
});

/** A server that is spoken to line by line; `stop()` ends its input, `ended` is its exit status. */
function rawServer(...args) {
    const child = spawn(path.join(bin, 'cobre-mcp'), args, { stdio: ['pipe', 'pipe', 'ignore'] });
    const lines = [];
    let rest = '';
    child.stdin.on('error', () => {}); /* it may have ended */
    child.stdout.on('data', (bytes) => {
        const pieces = (rest + bytes).split('\n');
        rest = pieces.pop();
        lines.push(...pieces.map((line) => JSON.parse(line)));
    });
    raws.push(child);
    const ended = new Promise((resolve) => {
        child.on('exit', (status, signal) => resolve(signal ?? status));
    });
    const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {},
                                                  clientInfo: { name: 'raw', version: '1' } } });
    send({ method: 'notifications/initialized' });
    return { child, lines, send, ended };
}

const progressOf = (server) =>
    server.lines.filter((line) => line.method === 'notifications/progress').length;

async function within(ms, promise, what) {
    const late = new Promise((_, reject) => {
        setTimeout(() => reject(new Error(`waited ${ms} ms for ${what}`)), ms).unref();
    });
    return Promise.race([promise, late]);
}

describe('a client that goes away', () => {
    const iterations = (n) => (config) => {
        config.training.stopping_rules = [{ type: 'iteration_limit', limit: n }];
    };

    function startRun(label, edit) {
        const dir = copyCase('four-stages', label);
        editConfig(dir, edit);
        const server = rawServer('--allow-write', '--allowed-dirs', scratch, '--threads', '1');
        server.send({ id: 1, method: 'tools/call', params: {
            name: 'cobre/run', arguments: { case_dir: dir }, _meta: { progressToken: 't' },
        } });
        return { dir, server, output: path.join(dir, 'output') };
    }

    test('the end of its input stops the run after the iteration; the answer is still sent', async () => {
        const { server, output } = startRun('hangup', iterations(1_000_000));
        await until(() => progressOf(server) >= 3, 'three progress reports');
        server.child.stdin.end();
        assert.equal(await within(20_000, server.ended, 'the server to end'), 0);
        await until(() => server.lines.some((line) => line.id === 1), 'the answer');
        const { structuredContent } = server.lines.find((line) => line.id === 1).result;
        assert.equal(structuredContent.status, 'partial');
        assert.equal(structuredContent.training.termination_reason, 'shutdown');
        assert.equal(server.lines.at(-1).id, 1, 'nothing follows the answer');
        const metadata = JSON.parse(fs.readFileSync(path.join(output, 'training', 'metadata.json')));
        assert.equal(metadata.status, 'partial');
        assert.equal(metadata.iterations.completed, structuredContent.training.iterations);
        assert.ok(!fs.existsSync(path.join(output, 'training', '_SUCCESS')));
    });

    test('a client that closes both ends stops it as well', async () => {
        const { server, output } = startRun('gone', iterations(1_000_000));
        await until(() => progressOf(server) >= 3, 'three progress reports');
        server.child.stdout.destroy();
        server.child.stdin.destroy();
        assert.equal(await within(20_000, server.ended, 'the server to end'), 0);
        const metadata = JSON.parse(fs.readFileSync(path.join(output, 'training', 'metadata.json')));
        assert.equal(metadata.status, 'partial');
        assert.ok(!fs.existsSync(path.join(output, 'training', '_SUCCESS')));
    });

    test('the end of its input in the simulation keeps the completed scenarios', async () => {
        const { server, output } = startRun('hangup-simulation', (config) => {
            iterations(2)(config);
            config.simulation.num_scenarios = 100_000;
        });
        await until(() => progressOf(server) >= 8, 'some scenarios');
        server.child.stdin.end();
        assert.equal(await within(20_000, server.ended, 'the server to end'), 0);
        await until(() => server.lines.some((line) => line.id === 1), 'the answer');
        const { structuredContent } = server.lines.find((line) => line.id === 1).result;
        assert.equal(structuredContent.status, 'partial');
        assert.ok(structuredContent.simulation.scenarios < 100_000);
        assert.ok(!fs.existsSync(path.join(output, 'simulation', '_SUCCESS')));
    });

    test('a killed server leaves no marker of a completed run', async () => {
        const { dir, server, output } = startRun('killed', iterations(1_000_000));
        await until(() => fs.existsSync(path.join(output, 'training', 'convergence.parquet')),
                    'the first record of a run that continues');
        const peer = await connect('--allow-write', '--allowed-dirs', scratch);
        const query = async () => typedAnswer('cobre/query-convergence', await call(
            peer.client, 'cobre/query-convergence', { output_dir: output }));
        assert.equal((await query()).termination_reason, 'running');
        const taken = refusal(await call(peer.client, 'cobre/run', { case_dir: dir }));
        assert.equal(taken.kind, 'IncompatibleSettings');
        assert.ok(taken.message.includes(output));

        server.child.kill('SIGKILL');
        assert.equal(await within(20_000, server.ended, 'the kill'), 'SIGKILL');
        const history = await query();
        assert.equal(history.termination_reason, 'unknown');
        assert.ok(history.total_iterations > 0);
        assert.ok(!fs.existsSync(path.join(output, 'training', '_SUCCESS')));
        assert.ok(!fs.existsSync(path.join(output, 'training', 'metadata.json')));

        editConfig(dir, iterations(3));
        const again = typedAnswer('cobre/run', await call(peer.client, 'cobre/run', { case_dir: dir }));
        assert.equal(again.status, 'completed');
        assert.equal((await query()).termination_reason, 'iteration_limit');
    });
});

test('a phase that did not run is null, and a new training removes an older simulation',
     async () => {
    const dir = copyCase('merit-order', 'phases');
    const output = path.join(dir, 'output');
    const marker = path.join(output, 'simulation', '_SUCCESS');
    const peer = await connect('--allow-write', '--allowed-dirs', scratch);
    const both = typedAnswer('cobre/run', await call(peer.client, 'cobre/run', { case_dir: dir }));
    assert.notEqual(both.simulation, null);
    assert.ok(fs.existsSync(marker));
    for (const phases of ['training', ['training']]) {
        const training = typedAnswer('cobre/run', await call(peer.client, 'cobre/run',
                                                             { case_dir: dir, phases }));
        assert.equal(training.simulation, null);
        assert.ok(Math.abs(training.training.final_lower_bound - 2_994_600) < 1e-3);
        assert.ok(!fs.existsSync(marker));
        assert.ok(fs.existsSync(path.join(output, 'training', '_SUCCESS')));
    }
    editConfig(dir, (config) => { config.training.enabled = false; });
    const anyway = typedAnswer('cobre/run', await call(peer.client, 'cobre/run',
                                                       { case_dir: dir, phases: 'training' }));
    assert.notEqual(anyway.training, null, 'the phase that was asked for, whatever is enabled');
    const alone = typedAnswer('cobre/run', await call(peer.client, 'cobre/run', { case_dir: dir, phases: 'simulation' }));
    assert.equal(alone.training, null);
    assert.equal(alone.simulation.scenarios, both.simulation.scenarios);
    fs.rmSync(path.join(output, 'policy'), { recursive: true });
    const without = refusal(await call(peer.client, 'cobre/run', { case_dir: dir, phases: 'simulation' }));
    assert.equal(without.kind, 'CheckpointFailed');
    assert.equal(without.context.operation, 'read');
    await peer.client.close();
});

test('safe tool names for hosts that refuse a slash', async () => {
    const peer = await connect('--tool-names', 'safe', '--allowed-dirs', scratch);
    const { tools } = await peer.client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name), TOOLS.map((name) => name.replace(/\W/g, '_')));
    answer(await call(peer.client, 'cobre_get_config_schema', {}));
    answer(await call(peer.client, 'cobre/get-config-schema', {}));
    await peer.client.close();
});

/** Every schema that describes a value: the root, members, items, definitions, alternatives. Not
 *  the conditions. */
function* valueSchemas(schema, where) {
    yield [where, schema];
    for (const key of ['properties', '$defs'])
        for (const [name, member] of Object.entries(schema[key] ?? {}))
            yield* valueSchemas(member, `${where}/${key}/${name}`);
    for (const key of ['anyOf', 'oneOf', 'allOf'])
        for (const [i, member] of (schema[key] ?? []).entries())
            if (!member.if)
                yield* valueSchemas(member, `${where}/${key}/${i}`);
    if (schema.items)
        yield* valueSchemas(schema.items, `${where}/items`);
}

test('every value in the schema of config.json has a type', async () => {
    const { client } = await connect();
    const { schema } = answer(await call(client, 'cobre/get-config-schema', {}));
    let count = 0;
    for (const [where, value] of valueSchemas(schema, 'config')) {
        assert.ok(value.type ?? value.$ref ?? value.anyOf, `${where} has no type`);
        count++;
    }
    assert.ok(count > 50, `${count} schemas`);
    await client.close();
});

test('the input schemas are those of the contract, if it is found', async (t) => {
    const seeds = path.join(root, '..', 'shared', 'seeds');
    const seed = fs.existsSync(seeds)
        && fs.readdirSync(seeds).find((name) => name.startsWith('000_'));
    if (!seed) {
        t.diagnostic('the contract was not found: not compared');
        return;
    }
    const text = fs.readFileSync(path.join(seeds, seed), 'utf8');
    const peer = await connect('--allowed-dirs', scratch, '--allow-write');
    const { tools } = await peer.client.listTools();
    await peer.client.close();
    let compared = 0;
    for (const section of text.split(/\n### 2\.\d+ /).slice(1)) {
        const name = section.match(/^`([^`]+)`/)?.[1];
        if (!name)
            continue;
        const input = JSON.parse(section.match(/\*\*Input Schema:\*\*\s+```json\n([\s\S]*?)```/)[1]);
        assert.deepEqual(tools.find((tool) => tool.name === name).inputSchema, input, name);
        compared++;
    }
    assert.equal(compared, 10);
});

test('cobre run --json prints one object, the same as the tool\'s', () => {
    const dir = copyCase('four-stages', 'cli');
    const run = spawnSync(path.join(bin, 'cobre'), ['run', dir, '--json'], { encoding: 'utf8' });
    assert.equal(run.status, 0, run.stderr);
    const lines = run.stdout.trimEnd().split('\n');
    assert.equal(lines.length, 1);
    const result = JSON.parse(lines[0]);
    assert.equal(result.status, 'completed');
    assert.equal(result.output_dir, path.join(dir, 'output'));
    assert.ok(result.training.final_lower_bound > 0);
    assert.ok(!run.stderr.includes('\u001b['), 'colours or redraws though nobody watches');
});
