/*
 * packages.test.mjs - what packaging/ writes for registries and hosts, without making a package:
 * the manifests of bundles and the files of the registry by the rules of their formats, the
 * manifests' tools and arguments by the real programs, the zip by another reader, npm's launcher
 * with a program in the place of the platform's package.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { manifest } from '../../packaging/bundle.mjs';
import { programPackage, wrapper } from '../../packaging/npm.mjs';
import { release, servers, version } from '../../packaging/project.mjs';
import { serverFile } from '../../packaging/registry.mjs';
import { checkFilled, unfilled } from '../../packaging/release.mjs';
import { zip } from '../../packaging/zip.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const bin = process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin');
const OFFICIAL = path.join(root, '..', 'shared', 'data', 'schemas', 'server.schema.json');
const how = release(['owner=acme', 'repo=causeway', 'namespace=com.example', 'images=images.example/acme', 'scope=@acme']);
const SUM = 'f'.repeat(64);

let scratch;

before(() => { scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'packages-'))); });
after(() => fs.rmSync(scratch, { recursive: true, force: true }));

const text = (max) => ({ type: 'string', minLength: 1, maxLength: max });
const https = { type: 'string', pattern: '^https://' };
const closed = (properties, required) => ({ type: 'object', properties, required, additionalProperties: false });

/* Manifests of modelcontextprotocol/mcpb, version 0.3: the members that we use. Unknown ones are
 * refused. */
const MANIFEST = closed({
    manifest_version: { const: '0.3' }, name: { type: 'string', pattern: '^[a-z0-9-]+$' }, display_name: text(100),
    version: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+$' }, description: text(200), long_description: text(4000),
    author: closed({ name: text(100) }, ['name']), license: { const: 'Apache-2.0' }, keywords: { type: 'array', items: text(40), minItems: 1 },
    repository: closed({ type: { const: 'git' }, url: https }, ['type', 'url']),
    tools: { type: 'array', minItems: 1, items: closed({ name: { type: 'string', pattern: '^[A-Za-z0-9_]{1,64}$' }, description: text(4000) }, ['name']) },
    prompts_generated: { const: true }, icon: { const: 'icon.png' },
    server: closed({ type: { const: 'binary' }, entry_point: { type: 'string', pattern: '^bin/[a-z-]+$' },
        mcp_config: closed({ command: { type: 'string', pattern: '^\\$\\{__dirname\\}/bin/' }, args: { type: 'array', items: { type: 'string' } },
            env: { type: 'object', additionalProperties: { type: 'string' } } }, ['command', 'args']) }, ['type', 'entry_point', 'mcp_config']),
    compatibility: closed({ platforms: { const: ['linux'] } }, ['platforms']),
    user_config: { type: 'object', additionalProperties: closed({ type: { enum: ['string', 'number', 'boolean', 'directory', 'file'] },
        title: text(100), description: text(400), required: { type: 'boolean' }, default: {}, multiple: { type: 'boolean' },
        sensitive: { type: 'boolean' } }, ['type', 'title', 'description']) },
}, ['manifest_version', 'name', 'version', 'description', 'author', 'server']);

/* server.json of 2025-12-11, and what the registry's validators ask beyond it. */
const ARGUMENT = closed({ type: { const: 'named' }, name: { type: 'string', pattern: '^--[a-z]+$' }, value: text(400), isRequired: { type: 'boolean' },
    variables: { type: 'object' }, description: text(400) }, ['type', 'name', 'value']);
const STDIO = { const: { type: 'stdio' } };
const OCI = closed({ registryType: { const: 'oci' }, identifier: { type: 'string', pattern: '^[a-z.]+(/[a-z-]+)+:\\d+\\.\\d+\\.\\d+$' },
    runtimeHint: { const: 'docker' }, transport: STDIO, runtimeArguments: { type: 'array', items: ARGUMENT },
    environmentVariables: { type: 'array', items: closed({ name: { type: 'string', pattern: '^[A-Z_]+$' }, description: text(400),
        choices: { type: 'array', items: { type: 'string' } }, default: { type: 'string' }, isRequired: { type: 'boolean' },
        isSecret: { type: 'boolean' } }, ['name', 'description']) } }, ['registryType', 'identifier', 'transport']);
