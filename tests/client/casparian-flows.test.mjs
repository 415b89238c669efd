/*
 * casparian-flows.test.mjs - the backtest flow and the approval flow, step by step, as an assistant
 * goes through them: the numbers are those of the acceptance scenarios 2 and 3. Expected rows are
 * counted in the sample files by this test, and by the table in the description of the parser.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { fixPlace, serve, until } from './casparian.mjs';

const PARSER = { path: 'parsers/fix/fix_parser.py' };
const ORDERS = 'fix_order_lifecycle';
const SESSIONS = 'fix_session_events';
const ERRORS = 'fix_parse_errors';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const READ = ['plugins', 'scan', 'preview', 'query', 'backtest_start', 'run_request', 'job_status', 'job_cancel', 'job_list',
    'approval_status', 'approval_list', 'approval_decide', 'files', 'sources', 'schema_propose', 'schema_promote', 'quarantine_summary'];

/* Messages of the samples by their type (tag 35), read without the parser. */
const ORDER_TYPES = 'D8FG9H';
const SESSION_TYPES = 'A012345j';

function messages(dir) {
    const all = [];
    for (const name of fs.readdirSync(dir).filter((file) => file.endsWith('.fix')).sort()) {
        for (const line of fs.readFileSync(path.join(dir, name), 'latin1').split(/\r?\n/)) {
            for (const part of line.split('8=FIX').slice(1)) {
                const fields = new Map(part.split(/[\x01|]|\^A/).map((field) => field.split('=')).filter((pair) => pair.length === 2));
                all.push({ file: name, type: fields.get('35')?.trim(), state: fields.get('150'), status: fields.get('39') });
            }
        }
    }
    return all;
}

const EVENTS = { D: 'new_order', F: 'cancel_request', G: 'replace_request', 9: 'cancel_reject', H: 'status_request' };
const STATES = { 0: 'ack', 1: 'partial_fill', 2: 'fill', 4: 'cancel', 5: 'replace', 8: 'reject' };
const eventOf = ({ type, state, status }) => EVENTS[type] ?? STATES[state] ?? (status === '8' ? 'reject' : 'exec_report');

