/*
 * cobre.mjs - the official clients connected to cobre-mcp in any revision, over stdio and HTTP;
 * case directories of a test's own.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const here = path.dirname(fileURLToPath(import.meta.url));
export const root = path.resolve(here, '..', '..', '..');
export const bin = process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin');
export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
const MODERN = '2026-07-28';
const program = path.join(bin, 'cobre-mcp');

/** A folder for a test file, and all that it starts; `close()` ends both. */
export function workshop(label) {
    const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), `cobre-${label}-`)));
    const clients = [];
    const children = [];

    function editConfig(dir, edit) {
        const file = path.join(dir, 'config.json');
        const config = JSON.parse(fs.readFileSync(file, 'utf8'));
        edit(config);
        fs.writeFileSync(file, JSON.stringify(config));
    }

    /** A copy of an example case, with few iterations and scenarios. */
    function copyCase(name, as, { iterations = 20, scenarios = 10 } = {}) {
        const target = path.join(scratch, as, name);
        fs.cpSync(path.join(root, 'examples', 'cases', name), target, { recursive: true });
        editConfig(target, (config) => {
            config.simulation.num_scenarios = scenarios;
            if (name === 'four-stages')
                config.training.stopping_rules = [{ type: 'iteration_limit', limit: iterations }];
        });
        return target;
    }

    /** Start a server over HTTP; its URL. */
    async function serve(args) {
        const child = spawn(program, ['--transport', 'http', '--port', '0', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
        let said = '';

        children.push(child);
        child.stderr.on('data', (bytes) => { said += bytes; });
        while (!/serving (http\S+)\n/.test(said))
            await Promise.race([once(child.stderr, 'data'),
                once(child, 'exit').then(([code]) => assert.fail(`ended with ${code}: ${said}`))]);
        return new URL(/serving (http\S+)\n/.exec(said)[1]);
    }

    /** A client of one revision; `args` are flags of the server. */
    async function connect(revision, transport, args, capabilities = {}) {
        const flags = ['--revision', revision, '--allowed-dirs', scratch, ...args];
        const isModern = revision === MODERN;
        const made = transport === 'http'
            ? new (isModern ? Http2 : StreamableHTTPClientTransport)(await serve(flags))
            : new (isModern ? Stdio2 : StdioClientTransport)({ command: program, args: flags, stderr: 'ignore' });
        const identity = { name: 'cobre-test', version: '1.0.0' };
        const client = isModern
            ? new Client2(identity, { capabilities, versionNegotiation: { mode: { pin: MODERN } } })
            : new Client(identity, { capabilities });
        await client.connect(made);
        clients.push(client);
        return client;
    }

    async function close() {
        await Promise.all(clients.map((client) => client.close()));
        for (const child of children)
            child.kill('SIGKILL');
        fs.rmSync(scratch, { recursive: true, force: true });
    }

    return { scratch, editConfig, copyCase, connect, serve, close };
}

/** The value that a tool answers. */
export function answer(result) {
    assert.notEqual(result.isError, true, JSON.stringify(result).slice(0, 2000));
    const value = JSON.parse(result.content[0].text);
    if (result.structuredContent !== undefined)
        assert.deepEqual(result.structuredContent, value);
    return value;
}

/** The error record of a tool that refuses. */
export function refusal(result) {
    assert.equal(result.isError, true, JSON.stringify(result).slice(0, 2000));
    assert.equal(result.structuredContent, undefined);
    assert.equal(result.content.length, 1);
    return record(JSON.parse(result.content[0].text));
}

export function record(value) {
    assert.equal(typeof value.kind, 'string');
    assert.ok(value.message.length > 0);
    assert.equal(typeof value.context, 'object');
    assert.ok('suggestion' in value);
    return value;
}

/** Call a tool by either line of the client. */
export const call = (client, name, args) => client.callTool({ name, arguments: args });
