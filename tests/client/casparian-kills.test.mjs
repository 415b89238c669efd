/*
 * casparian-kills.test.mjs - kill -9 of the server, again and again at random moments of a run:
 * every approved run is completed once in the end or has failed as interrupted, its outputs are all
 * there or none is, manifests verify, and no row is double. CASPARIAN_KILLS sets how often.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { ENDED, place, serve, until } from './casparian.mjs';

const KILLS = Number(process.env.CASPARIAN_KILLS ?? 12);
const FILES = 3;
const ROWS = 40;
const PARSER = `name = "two"
version = "1.0.0"
OUTPUTS = {"left": {"columns": [{"name": "a", "type": "int64"}]}, "right": {"columns": [{"name": "b", "type": "string"}]}}


def parse(path):
    with open(path) as file:
        for line in file:
            yield ("left", [{"a": int(line)}])
            yield ("right", [{"b": line.strip()}])
`;

describe('killed', () => {
    test(`${KILLS} times, nothing approved is lost or done twice`, async (t) => {
        const self = place();
        self.write('parsers/two.py', PARSER);
        for (let file = 0; file < FILES; file++)
            self.write(`in/${file}.txt`, Array.from({ length: ROWS }, (_, row) => `${file * ROWS + row}\n`).join(''));
        const args = ['--allow-dev-plugins', '--allow-tool-approval'];
        const jobs = [];
        for (let kill = 0; kill < KILLS; kill++) {
            const server = await serve(self, args);
            const { approval_id: id } = await server.ask('run_request', { plugin_ref: { path: 'parsers/two.py' }, input_dir: 'in', output: './out', force: true });
            const { job_id: job } = await server.ask('approval_decide', { approval_id: id, decision: 'approve' });
            jobs.push(job);
            const delay = Math.random() * 400;
            await new Promise((resolve) => { setTimeout(resolve, delay); });
            process.kill(server.pid, 'SIGKILL');
            await server.close().catch(() => {});
        }
        /* A lease of a dead runner ends after 45 s; jobs run one after the other. */
        const server = await serve(self, args);
        t.after(() => server.close());
        const states = await until(async () => {
            await new Promise((resolve) => { setTimeout(resolve, 1000); });
            const { jobs: listed } = await server.ask('job_list', { limit: 200 });
            return listed.every((one) => ENDED.includes(one.status)) && listed;
        }, 'the end of all jobs', 400_000);
        assert.equal(states.length, KILLS);
        let completed = 0;
        for (const { job_id: job } of states) {
            const status = await server.ask('job_status', { job_id: job });
            assert.ok(status.status === 'completed' || status.error_code === 'interrupted', JSON.stringify(status));
            completed += status.status === 'completed';
        }
        assert.ok(completed > 0);
        const count = async (view) => (await server.ask('query', { sql: `SELECT count(*) FROM outputs."${view}"` })).rows[0][0];
        for (const output of ['left', 'right']) {
            assert.equal(await count(output), FILES * ROWS, output);
            assert.equal(await count(`${output}__all`), completed * FILES * ROWS, output);
            const files = fs.readdirSync(path.join(self.dir, 'out')).filter((name) => name.startsWith(`${output}_`));
            assert.equal(files.length, completed, output);
        }
        const verified = self.cli(['verify', 'out']);
        assert.equal(verified.status, 0, verified.out + verified.err);
        self.remove();
    });
});