describe('the backtest flow', () => {
    let self, server, all;
    before(async () => {
        self = fixPlace();
        all = messages(path.join(self.dir, 'samples/fix'));
        server = await serve(self, ['--allow-dev-plugins']);
    });
    after(async () => { await server?.close(); self.remove(); });

    test('0: the server has its name, and all tools have both schemas', () => {
        assert.equal(server.client.getServerVersion().name, 'casparian-mcp');
        const names = server.tools.map((tool) => tool.name);
        for (const name of READ)
            assert.ok(names.includes(`casparian_${name}`), name);
        for (const tool of server.tools) {
            assert.equal(tool.inputSchema.type, 'object', tool.name);
            assert.equal(tool.outputSchema?.type, 'object', tool.name);
            assert.ok(tool.description.length <= 300, tool.name);
            assert.equal(tool.annotations.openWorldHint, false, tool.name);
        }
        assert.ok(Buffer.byteLength(JSON.stringify(server.tools)) < 48 << 10);
    });

    test('1: scan finds the six files, sorted', async () => {
        const found = await server.ask('scan', { path: 'samples/fix', recursive: true, pattern: '*.fix' });
        assert.equal(found.file_count, 6);
        assert.equal(found.truncated, false);
        const names = found.files.map((file) => path.basename(file.path));
        assert.deepEqual(names, [...names].sort());
        assert.ok(names.includes('order_lifecycle.fix'));
        for (const file of found.files) {
            const stat = fs.statSync(file.path);
            assert.equal(file.size, stat.size);
            assert.equal(Math.trunc(Date.parse(file.modified) / 1000), Math.trunc(stat.mtimeMs / 1000));
            assert.equal(file.hash, undefined);
        }
        assert.equal(found.total_size, found.files.reduce((sum, file) => sum + file.size, 0));
    });

    test('2: the plugins that are shipped, and with include_dev those of the home', async () => {
        const { plugins } = await server.ask('plugins', {});
        const fix = plugins.find((plugin) => plugin.id === 'fix_parser');
        assert.equal(fix.version, '1.2.0');
        assert.equal(fix.runtime, 'python');
        assert.deepEqual([...fix.outputs].sort(), [ORDERS, ERRORS, SESSIONS, 'fix_tags'].sort().filter((name) => fix.outputs.includes(name)));
        assert.ok(plugins.every((plugin) => plugin.source !== 'dev'));
        fs.mkdirSync(path.join(self.home, 'parsers'), { recursive: true });
        fs.writeFileSync(path.join(self.home, 'parsers', 'mine.py'), 'name = "mine"\nversion = "0.1.0"\n\ndef parse(path):\n    yield {"a": 1}\n');
        const dev = (await server.ask('plugins', { include_dev: true })).plugins.find((plugin) => plugin.id === 'mine');
        assert.equal(dev.source, 'dev');
    });

    test('3: preview shows rows without their values', async () => {
        const shown = await server.ask('preview', { plugin_ref: PARSER, files: ['samples/fix/order_lifecycle.fix'], limit: 10 });
        assert.deepEqual(shown.errors, []);
        const orders = shown.outputs[ORDERS];
        assert.equal(orders.sample_rows.length, 10);
        assert.equal(orders.schema.columns.length, 53);
        assert.deepEqual(orders.schema.columns.find((column) => column.name === 'price').type, { kind: 'decimal', precision: 38, scale: 10 });
        assert.match(orders.schema_hash, /^[0-9a-f]{64}$/);
        for (const row of orders.sample_rows) {
            assert.match(row.cl_ord_id ?? '[hash:00000000]', /^\[hash:[0-9a-f]{8}\]$/);
            assert.equal(typeof row.msg_seq_num, 'number');
        }
        assert.equal(shown.outputs[SESSIONS].sample_rows.length, 0);
        assert.equal(shown.outputs[ERRORS].sample_rows.length, 0);
    });

    let job;
    test('4: a backtest starts at once', async () => {
        const started = await server.ask('backtest_start', { plugin_ref: PARSER, input_dir: 'samples/fix' });
        assert.match(started.job_id, /^[0-9]+$/);
        assert.ok(['queued', 'running'].includes(started.status));
        job = started.job_id;
    });

    test('5: its result has the rows that are in the files', async () => {
        const ended = await server.end(job);
        assert.equal(ended.status, 'completed', JSON.stringify(ended));
        const { result } = ended;
        assert.equal(result.files_processed, 6);
        assert.equal(result.files_total, 6);
        const count = (types) => all.filter((message) => message.type && types.includes(message.type)).length;
        assert.equal(result.outputs[ORDERS].rows_emitted, count(ORDER_TYPES));
        assert.equal(result.outputs[SESSIONS].rows_emitted, count(SESSION_TYPES));
        for (const output of Object.values(result.outputs)) {
            assert.equal(output.pass_rate, 1);
            assert.equal(output.rows_quarantined, 0);
            assert.deepEqual(output.violations, []);
        }
        assert.ok(result.elapsed_ms >= 0);
    });

    test('6: a number in a query is a number', async () => {
        const found = await server.ask('query', { sql: 'SELECT 1 AS health_check', limit: 10 });
        assert.deepEqual(found.rows, [[1]]);
        assert.deepEqual(found.columns.map((column) => column.name), ['health_check']);
        assert.equal(found.row_count, 1);
        assert.equal(found.truncated, false);
    });

    test('7: the job is in the list', async () => {
        const { jobs } = await server.ask('job_list', { status: 'all', limit: 10 });
        assert.equal(jobs.find((one) => one.job_id === job).type, 'backtest');
    });

    test('8: nothing was written outside the home, and the audit has a line for each call', () => {
        const inside = fs.readdirSync(self.dir, { recursive: true }).sort();
        assert.deepEqual(inside.filter((name) => !name.startsWith('samples') && !name.startsWith('parsers')), []);
        const calls = self.audit().filter((line) => line.type === 'tool_call');
        for (const name of ['scan', 'plugins', 'preview', 'backtest_start', 'job_status', 'query', 'job_list'])
            assert.ok(calls.some((line) => line.tool === `casparian_${name}`), name);
    });
});