const MCPB = closed({ registryType: { const: 'mcpb' }, transport: STDIO, fileSha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    identifier: { type: 'string', pattern: '^https://github\\.com/[^/]+/[^/]+/releases/download/v[^/]+/[^/]*mcp[^/]*$' } },
['registryType', 'identifier', 'fileSha256', 'transport']);
const SERVER = closed({
    $schema: { const: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json' },
    name: { type: 'string', pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$', minLength: 3, maxLength: 200 }, title: text(100), description: text(100),
    version: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+$' },
    websiteUrl: https,
    repository: closed({ url: https, source: { const: 'github' }, subfolder: { type: 'string' } }, ['url', 'source']),
    packages: { type: 'array', minItems: 1, items: { oneOf: [OCI, MCPB] } },
}, ['$schema', 'name', 'description', 'version', 'packages']);

/* @param value as JSON has it: members that are undefined are none */
function assert_valid(schema, value, name) {
    const ajv = new Ajv({ strict: false, allErrors: true });
    addFormats(ajv);
    const check = ajv.compile(schema);
    assert.ok(check(JSON.parse(JSON.stringify(value))), `${name}: ${JSON.stringify(check.errors, null, 1)}`);
}

const strings = (value) => (typeof value === 'string' ? [value] : value !== null && typeof value === 'object' ? Object.values(value).flatMap(strings) : []);

/* What a host makes of a manifest (getMcpConfigForManifest of modelcontextprotocol/mcpb): an
 * argument that is one setting of several values becomes that many arguments; a setting without a
 * value stays as it was. */
function start_of({ server, user_config }, dirname, given) {
    const values = new Map(Object.entries(user_config).map(([name, { default: standard }]) => [`user_config.${name}`, given[name] ?? standard]));
    values.set('__dirname', dirname).set('HOME', scratch);
    const fill = (word) => word.replace(/\$\{([^}]+)\}/g, (all, name) => values.get(name) ?? all);
    const whole = (word) => values.get(/^\$\{([^}]+)\}$/.exec(word)?.[1]);
    return {
        command: fill(server.mcp_config.command),
        args: server.mcp_config.args.flatMap((word) => (Array.isArray(whole(word)) ? whole(word) : [fill(word)])),
        env: Object.fromEntries(Object.entries(server.mcp_config.env).map(([name, word]) => [name, fill(word)])),
    };
}

async function tools_of(command, args, env) {
    const client = new Client({ name: 'packages-test', version: '1.0.0' });
    await client.connect(new StdioClientTransport({ command, args, cwd: '/', stderr: 'ignore', env: { PATH: process.env.PATH, HOME: scratch, ...env } }));
    const { tools } = await client.listTools();
    await client.close();
    return tools;
}

