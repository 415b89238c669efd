/*
 * casparian-kills.test.mjs - kill -9 at random moments of runs, of a process below the server and
 * of the server by turns. Every approved run is completed once in the end, has failed as
 * interrupted, or has lost the files whose process was killed; its outputs are all there or none
 * is, manifests verify, and no row is double. CASPARIAN_KILLS sets how often.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { place, serve } from './casparian.mjs';
import { below } from './support/processes.mjs';

const KILLS = Number(process.env.CASPARIAN_KILLS ?? 100);
const LEASE_MS = 1500; // of a runner; builds without fault points have 45 s
const DRAIN = 60; // lives of servers
const FILES = 3;
const ROWS = 40;
/* Codes of jobs that may fail here: the server was killed, or the processes of all files were. */
const ALLOWED = ['completed', 'interrupted', 'all_files_failed', 'plugin_error'];
const PARSER = `name = "two"
version = "1.0.0"
OUTPUTS = {"left": {"columns": [{"name": "a", "type": "int64"}]}, "right": {"columns": [{"name": "b", "type": "string"}]}}


def parse(path):
    with open(path) as file:
        for line in file:
            yield ("left", [{"a": int(line)}])
            yield ("right", [{"b": line.strip()}])
`;

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** Kill one of the processes below a server. Returns whether there was one. */
function killBelow(pid) {
    const all = below(pid);
    try {
        if (all.length > 0)
            process.kill(all[Math.floor(Math.random() * all.length)], 'SIGKILL');
        return all.length > 0;
    } catch {
        return false; // it has ended meanwhile
    }
}

describe('killed', () => {
    test(`${KILLS} times, nothing approved is lost or done twice`, async (t) => {
        const self = place();
        self.env.CAUSEWAY_LEASE_MS = String(LEASE_MS);
        self.env.CASPARIAN_MCP_RATE_LIMIT_RPM = '100000'; // all jobs are looked at in a row
        self.write('parsers/two.py', PARSER);
        for (let file = 0; file < FILES; file++)
            self.write(`in/${file}.txt`, Array.from({ length: ROWS }, (_, row) => `${file * ROWS + row}\n`).join(''));
        const args = ['--allow-dev-plugins', '--allow-tool-approval'];
        const request = { plugin_ref: { path: 'parsers/two.py' }, input_dir: 'in', output: './out', force: true };
        const jobs = [];
        const approve = async (server) => {
            const { approval_id: id } = await server.ask('run_request', request);
            jobs.push((await server.ask('approval_decide', { approval_id: id, decision: 'approve' })).job_id);
        };
        let guests = 0, servers = 0;
        for (; guests + servers < KILLS; servers++) {
            const server = await serve(self, args);
            for (const job of servers % DRAIN === DRAIN - 1 ? jobs.slice(-DRAIN) : [])
                await server.end(job); // the queue has 100 places
            await approve(server);
            await pause(Math.random() * 300);
            guests += killBelow(server.pid);
            await pause(Math.random() * 300);
            process.kill(server.pid, 'SIGKILL');
            await server.close().catch(() => {});
        }
        const server = await serve(self, args);
        t.after(() => server.close());
        await approve(server); // of all files, once more
        assert.equal(new Set(jobs).size, servers + 1);
        const rows = { left: 0, right: 0 }, files = { left: 0, right: 0 };
        const ends = {};
        for (const job of jobs) {
            const status = await server.end(job);
            const end = status.status === 'completed' ? 'completed' : status.error_code ?? status.error.split(':')[0];
            ends[end] = (ends[end] ?? 0) + 1;
            for (const [output, { rows_written: written, locations }] of Object.entries(status.result?.outputs ?? {})) {
                rows[output] += written;
                files[output] += locations.length;
            }
        }
        t.diagnostic(`${servers} servers and ${guests} processes below them killed; jobs: ${JSON.stringify(ends)}`);
        assert.deepEqual(Object.keys(ends).filter((end) => !ALLOWED.includes(end)), []);
        const count = async (view) => (await server.ask('query', { sql: `SELECT count(*) FROM outputs."${view}"` })).rows[0][0];
        for (const output of ['left', 'right']) {
            assert.equal(await count(output), FILES * ROWS, output);
            assert.equal(await count(`${output}__all`), rows[output], output);
            const written = fs.readdirSync(path.join(self.dir, 'out')).filter((name) => name.startsWith(`${output}_`));
            assert.equal(written.length, files[output], output);
        }
        const verified = self.cli(['verify', 'out']);
        assert.equal(verified.status, 0, verified.out + verified.err);
        self.remove();
    });
});