describe('the approval flow', () => {
    let self, server, all, request;
    before(async () => {
        self = fixPlace();
        all = messages(path.join(self.dir, 'samples/fix'));
        server = await serve(self, ['--allow-dev-plugins', '--allow-tool-approval']);
    });
    after(async () => { await server?.close(); self.remove(); });

    const ask = { plugin_ref: PARSER, input_dir: 'samples/fix', output: './output' };

    test('2: a request writes nothing and starts nothing', async () => {
        request = await server.ask('run_request', ask);
        assert.match(request.approval_id, UUID);
        assert.equal(request.status, 'pending_approval');
        assert.equal(request.summary.file_count, 6);
        assert.ok(request.summary.target_path.includes(path.join(self.dir, 'output')));
        assert.equal(request.approve_command, `casparian approvals approve ${request.approval_id}`);
        const left = Date.parse(request.expires_at) - Date.now();
        assert.ok(left > 3_400_000 && left <= 3_600_000, String(left));
        assert.ok(!self.exists('output'));
        assert.deepEqual((await server.ask('job_list', {})).jobs, []);
    });

    test('3, 4: it is pending', async () => {
        const { approvals } = await server.ask('approval_list', { status: 'pending' });
        assert.deepEqual(approvals.map((one) => [one.approval_id, one.operation]), [[request.approval_id, 'run']]);
        const status = await server.ask('approval_status', { approval_id: request.approval_id });
        assert.equal(status.status, 'pending');
        assert.equal(status.approve_command, request.approve_command);
    });

    let job;
    test('5, 6: it is approved', async () => {
        const decided = await server.ask('approval_decide', { approval_id: request.approval_id, decision: 'approve' });
        assert.equal(decided.status, 'approved');
        job = decided.job_id;
        const status = await server.ask('approval_status', { approval_id: request.approval_id });
        assert.deepEqual([status.status, status.job_id], ['approved', job]);
    });

    test('7: the job commits a file for each output', async () => {
        const ended = await server.end(job);
        assert.equal(ended.status, 'completed', JSON.stringify(ended));
        const digits = createHash('sha256').update(job).digest('hex').slice(0, 16);
        for (const name of [ORDERS, SESSIONS, ERRORS]) {
            const output = ended.result.outputs[name];
            assert.equal(output.rows_written, output.rows_emitted, name);
            assert.ok(self.exists(`output/${name}_${digits}.parquet`), name);
        }
        assert.equal(ended.result.outputs[ORDERS].rows_written, all.filter(({ type }) => type && ORDER_TYPES.includes(type)).length);
    });

    const counts = () => {
        const expected = {};
        for (const message of all.filter(({ type }) => type && ORDER_TYPES.includes(type)))
            expected[eventOf(message)] = (expected[eventOf(message)] ?? 0) + 1;
        return expected;
    };

    test('8: the query finds the events of the files', async () => {
        const found = await server.ask('query', { sql: `SELECT lifecycle_event, count(*) FROM ${ORDERS} GROUP BY 1`, redaction: { mode: 'none' } });
        assert.deepEqual(Object.fromEntries(found.rows), counts());
    });

    test('the source hash of a row is that of its file', async () => {
        const found = await server.ask('query', {
            sql: `SELECT DISTINCT _cf_source_hash, _cf_job_id, _cf_parser_version FROM ${ORDERS}`, redaction: { mode: 'none' },
        });
        const hashes = fs.readdirSync(path.join(self.dir, 'samples/fix'))
            .map((name) => createHash('sha256').update(fs.readFileSync(path.join(self.dir, 'samples/fix', name))).digest('hex'));
        for (const [hash, id, version] of found.rows) {
            assert.ok(hashes.includes(hash));
            assert.deepEqual([id, version], [job, '1.2.0']);
        }
    });

    test('f: approved twice is one job', async () => {
        const again = await server.ask('approval_decide', { approval_id: request.approval_id, decision: 'approve' });
        assert.equal(again.status, 'already_approved');
        assert.equal((await server.ask('job_list', {})).jobs.length, 1);
    });

    const run = async (params) => {
        const { approval_id: id } = await server.ask('run_request', { ...ask, ...params });
        const decided = await server.ask('approval_decide', { approval_id: id, decision: 'approve' });
        return server.end(decided.job_id);
    };

    test('h: the same request again writes nothing; force does, and no row is double', async () => {
        const before = fs.readdirSync(path.join(self.dir, 'output')).filter((name) => name.endsWith('.parquet')).sort();
        const skipped = await run({});
        assert.equal(skipped.status, 'completed');
        assert.equal(skipped.result.files_skipped, 6);
        assert.deepEqual(fs.readdirSync(path.join(self.dir, 'output')).filter((name) => name.endsWith('.parquet')).sort(), before);
        assert.equal((await run({ force: true })).status, 'completed');
        const once = all.filter(({ type }) => type && ORDER_TYPES.includes(type)).length;
        const count = async (view) => (await server.ask('query', { sql: `SELECT count(*) FROM outputs."${view}"` })).rows[0][0];
        assert.equal(await count(ORDERS), once);
        assert.equal(await count(`${ORDERS}__all`), 2 * once);
    });

    test('b: a rejection keeps its reason', async () => {
        const { approval_id: id } = await server.ask('run_request', { ...ask, force: true });
        const decided = await server.ask('approval_decide', { approval_id: id, decision: 'reject', reason: 'not on a Friday' });
        assert.equal(decided.status, 'rejected');
        const status = await server.ask('approval_status', { approval_id: id });
        assert.deepEqual([status.status, status.rejection_reason, status.job_id], ['rejected', 'not on a Friday', undefined]);
    });

    test('a: a person approves in another process', async () => {
        const { approval_id: id } = await server.ask('run_request', { ...ask, output: './second', force: true });
        const shown = self.cli(['approvals', 'show', id]);
        assert.equal(shown.status, 0, shown.err);
        assert.match(shown.out, /order_lifecycle\.fix/);
        const approved = self.cli(['approvals', 'approve', id, '--yes']);
        assert.equal(approved.status, 0, approved.err);
        const { job_id: started } = await until(async () => {
            const status = await server.ask('approval_status', { approval_id: id, wait_ms: 5000 });
            return status.status === 'approved' && status;
        }, 'the approval of the other process');
        assert.equal((await server.end(started)).status, 'completed');
        assert.ok(self.exists('second'));
    });

    test('e: a file that changed is not processed, the others are', async () => {
        const { approval_id: id } = await server.ask('run_request', { ...ask, output: './third', force: true });
        fs.appendFileSync(path.join(self.dir, 'samples/fix/soh_delimiter.fix'), '\n# changed\n');
        const { job_id: started } = await server.ask('approval_decide', { approval_id: id, decision: 'approve' });
        const ended = await server.end(started);
        assert.equal(ended.status, 'completed');
        assert.equal(ended.result.partial, true);
        assert.deepEqual(ended.result.errors.map((one) => [path.basename(one.file), one.kind]), [['soh_delimiter.fix', 'changed']]);
    });

    test('d: a parser that changed does not run', async () => {
        const { approval_id: id } = await server.ask('run_request', { ...ask, output: './fourth', force: true });
        fs.appendFileSync(path.join(self.dir, PARSER.path), '\n# changed\n');
        const { job_id: started } = await server.ask('approval_decide', { approval_id: id, decision: 'approve' });
        const ended = await server.end(started);
        assert.deepEqual([ended.status, ended.error_code], ['failed', 'approval_stale']);
        assert.ok(!self.exists('fourth') || fs.readdirSync(path.join(self.dir, 'fourth')).length === 0);
    });

    test('j: the outputs verify, and one changed byte is found by name', async () => {
        const whole = self.cli(['verify', 'output']);
        assert.equal(whole.status, 0, whole.err + whole.out);
        const name = fs.readdirSync(path.join(self.dir, 'output')).find((file) => file.startsWith(ORDERS) && file.endsWith('.parquet'));
        const file = path.join(self.dir, 'output', name);
        const bytes = fs.readFileSync(file);
        bytes[bytes.length >> 1] ^= 1;
        fs.writeFileSync(file, bytes);
        const broken = self.cli(['verify', 'output']);
        assert.equal(broken.status, 1);
        assert.ok((broken.out + broken.err).includes(name));
    });
});