for (const server of servers) {
    describe(server.name, () => {
        test('the manifest of its bundle', () => {
            const made = manifest(server, how);
            assert_valid(MANIFEST, made, server.name);
            assert.equal(made.version, version);
            const icon = fs.readFileSync(path.join(root, 'packaging', 'icons', `${server.name}.png`));
            assert.equal(icon.toString('latin1', 1, 4), 'PNG');
            assert.deepEqual([icon.readUInt32BE(16), icon.readUInt32BE(20)], [512, 512]);
            for (const [name, { required, default: standard }] of Object.entries(made.user_config))
                assert.ok(required || standard !== undefined, `${name} may be left out and would arrive unfilled`);
            for (const word of strings(made).flatMap((one) => one.match(/\$\{user_config\.[^}]+\}/g) ?? []))
                assert.ok(word.slice('${user_config.'.length, -1) in made.user_config, word);
        });

        test('its program starts as a host starts the bundle, and has the tools of the manifest', async () => {
            const made = manifest(server, how);
            const folders = ['first one', 'second'].map((name) => path.join(scratch, server.name, name));
            folders.forEach((name) => fs.mkdirSync(name, { recursive: true }));
            const place = path.join(scratch, `${server.name} unpacked`, 'bin');
            fs.mkdirSync(place, { recursive: true });
            fs.symlinkSync(path.join(bin, server.program), path.join(place, server.program));
            const { command, args, env } = start_of(made, path.dirname(place), { directories: folders, token: 'a-token-of-16-bytes' });
            const tools = await tools_of(command, args, env);
            const listed = new Map(tools.map((tool) => [tool.name, tool.description]));
            assert.deepEqual([...listed.keys()].sort(), made.tools.map(({ name }) => name).sort());
            for (const { name, description } of made.tools)
                assert.ok(listed.get(name).startsWith(description), `${name}: ${listed.get(name)}`);
        });

        test('server.json by our table', () => {
            const made = serverFile(server, how, SUM);
            assert_valid(SERVER, made, server.name);
            assert.equal(made.name, `com.example/${server.name}`);
            assert.equal(made.websiteUrl, made.repository.url);
            assert.equal(serverFile(server, how, undefined).packages.length, 1);
            for (const { value } of made.packages[0].runtimeArguments ?? [])
                assert.doesNotMatch(value, /^(run|-i|--rm)$/);
        });

        test('server.json by the official schema', { skip: fs.existsSync(OFFICIAL) ? false : 'it is not here' }, () => {
            assert_valid(JSON.parse(fs.readFileSync(OFFICIAL, 'utf8')), serverFile(server, how, SUM), server.name);
        });

        test('nothing is left to be filled in', () => {
            for (const made of [manifest(server, how), serverFile(server, how, SUM), wrapper(server, how), programPackage(server, how)])
                for (const word of strings(made))
                    assert.doesNotMatch(word, /@[A-Z0-9]+@/);
        });

        test('the packages of npm', () => {
            const outer = wrapper(server, how), inner = programPackage(server, how);
            assert.equal(outer.name, `@acme/${server.name}-mcp`);
            assert.equal(outer.mcpName, `com.example/${server.name}`);
            assert.equal(outer.optionalDependencies[inner.name], inner.version);
            assert.deepEqual([inner.os, inner.libc], [['linux'], ['glibc']]);
            for (const one of [outer, inner])
                assert.equal(one.scripts, undefined);
        });
    });
}

test('a setting of a release that there is none of is refused', () => {
    assert.throws(() => release(['ownr=acme']), /ownr/);
    assert.throws(() => release(['owner']), /owner/);
});

test('a release without an owner is refused before anything is built', () => {
    checkFilled(how);
    assert.throws(() => checkFilled(release([])), /@OWNER@ would stay in .*owner=NAME/);
    assert.equal(unfilled('{"a":"@SHA256@"}'), '@SHA256@');
    assert.equal(unfilled('{"name":"@acme/cobre-mcp","mail":"a@b"}'), null);
});

test('CITATION.cff has the version of CMakeLists.txt', () => {
    const words = fs.readFileSync(path.join(root, 'CITATION.cff'), 'utf8');
    assert.equal(/^version: (.+)$/m.exec(words)[1], version);
    for (const member of ['cff-version', 'message', 'title', 'authors'])
        assert.match(words, new RegExp(`^${member}:`, 'm'));
});

/* ---- the zip --------------------------------------------------------------------------------- */

const READER = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as file:
    assert file.testzip() is None
    print(json.dumps([[i.filename, i.external_attr >> 16, list(i.date_time), file.read(i).decode()] for i in file.infolist()]))
