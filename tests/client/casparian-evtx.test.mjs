/*
 * casparian-evtx.test.mjs - the flow of a forensic engineer, acceptance scenario 5: event logs of
 * Windows, by the shipped parser, from the scan to the lineage of a row. The log is written by
 * tests/support/evtx_writer.py, so its values are known.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { place, root, serve } from './casparian.mjs';

const EVENTS = 25;
const SCRIPT = `
import struct, sys
sys.path.insert(0, sys.argv[1])
import evtx_writer
from evtx_writer import Sub
system = ("System", None, [("Provider", {"Name": "Test-Provider"}), ("EventID", None, [Sub(0)]),
    ("TimeCreated", {"SystemTime": Sub(1)}), ("Channel", None, ["Security"]), ("Computer", None, [Sub(2)])])
template = ("Event", {"xmlns": "urn:test"}, [system, ("EventData", None, [("Data", {"Name": "User"}, [Sub(3)])])])
start = (1715933741000000 + 11644473600000000) * 10
records = []
for n in range(${EVENTS}):
    time = start + n * 10000000
    text = lambda t: (1, t.encode("utf-16-le"))
    records.append((n + 1, time, [(6, struct.pack("<H", 4624 + n % 3)), (17, struct.pack("<Q", time)), text("host.example"), text("user%d" % n)]))
open(sys.argv[2], "wb").write(evtx_writer.log(template, records))
`;

describe('event logs', () => {
    let self, server, file, job;
    before(async () => {
        self = place();
        fs.mkdirSync(path.join(self.dir, 'logs'));
        file = path.join(self.dir, 'logs', 'security.evtx');
        const made = spawnSync('python3', ['-c', SCRIPT, path.join(root, 'tests', 'support'), file], { encoding: 'utf8' });
        assert.equal(made.status, 0, made.stderr);
        server = await serve(self, ['--allow-tool-approval']);
    });
    after(async () => { await server?.close(); self.remove(); });
    const ask = { plugin_ref: { plugin: 'evtx_native' }, input_dir: 'logs' };

    test('1 to 5: scan, parsers, preview, backtest', async () => {
        assert.equal((await server.ask('scan', { path: 'logs', pattern: '*.evtx' })).file_count, 1);
        const { plugins } = await server.ask('plugins', { include_dev: true });
        assert.ok(plugins.some((plugin) => plugin.id === 'evtx_native' && plugin.trusted));
        const { outputs, errors } = await server.ask('preview', { plugin_ref: 'evtx_native', files: ['logs/security.evtx'], limit: 10 });
        assert.deepEqual(errors, []);
        const names = outputs.evtx_events.schema.columns.map((column) => column.name);
        for (const name of ['event_record_id', 'timestamp', 'event_id'])
            assert.ok(names.includes(name), name);
        assert.equal(outputs.evtx_events.sample_rows.length, 10);
        const { job_id: id } = await server.ask('backtest_start', ask);
        const ended = await server.end(id);
        assert.deepEqual([ended.status, ended.result.outputs.evtx_events.rows_emitted], ['completed', EVENTS], JSON.stringify(ended));
    });

    test('6 to 9: a run, approved', async () => {
        const { approval_id: id } = await server.ask('run_request', { ...ask, output: './output/evtx_workflow' });
        assert.equal((await server.ask('approval_list', {})).approvals.length, 1);
        job = (await server.ask('approval_decide', { approval_id: id, decision: 'approve' })).job_id;
        assert.equal((await server.end(job)).status, 'completed');
    });

    test('10: the events, by the bare name of their table', async () => {
        const found = await server.ask('query', {
            sql: 'SELECT timestamp, event_id, channel, computer FROM evtx_events ORDER BY timestamp LIMIT 10', redaction: { mode: 'none' },
        });
        assert.equal(found.row_count, 10);
        assert.deepEqual(found.rows[1], ['2024-05-17T08:15:42Z', 4625, 'Security', 'host.example']);
        const users = await server.ask('query', { sql: "SELECT value_raw FROM evtx_eventdata_kv WHERE key = 'User' ORDER BY event_record_id LIMIT 2", redaction: { mode: 'none' } });
        assert.deepEqual(users.rows, [['user0'], ['user1']]);
    });

    test('11, 12: a row leads back to its file', async () => {
        const hash = createHash('sha256').update(fs.readFileSync(file)).digest('hex');
        const found = await server.ask('query', { sql: 'SELECT _cf_job_id, _cf_source_hash FROM evtx_events LIMIT 3', redaction: { mode: 'none' } });
        assert.deepEqual(found.rows, Array(3).fill([job, hash]));
        const traced = self.cli(['lineage', 'evtx_events', '--dir', 'output/evtx_workflow', '--job', job, '--source', hash, '--json']);
        assert.equal(traced.status, 0, traced.err);
        assert.deepEqual(traced.json.source, [file]);
        assert.match(traced.json.decided_by, /^tool:.+@.+ via test 1$/);
        const wrong = ['lineage', 'evtx_events', '--dir', 'output/evtx_workflow', '--job', job, '--source', hash];
        self.fail(1, /no such row: the output 'evtx_events' has no __cf_row_id/, ...wrong, '--row', '1');
        assert.equal((await server.ask('job_list', { limit: 20 })).jobs.length, 2);
    });
});