describe('who may approve', () => {
    test('g: without elicitation the tool names the command; with it the person is asked', async () => {
        const self = fixPlace();
        const alone = await serve(self, ['--allow-dev-plugins']);
        const { approval_id: id } = await alone.ask('run_request', { plugin_ref: PARSER, input_dir: 'samples/fix', output: './output' });
        const refused = await alone.refuse('approval_decide', { approval_id: id, decision: 'approve' });
        assert.equal(refused.code, 'approval_required');
        assert.ok(JSON.stringify(refused).includes(`casparian approvals approve ${id}`));
        assert.equal((await alone.ask('approval_status', { approval_id: id })).status, 'pending');
        await alone.close();

        let asked;
        const person = await serve(self, ['--allow-dev-plugins'], {
            elicit: (message) => { asked = message.params; return { action: 'accept', content: { approve: true } }; },
        });
        const decided = await person.ask('approval_decide', { approval_id: id, decision: 'approve' });
        assert.equal(decided.status, 'approved');
        assert.match(asked.message, /6 files/);
        assert.equal((await person.end(decided.job_id)).status, 'completed');
        const by = (await person.ask('approval_status', { approval_id: id })).decided_by;
        assert.equal(by, `elicitation:${os.userInfo().username}@${os.hostname()} via test 1`);
        assert.deepEqual(self.audit().filter((line) => line.action === 'approved').map((line) => line.decided_by), [by]);
        await person.close();
        self.remove();
    });

    test('of an output elsewhere a query says that the roots refuse it, whether or not its files are there', async () => {
        const self = fixPlace();
        self.succeed('run', './parsers/fix/fix_parser.py', 'samples/fix', '--sink', '../elsewhere');
        const server = await serve(self);
        const ask = () => server.refuse('query', { sql: `SELECT * FROM ${ORDERS}` });
        const refused = await ask();
        assert.equal(refused.code, 'sql_error');
        assert.match(refused.suggestion, new RegExp(`^files of ${ORDERS} are left out: they are not within allowed roots`));
        assert.ok(!JSON.stringify(refused).includes('elsewhere'), JSON.stringify(refused));
        fs.rmSync(path.join(self.top, 'elsewhere'), { recursive: true });
        assert.deepEqual(await ask(), refused);
        self.fail(2, /does not exist\nTRY: a file of .* is missing and left out/, 'query', `SELECT * FROM ${ORDERS}`);
        await server.close();
        self.remove();
    });

    test('a list of requests says how old they are and how long they last; --json has the times', async () => {
        const self = fixPlace();
        const server = await serve(self, ['--allow-dev-plugins']);
        const ids = [];
        for (const output of ['./new', './old', './rejected'])
            ids.push((await server.ask('run_request', { plugin_ref: PARSER, input_dir: 'samples/fix', output })).approval_id);
        await server.ask('approval_decide', { approval_id: ids[2], decision: 'reject' });
        await server.close();
        const aged = spawnSync('python3', ['-c', `
import sqlite3, sys, time
now = int(time.time() * 1000)
with sqlite3.connect(sys.argv[1]) as db:
    db.execute("UPDATE cf_api_approvals SET created_at = ?, expires_at = ? WHERE approval_id = ?",
               (now - 77 * 3600 * 1000, now + 150 * 60 * 1000, sys.argv[2]))
`, path.join(self.home, 'state.sqlite'), ids[1]], { encoding: 'utf8' });
        assert.equal(aged.status, 0, aged.stderr);
        const lines = self.cli(['approvals', 'list', '--status', 'all']).out.split('\n');
        const row = (id) => lines.find((line) => line.startsWith(id)).slice(id.length).trim().split(/ {2,}/);
        assert.deepEqual(lines[0].trim().split(/ {2,}/), ['ID', 'AGE', 'EXPIRES IN', 'STATUS', 'OPERATION', 'DESCRIPTION']);
        assert.match(row(ids[0]).slice(0, 3).join(), /^\d+ (s|min),[1-5]?\d min,pending$/);
        assert.deepEqual(row(ids[1]).slice(0, 4), ['3 d', '2 h', 'pending', 'run']);
        assert.deepEqual(row(ids[2]).slice(1, 3), ['-', 'rejected']);
        const { approvals } = self.succeed('approvals', 'list');
        assert.deepEqual(approvals.map((one) => Date.parse(one.expires_at) > Date.parse(one.created_at)), [true, true]);
        self.remove();
    });

    test('c: an approval that expired starts nothing', async () => {
        const self = fixPlace();
        const server = await serve(self, ['--allow-dev-plugins', '--allow-tool-approval'], { env: { CASPARIAN_APPROVALS_TTL_S: '1' } });
        const { approval_id: id } = await server.ask('run_request', { plugin_ref: PARSER, input_dir: 'samples/fix', output: './output' });
        await until(async () => (await server.ask('approval_status', { approval_id: id })).status === 'expired', 'the expiry');
        const decided = await server.ask('approval_decide', { approval_id: id, decision: 'approve' });
        assert.deepEqual([decided.status, decided.job_id], ['expired', undefined]);
        assert.deepEqual((await server.ask('job_list', {})).jobs, []);
        await server.close();
        self.remove();
    });
});

