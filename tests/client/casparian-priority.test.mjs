/*
 * casparian-priority.test.mjs - a job yields the processor to queries: its threads in the server
 * and its processes have a lower priority, all others do not.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { place, serve, until } from './casparian.mjs';
import { threads } from './support/processes.mjs';

const NICE = 5;
const WAITS = `import time
name, version = "waits", "1.0.0"
outputs = {"waits": {"columns": [{"name": "id", "type": "int64"}]}}
def parse(path):
    yield {"id": 1}
    while True:
        time.sleep(1)
`;

/** The nice values of the threads of a process, by their ids. */
function nices(pid) {
    return Object.fromEntries(threads(pid, 'stat').map(([id, stat]) =>
        [id, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])]));
}

describe('priorities', () => {
    let self, server;
    before(async () => {
        self = place();
        self.write('waits.py', WAITS);
        self.write('in/one.csv', 'id\n1\n');
        server = await serve(self, ['--allow-dev-plugins']);
    });
    after(async () => {
        await server?.close();
        self.remove();
    });

    test('the threads of a job have a lower one, until it ends', async () => {
        const before = nices(server.pid);
        const own = before[server.pid], lower = Math.max(own, NICE);
        const lowered = () => Object.entries(nices(server.pid)).filter(([id, nice]) => !(id in before) && nice === lower);
        const { job_id: id } = await server.ask('backtest_start', { plugin_ref: { path: 'waits.py' }, input_dir: 'in' });
        await until(() => lowered().length > 0, 'a thread of the job');
        for (const [thread, nice] of Object.entries(nices(server.pid)))
            if (thread in before)
                assert.equal(nice, before[thread], `thread ${thread}`);
        await server.call('job_cancel', { job_id: id });
        await server.end(id);
        if (lower > own)
            await until(() => lowered().length === 0, 'the end of the threads of the job');
    });
});
