/*
 * contained.test.mjs - each program as a container runs it: no variable but PATH, a user without a
 * name, a file system that is read-only but for /tmp. It shakes hands, does a call that stores
 * something, and ends with its input. Who is not root has no namespaces: the variables are gone all
 * the same, and the current folder cannot be written.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

const bin = path.resolve(process.env.CAUSEWAY_BIN ?? 'build/bin');
const examples = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../examples');
const duckdb = path.resolve(examples, '../.deps/duckdb/lib/libduckdb.so');
const DEADLINE_MS = 240_000;
const UID = '65532'; /* no entry in /etc/passwd */

/* sh -c: FOLDER of bin/, DATA to be copied, DUCKDB's library, PROGRAM ARGUMENT... They may be below
 * a folder that the user cannot enter, or below /tmp, so they are seen at /mnt, as if installed. */
const CONTAIN = `set -e
    mount -t tmpfs -o mode=755 tmpfs /mnt; mkdir -p /mnt/there/lib/causeway /mnt/data; cp -r "$1/." /mnt/data
    for part in bin share; do mkdir /mnt/there/$part; mount --rbind "$0/$part" /mnt/there/$part; done
    touch /mnt/there/lib/causeway/libduckdb.so; mount --bind "$2" /mnt/there/lib/causeway/libduckdb.so
    mount -o remount,bind,ro /
    mount -t tmpfs -o mode=1777 tmpfs /tmp; cp -r /mnt/data /tmp/data; chown -R ${UID}:${UID} /tmp/data
    shift 2; cd /; PATH=/mnt/there/bin:$PATH
    exec setpriv --reuid ${UID} --regid ${UID} --clear-groups --no-new-privs "$@"`;
const isContained = process.getuid() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;

const say = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;

/** Runs a server over a handshake and one call; the result of the call. `PLACE` in an argument is
 *  the only folder that can be written, `data` in it a copy of the example. */
function serve(program, args, data, tool) {
    const place = isContained ? '/tmp' : fs.mkdtempSync(path.join(os.tmpdir(), 'contained-'));
    const placed = (value) => JSON.parse(JSON.stringify(value).replaceAll('PLACE', place));
    const input = say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'contained', version: '1' } } }) +
        say({ method: 'notifications/initialized' }) + say({ id: 2, method: 'tools/call', params: placed(tool) });
    const options = { input, encoding: 'utf8', timeout: DEADLINE_MS, cwd: '/', env: { PATH: `${bin}:/usr/sbin:/usr/bin:/sbin:/bin` } };
    try {
        if (!isContained)
            fs.cpSync(path.join(examples, data), path.join(place, 'data'), { recursive: true });
        const done = isContained
            ? spawnSync('unshare', ['--mount', 'sh', '-c', CONTAIN, path.dirname(bin), path.join(examples, data), duckdb, program, ...placed(args)], options)
            : spawnSync(program, placed(args), options);
        assert.equal(done.status, 0, `${program} ended with ${done.status ?? done.signal}: ${done.stderr}`);
        const answers = done.stdout.trim().split('\n').map((line) => JSON.parse(line));
        assert.ok(answers.find(({ id }) => id === 1)?.result?.serverInfo, `${program} has no handshake: ${done.stdout}`);
        const { result } = answers.find(({ id }) => id === 2);
        assert.ok(result && !result.isError, `${program}: ${JSON.stringify(answers.find(({ id }) => id === 2))}`);
        return result;
    } finally {
        if (!isContained)
            fs.rmSync(place, { recursive: true });
    }
}

test('cobre-mcp trains a case', () => {
    serve('cobre-mcp', ['--tool-names=safe', '--allow-write', '--allowed-dirs', 'PLACE'], 'cases/1dtoy',
        { name: 'cobre_run', arguments: { case_dir: 'PLACE/data' } });
});

test('casparian reads a file by a plugin', () => {
    serve('casparian', ['--home', 'PLACE/home', 'mcp', 'serve', '--allow-path', 'PLACE/data'], 'casparian/samples/weblog',
        { name: 'casparian_preview', arguments: { plugin_ref: 'weblog_native', files: ['PLACE/data/access.log'] } });
});

test('universe stores a universe', () => {
    const commands = 'universe generate --id u --db sqlite:PLACE/u.db >&2 && exec universe serve --transport stdio --db sqlite:PLACE/u.db';
    serve('sh', ['-c', commands], 'portarium', { name: 'list_universe_commands', arguments: { universeId: 'u' } });
});

test('portarium stores a plane', () => {
    serve('portarium', ['mcp', 'serve', '--transport', 'stdio', '--db', 'sqlite:PLACE/portarium.db'], 'portarium',
        { name: 'portarium_work_items_list', arguments: { workspaceId: 'ws-default' } });
});