describe('resources and prompts', () => {
    test('a subscriber of a job hears that it has ended, and of an approval that it was decided elsewhere', async () => {
        const self = fixPlace();
        const server = await serve(self, ['--allow-dev-plugins']);
        const updated = new Set();
        server.client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => { updated.add(params.uri); });
        const read = async (uri) => JSON.parse((await server.client.readResource({ uri })).contents[0].text);

        const { job_id: job } = await server.ask('backtest_start', { plugin_ref: PARSER, input_dir: 'samples/fix' });
        await server.client.subscribeResource({ uri: `casparian://job/${job}` });
        await until(async () => (await read(`casparian://job/${job}`)).status === 'completed', 'the end of the job');

        const { approval_id: id } = await server.ask('run_request', { plugin_ref: PARSER, input_dir: 'samples/fix', output: './output' });
        const uri = `casparian://approval/${id}`;
        await server.client.subscribeResource({ uri });
        updated.clear();
        assert.equal(self.cli(['approvals', 'reject', id, '--reason', 'no']).status, 0);
        await until(() => updated.has(uri), 'the notification');
        assert.equal((await read(uri)).status, 'rejected');
        await assert.rejects(read('casparian://job/9999'));
        await server.close();
        self.remove();
    });

    test('the prompts have their arguments in their texts', async () => {
        const self = fixPlace();
        const server = await serve(self);
        const { prompts } = await server.client.listPrompts();
        assert.deepEqual(prompts.map((prompt) => prompt.name).sort(), ['iterate_schema', 'triage_quarantine']);
        const text = async (name, args) => (await server.client.getPrompt({ name, arguments: args })).messages[0].content.text;
        assert.match(await text('iterate_schema', { plugin: 'p.py', input_dir: 'in' }), /`p\.py` on `in`/);
        assert.match(await text('triage_quarantine', { job_id: '7' }), /invalid in job 7\./);
        assert.match(await text('triage_quarantine', {}), /invalid in the latest jobs\./);
        await server.close();
        self.remove();
    });
});

