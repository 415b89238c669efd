/*
 * casparian.mjs - what the tests of the server casparian share: a folder with its samples and a
 * home, the server on standard input and output with the official client, and the command line.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

export { until } from './support/until.mjs';
import { until } from './support/until.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
export const root = path.resolve(here, '..', '..');
export const program = path.join(process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin'), 'casparian');
const examples = path.join(root, 'examples', 'casparian');
const parsers = path.join(root, 'servers', 'casparian', 'parsers');

export const ENDED = ['completed', 'failed', 'cancelled'];

/** A folder of one's own, with a home next to it: { dir, home, env, copy(), cli(), remove() }. */
export function place() {
    const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'casparian-')));
    const dir = path.join(top, 'work');
    const home = path.join(top, 'home');
    const env = { ...process.env, CASPARIAN_HOME: home, NO_COLOR: '1' };
    fs.mkdirSync(dir);
    return {
        top, dir, home, env,
        clients: [], // of servers that a test which failed has not closed
        /** Copy a sample ("samples/fix") or a parser ("fix_parser/x.py") into the folder. */
        copy(from, to) {
            const source = [path.join(examples, from), path.join(parsers, from)].find((file) => fs.existsSync(file));
            assert.ok(source, `there is no ${from}`);
            fs.mkdirSync(path.dirname(path.join(dir, to)), { recursive: true });
            fs.cpSync(source, path.join(dir, to), { recursive: true });
        },
        write(name, text) {
            fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
            fs.writeFileSync(path.join(dir, name), text);
        },
        read: (name) => fs.readFileSync(path.join(dir, name), 'utf8'),
        exists: (name) => fs.existsSync(path.join(dir, name)),
        /** Run the program to its end: { status, out, err, json }. */
        cli(args, more = {}) {
            const end = spawnSync(program, args, { cwd: dir, env: { ...env, ...more.env }, encoding: 'utf8', input: more.input ?? '' });
            const json = args.includes('--json') && end.stdout ? JSON.parse(end.stdout) : undefined;
            return { status: end.status, out: end.stdout, err: end.stderr, json };
        },
        /** Run a command that succeeds. @return its JSON */
        succeed(...args) {
            const done = this.cli([...args, '--json']);
            assert.equal(done.status, 0, `${args}: ${done.err}${done.out}`);
            return done.json;
        },
        /** Run a command that ends with a status and says why. */
        fail(status, pattern, ...args) {
            const done = this.cli(args);
            assert.equal(done.status, status, `${args}: ${done.out}${done.err}`);
            assert.match(done.err, pattern);
            return done;
        },
        audit: () => fs.readFileSync(path.join(home, 'mcp_audit.ndjson'), 'utf8').trim().split('\n').map((line) => JSON.parse(line)),
        remove() {
            for (const client of this.clients)
                client.close().catch(() => {});
            fs.rmSync(top, { recursive: true, force: true });
        },
    };
}

/** The place with the samples and the parser of acceptance 2 and 3. */
export function fixPlace() {
    const self = place();
    self.copy('samples/fix', 'samples/fix');
    self.copy('fix_parser/fix_parser.py', 'parsers/fix/fix_parser.py');
    return self;
}

/**
 * Start a server in a place, with a client whose calls are checked against the output schemas.
 *
 * ask(name, args) gives the structured content of a call that succeeds, refuse(name, args) the
 * error of one that does not, and end(jobId) the status of a job after its end. With options.under
 * the program is the argument of another one: ["strace", "-f"].
 */
export async function serve(self, args = [], options = {}) {
    const [command, ...all] = [...options.under ?? [], program, 'mcp', 'serve', '--allow-path', '.', ...args];
    const transport = new StdioClientTransport({
        command, args: all, cwd: self.dir,
        env: { ...self.env, ...options.env }, stderr: 'pipe',
    });
    const client = new Client({ name: 'test', version: '1' }, { capabilities: options.elicit ? { elicitation: {} } : {} });
    self.clients.push(client);
    let errors = '';
    transport.stderr?.on('data', (bytes) => { errors += bytes; });
    if (options.elicit) {
        const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
        client.setRequestHandler(ElicitRequestSchema, options.elicit);
    }
    await client.connect(transport).catch((error) => assert.fail(`the server does not start: ${error.message}\n${errors}`));
    const { tools } = await client.listTools();
    const call = async (name, params = {}) => {
        const reply = await client.callTool({ name: `casparian_${name}`, arguments: params });
        assert.deepEqual(JSON.parse(reply.content[0].text), reply.structuredContent ?? JSON.parse(reply.content[0].text));
        return reply;
    };
    return {
        client, tools, call,
        pid: transport.pid,
        errors: () => errors,
        async ask(name, params) {
            const reply = await call(name, params);
            assert.ok(!reply.isError, `${name}: ${reply.content[0].text}`);
            return reply.structuredContent;
        },
        async refuse(name, params) {
            const reply = await call(name, params);
            assert.ok(reply.isError, `${name} succeeded: ${reply.content[0].text}`);
            return JSON.parse(reply.content[0].text).error;
        },
        async end(jobId, deadlineMs) {
            return until(async () => {
                const status = await this.ask('job_status', { job_id: jobId, wait_ms: 5000 });
                return ENDED.includes(status.status) && status;
            }, `the end of job ${jobId}`, deadlineMs);
        },
        close: () => client.close(),
    };
}
