/*
 * freeze.mjs - a process that is stopped by SIGSTOP, at a moment that the test chooses.
 */
import fs from 'node:fs';

import { until } from './until.mjs';

/* The signal arrives at each thread when that next enters the kernel. */
function isStopped(pid) {
    return fs.readdirSync(`/proc/${pid}/task`).every((thread) =>
        /^State:\tT/m.test(fs.readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')));
}

/** Stop it, and let it continue and stop again until `suits` is true of the moment. */
export async function freeze(pid, suits, what) {
    await until(async () => {
        process.kill(pid, 'SIGSTOP');
        await until(() => isStopped(pid), 'all threads to stop');
        return await suits() || !process.kill(pid, 'SIGCONT');
    }, what);
}