`;

test('a zip has the same bytes each time, and another reader finds what went in', () => {
    const folders = ['one', 'two'].map((name) => path.join(scratch, name));
    const files = [['b/run', 0o755, 'x'], ['a', 0o644, 'text\n'.repeat(10000)], ['B', 0o600, ''], ['b/é', 0o640, 'é']];
    for (const [at, folder] of folders.entries())
        for (const [name, mode, words] of at === 0 ? files : files.toReversed()) {
            fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
            fs.writeFileSync(path.join(folder, name), words);
            fs.chmodSync(path.join(folder, name), mode);
        }
    const SECONDS = Date.UTC(2024, 1, 29, 23, 59, 58) / 1000;
    folders.forEach((folder) => zip(`${folder}.zip`, folder, SECONDS));
    assert.ok(fs.readFileSync(`${folders[0]}.zip`).equals(fs.readFileSync(`${folders[1]}.zip`)));
    const done = spawnSync('python3', ['-c', READER, `${folders[0]}.zip`], { encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
    const time = [2024, 2, 29, 23, 59, 58];
    assert.deepEqual(JSON.parse(done.stdout), [['B', 0o100644, time, ''], ['a', 0o100644, time, files[1][2]], ['b/run', 0o100755, time, 'x'],
        ['b/é', 0o100644, time, 'é']]);
});

/* ---- npm's launcher -------------------------------------------------------------------------- */

/* A prefix of npm with the wrapper, and a shell script in the place of the platform's program. */
function install(name, script, { library = true, program = true } = {}) {
    const modules = path.join(scratch, name, 'node_modules'), outer = wrapper(servers[0], how);
    const write = (folder, files) => Object.entries(files).forEach(([file, words]) => {
        fs.mkdirSync(path.dirname(path.join(modules, folder, file)), { recursive: true });
        fs.writeFileSync(path.join(modules, folder, file), words, { mode: 0o755 });
    });
    const inner = Object.values(outer.causeway.platforms)[0];
    write(outer.name, { 'package.json': JSON.stringify(outer), 'launch.mjs': fs.readFileSync(path.join(root, 'packaging', 'npm', 'launch.mjs')) });
    if (program)
        write(inner, { 'package.json': '{}', [`bin/${outer.causeway.program}`]: `#!/bin/sh\n${script}\n` });
    if (library)
        write(outer.causeway.library, { 'package.json': '{}' });
    return path.join(modules, outer.name, 'launch.mjs');
}

const launch = (file, args = [], env = {}) => spawnSync(process.execPath, [file, ...args], { encoding: 'utf8', input: 'line\n', timeout: 60_000,
    env: { PATH: process.env.PATH, ...env } });

describe('the launcher', () => {
    test('passes words, streams, the status and the library', () => {
        const file = install('words', 'read -r line; echo "$line" "$CAUSEWAY_DUCKDB" "$@"; exit 7');
        const done = launch(file, ['a b', '--c']);
        assert.equal(done.status, 7, done.stderr);
        const library = path.join(path.dirname(file), '..', '..', ...wrapper(servers[0], how).causeway.library.split('/'), 'libduckdb.so');
        assert.equal(done.stdout, `line ${library} --tool-names=safe a b --c\n`);
        assert.match(launch(file, [], { CAUSEWAY_DUCKDB: '/own' }).stdout, /^line \/own /);
        assert.equal(launch(install('bare', 'echo "$CAUSEWAY_DUCKDB"', { library: false })).stdout, '\n');
    });

    test('passes signals on, and ends as the program ends', async () => {
        const file = install('signals', 'trap "echo term; exit 3" TERM; echo ready; while :; do sleep 0.1; done');
        const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
        let said = '';
        child.stdout.on('data', (bytes) => {
            said += bytes;
            if (said === 'ready\n')
                child.kill('SIGTERM');
        });
        const [code] = await once(child, 'close');
        assert.deepEqual([code, said], [3, 'ready\nterm\n']);
        assert.equal(launch(install('killed', 'kill -9 $$')).status, 128 + 9);
    });

    test('says which systems have a program, where there is none', () => {
        const done = launch(install('none', '', { program: false }));
        assert.equal(done.status, 1);
        assert.match(done.stderr, /@acme\/cobre-mcp: there is no program for linux-/);
    });
});
