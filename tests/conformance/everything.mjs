/*
 * everything.mjs - starts and ends the example server that shows every feature.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
export const top = path.resolve(here, '..', '..');
export const program = path.join(process.env.CAUSEWAY_BIN ?? path.join(top, 'build', 'bin'), 'mcp-everything');

/** Start it over HTTP on a free port; its first line on standard error says where it listens. */
export async function start(...args) {
    const child = spawn(program, ['--transport', 'http', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    const server = { child, url: null, log: '' };

    child.stderr.setEncoding('utf8');
    while (!/http:\S+\n/.test(server.log)) {
        const [what] = await Promise.race([once(child.stderr, 'data'), once(child, 'exit')]);
        assert.equal(typeof what, 'string', `${program} ended with ${what}: ${server.log}`);
        server.log += what;
    }
    child.stderr.on('data', (text) => { server.log += text; });
    server.url = new URL(/http:\S+/.exec(server.log)[0]);
    server.log = '';
    return server;
}

/** End it as a service is ended. It must have had nothing to complain about. */
export async function stop(server) {
    const gone = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    const [code, signal] = await gone;
    assert.equal(server.log, '');
    assert.deepEqual([code, signal], [0, null]);
}
