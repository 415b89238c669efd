/*
 * freeze.mjs - a process that is stopped by SIGSTOP, at a moment that the test chooses.
 */
import { threads } from './processes.mjs';
import { until } from './until.mjs';

/* The signal arrives at each thread when that next enters the kernel. */
function isStopped(pid) {
    return threads(pid, 'status').every(([, status]) => /^State:\tT/m.test(status));
}

/** Stop it, and let it continue and stop again until `suits` is true of the moment. */
export async function freeze(pid, suits, what) {
    await until(async () => {
        process.kill(pid, 'SIGSTOP');
        await until(() => isStopped(pid), 'all threads to stop');
        return await suits() || !process.kill(pid, 'SIGCONT');
    }, what);
}