describe('files without a schema', () => {
    test('objects with different members become one table, with null where one is missing', () => {
        const self = fixPlace();
        self.write('in/a.jsonl', '{"a":1,"b":"x"}\n{"a":2}\n{"b":"z","c":[1,2]}\nnot json\n');
        const run = self.cli(['run', 'jsonl_native', 'in', '--sink', './out', '--json']);
        assert.equal(run.status, 0, run.err + run.out);
        assert.equal(run.json.result.outputs.rows.rows_written, 3);
        assert.equal(run.json.result.outputs.jsonl_parse_errors.rows_written, 1);
        const found = self.cli(['query', 'SELECT a, b, c FROM rows ORDER BY __cf_row_id', '--json']);
        assert.equal(found.status, 0, found.err);
        assert.deepEqual(found.json.rows, [[1, 'x', null], [2, null, null], [null, 'z', '[1,2]']]);
        self.remove();
    });

    test('a run into a DuckDB file and one into CSV have the same rows', () => {
        const self = fixPlace();
        self.write('in/a.csv', 'id,name\n1,"a, b"\n2,\n3,c\n');
        const schema = { rows: { output_name: 'rows', mode: 'allow_extra', columns: [{ name: 'id', type: 'int64', nullable: false }, { name: 'name', type: 'string' }] } };
        self.write('schema.json', JSON.stringify(schema));
        for (const sink of ['csv://./csv', 'duckdb://./db/t.duckdb']) {
            fs.mkdirSync(path.join(self.dir, 'db'), { recursive: true });
            const run = self.cli(['run', 'csv_native', 'in', '--schema', 'schema.json', '--sink', sink, '--json']);
            assert.equal(run.status, 0, run.err + run.out);
            const found = self.cli(['query', 'SELECT id, name FROM rows ORDER BY 1', '--json']);
            assert.deepEqual(found.json.rows, [[1, 'a, b'], [2, ''], [3, 'c']], sink);
        }
        self.remove();
    });
});
