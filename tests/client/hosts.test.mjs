/*
 * hosts.test.mjs - what `NAME host` prints, and docs/hosts.md, which shows it: each command of the
 * page prints the page's file and forms; each file starts the real program, as its host does, in /
 * and without the variables of a shell; each link says the same as the file. The Inspector reads
 * its file itself.
 */
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const bin = process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin');
const INSPECTOR = path.join(root, 'node_modules', '@modelcontextprotocol', 'inspector', 'clients', 'launcher', 'build',
    'index.js');
const INSTALLED = '/usr/local/bin';
const SERVERS = { cobre: 'cobre-mcp', universe: 'universe', casparian: 'casparian-mcp', portarium: 'portarium-mcp-server' };

let scratch, env;

/* ---- what other programs do with their words ------------------------------------------------- */

/* Runs what ssh runs on the other machine: the words joined, given to a shell. */
const SSH = `#!/bin/sh
test "$1" = -T || exit 99
shift 2
exec sh -c "$*"
`;

/* Entry points and commands of the images (packaging: section 6), with folders of ours. */
const DOCKER = () => `#!${process.execPath}
const words = process.argv.slice(2);
if (words.splice(0, 3).join(' ') !== 'run -i --rm')
    process.exit(99);
const mounts = [];
const env = {};
while (words[0].startsWith('-')) {
    const [flag, value] = words.splice(0, 2);
    if (flag === '--mount')
        mounts.push(Object.fromEntries(value.split(',').map((part) => part.split('='))));
    else if (flag === '-e')
        env[value] = process.env[value];
    else if (flag !== '--user' || !/^\\d+:\\d+$/.test(value))
        process.exit(99);
}
const [image, ...given] = words;
const images = {
    'cobre-mcp': [['cobre-mcp', '--tool-names=safe'], ['/cases']],
    universe: [['universe'], ['serve', '--transport', 'stdio', '--db', 'sqlite:/data/universe.db']],
    casparian: [['casparian', '--home', '/data'], ['mcp', 'serve', '/files']],
    portarium: [['portarium'], ['mcp', 'serve', '--transport', 'stdio']],
};
const [[program, ...entry], command] = images[image];
const data = process.env.HOME + '/' + image;
require('fs').mkdirSync(data, { recursive: true });
const inside = (word) => mounts.reduce((all, { type, src, dst }) => all.replace(dst, type === 'bind' ? src : data), word);
const ran = [...entry, ...(given.length > 0 ? given : command)].map(inside);
const { status } = require('child_process').spawnSync('${bin}/' + program, ran,
    { stdio: 'inherit', env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } });
process.exit(status ?? 98);
`;

function stand_in(name, text) {
    fs.writeFileSync(path.join(scratch, 'bin', name), typeof text === 'function' ? text() : text, { mode: 0o755 });
}

before(() => {
    scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'hosts-')));
    env = { HOME: path.join(scratch, 'home'), PATH: `${path.join(scratch, 'bin')}:/usr/bin:/bin` };
    for (const name of ['home', 'bin', 'cases', 'files', 'a folder; it\'s odd'])
        fs.mkdirSync(path.join(scratch, name));
    stand_in('ssh', SSH);
    stand_in('docker', DOCKER);
});

after(() => fs.rmSync(scratch, { recursive: true, force: true }));

/* ---- the program ----------------------------------------------------------------------------- */

/** The lines that a command prints, without its headings: { file, forms }. */
function printed(line, options = {}) {
    const [name, ...words] = Array.isArray(line) ? line : line.split(' ');
    const { status, stdout, stderr } = spawnSync(path.join(bin, name), words, { encoding: 'utf8', env, cwd: scratch, ...options });
    assert.equal(status, 0, `${line}: ${stderr}`);
    const text = stdout.replace(/"\d+:\d+"/, '"1000:1000"');
    const file = /^\{\n[^]*?^\}$/m.exec(text)?.[0];
    const forms = text.slice(text.indexOf(file) + file.length).split('\n').filter((one) => one && !one.startsWith('#'));
    return { file: JSON.parse(file), text: file, forms };
}

const installed = (text) => text.replaceAll(bin, INSTALLED);

/** What stands in the file for the server, by its name. */
function entryOf(file) {
    const servers = Object.entries(file.mcpServers ?? file.servers);
    assert.equal(servers.length, 1);
    return { name: servers[0][0], entry: servers[0][1], inputs: file.inputs };
}

/** What a link or a command installs: { name, entry, inputs }. */
function decoded(form) {
    if (form.startsWith('vscode:mcp/install?'))
        return named(JSON.parse(decodeURIComponent(form.slice(form.indexOf('?') + 1))));
    if (form.startsWith('code --add-mcp '))
        return named(JSON.parse(words_of(form)[2]));
    const { searchParams, origin } = new URL(form);
    const config = searchParams.get('config');
    const inputs = searchParams.get('inputs');
    return { name: searchParams.get('name'), inputs: inputs ? JSON.parse(inputs) : undefined,
             entry: JSON.parse(origin === 'https://vscode.dev' ? config : Buffer.from(config, 'base64').toString()) };
}

function named({ name, inputs, ...entry }) {
    return { name, entry, inputs };
}

/** The words of a command as a shell reads them. */
function words_of(command) {
    const script = 'for word do printf "%s\\0" "$word"; done';
    return spawnSync('sh', ['-c', `set -- ${command}\n${script}`], { encoding: 'utf8', env }).stdout.split('\0').slice(0, -1);
}

/** Starts what an entry says, in /, and gives the answer to initialize. */
async function initialize({ command, args, env: more }) {
    const child = spawn(command, args, { cwd: '/', env: { ...env, ...more }, stdio: ['pipe', 'pipe', 'pipe'] });
    let said = '', errors = '';
    child.stderr.on('data', (bytes) => { errors += bytes; });
    const ended = new Promise((resolve) => { child.on('close', resolve); child.on('error', (error) => { errors += error; resolve(); }); });
    child.stdin.on('error', () => {});
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } } })}\n`);
    await Promise.race([ended, new Promise((resolve) => child.stdout.on('data', (bytes) => {
        said += bytes;
        if (said.includes('\n'))
            resolve();
    }))]);
    child.stdin.end();
    await ended;
    assert.ok(said, `${command} ${args.join(' ')}: ${errors}`);
    return JSON.parse(said.split('\n')[0]).result;
}

/* ---- the page -------------------------------------------------------------------------------- */

/** [command, file, forms] of each command of the page. */
function examples() {
    const page = fs.readFileSync(path.join(root, 'docs', 'hosts.md'), 'utf8');
    const blocks = [...page.matchAll(/^```(\w+)\n([^]*?)\n```$/gm)].map(([, kind, text]) => [kind, text]);
    const all = [];
    for (const [kind, text] of blocks) {
        if (kind === 'sh')
            all.push([text, undefined, []]);
        else if (kind === 'json')
            all.at(-1)[1] = text;
        else
            all.at(-1)[2].push(text);
    }
    return all;
}

/** An entry of the page on this machine. */
function here(entry) {
    const move = (text) => text.replaceAll(INSTALLED, bin).replaceAll('/srv/', `${scratch}/`);
    return JSON.parse(move(JSON.stringify(entry)));
}

describe('docs/hosts.md', () => {
    for (const [command, text, forms] of examples()) {
        const [program, , host] = command.split(' ');

        test(`${command}`, async () => {
            const now = printed(command);
            assert.equal(installed(now.text), text);
            assert.equal(now.forms.length, forms.length);
            const { name, entry, inputs } = entryOf(JSON.parse(text));
            for (const [i, form] of forms.entries()) {
                if (/^(vscode:|code |https:|cursor:)/.test(form)) {
                    assert.deepEqual(decoded(form), { name, entry, inputs }, form);
                    assert.deepEqual(decoded(now.forms[i]), entryOf(now.file));
                } else {
                    assert.equal(installed(now.forms[i]), form);
                }
            }
            if (entry.url)
                return;
            assert.ok(path.isAbsolute(entry.command) || ['ssh', 'docker'].includes(entry.command));
            /* The plane of the page's example is on no machine. */
            const { PORTARIUM_TOKEN, PORTARIUM_BASE_URL, ...more } = entry.env ?? {};
            const { serverInfo } = await initialize(here({ ...entry, env: more }));
            assert.equal(serverInfo.name, SERVERS[name], program);
            assert.ok(host);
        });
    }

    test('it has each server and each host', () => {
        const commands = examples().map(([command]) => command.split(' '));
        for (const program of ['cobre-mcp', 'universe', 'casparian', 'portarium']) {
            const { stdout } = spawnSync(path.join(bin, program), ['host'], { encoding: 'utf8' });
            const hosts = stdout.trim().split('\n').map((line) => line.split(' ')[0]);
            assert.equal(hosts.length, 7);
            for (const host of hosts)
                assert.ok(commands.some(([one, , of]) => one === program && of === host), `${program} ${host}`);
        }
    });
});

/* ---- what the page does not show ------------------------------------------------------------- */

describe('NAME host', () => {
    const refused = (line, status, pattern) => {
        const [name, ...words] = line.split(' ');
        const done = spawnSync(path.join(bin, name), words, { encoding: 'utf8', env });
        assert.equal(done.status, status, line);
        assert.match(done.stderr, pattern, line);
        assert.equal(done.stdout, '');
    };

    test('paths with blanks and quotes arrive whole, also through ssh', async () => {
        const folder = path.join(scratch, 'a folder; it\'s odd');
        for (const host of ['claude-code', 'ssh', 'docker']) {
            const { file, forms } = printed(['cobre-mcp', 'host', host, '--', '--threads', '1', folder]);
            assert.equal((await initialize(entryOf(file).entry)).serverInfo.name, 'cobre-mcp');
            if (forms.length > 0)
                assert.deepEqual(words_of(forms[0]).slice(-5),
                    [path.join(bin, 'cobre-mcp'), '--tool-names=safe', '--threads', '1', folder]);
        }
    });

    test('directories become absolute; without arguments it is the current one', () => {
        const args = (...words) => entryOf(printed(['casparian', 'host', 'cursor', ...words]).file).entry.args;
        assert.deepEqual(args(), ['mcp', 'serve', scratch]);
        assert.deepEqual(args('--', '--profile', 'full', 'files', './cases/../cases'),
            ['mcp', 'serve', '--profile', 'full', `${scratch}/files`, `${scratch}/cases`]);
        assert.deepEqual(entryOf(printed(['universe', 'host', 'cursor']).file).entry.args, ['serve', '--transport', 'stdio']);
        assert.deepEqual(entryOf(printed(['cobre', 'host', 'cursor', '--', 'cases']).file).entry.args,
            ['serve', '--tool-names=safe', `${scratch}/cases`]);
    });

    test('placeholders of the host are kept', () => {
        const { file } = printed(['cobre-mcp', 'host', 'vscode', '--', '${workspaceFolder}']);
        assert.deepEqual(entryOf(file).entry.args, ['--tool-names=safe', '${workspaceFolder}']);
    });

    test('the name that the program was called by counts', () => {
        fs.symlinkSync(path.join(bin, 'cobre'), path.join(scratch, 'bin', 'cobre-mcp'));
        const alone = path.join(scratch, 'alone');
        fs.mkdirSync(alone);
        fs.copyFileSync(path.join(bin, 'cobre'), path.join(alone, 'cobre'));
        fs.symlinkSync(path.join(alone, 'cobre'), path.join(scratch, 'cobre-mcp'));
        const run = (PATH) => spawnSync(path.join(scratch, 'cobre-mcp'), ['host', 'cursor', '--json'],
            { encoding: 'utf8', env: { ...env, PATH } });
        assert.match(run('/usr/bin').stderr, /cobre-mcp is neither next to .*alone\/cobre nor in a folder of PATH/);
        const found = JSON.parse(run(`/usr/bin:${scratch}`).stdout);
        assert.equal(found.mcpServers.cobre.command, path.join(scratch, 'cobre-mcp'));
    });

    test('what a host cannot do is refused', () => {
        refused('universe host vscod', 2, /no host "vscod"; did you mean vscode/);
        refused('universe host claude-desktop --url http://127.0.0.1:1/mcp', 2, /starts programs/);
        refused('universe host cursor --url unix:///a.sock#/mcp', 2, /cannot call a socket file/);
        refused('universe host cursor --url ftp://a/mcp', 2, /wants http:/);
        refused('universe host cursor --url http://a/mcp -- --read-only', 2, /no ARGS/);
        refused('universe host cursor --bearer A', 2, /--bearer is for --url/);
        refused('universe host cursor --url http://a/mcp --bearer abc-def', 2, /not the token itself/);
        refused('universe host ssh --env A=1', 2, /passes no variables on/);
        refused('universe host cursor --env 1A=1', 2, /--env wants NAME/);
        refused('universe host cursor --as a/b', 2, /--as wants a name/);
        refused('cobre-mcp host docker -- --allow-write', 2, /mounts one directory/);
        refused('cobre-mcp host docker -- /a,b', 2, /comma/);
    });
});

/* ---- a real client --------------------------------------------------------------------------- */

describe('the Inspector', { concurrency: 2 }, () => {
    for (const [name, program] of [['cobre', 'cobre-mcp'], ['universe', 'universe'], ['casparian', 'casparian'],
        ['portarium', 'portarium']])
        test(`reads the file of ${name}`, async () => {
            const config = path.join(scratch, `${name}.json`);
            fs.writeFileSync(config, printed([program, 'host', 'inspector', '--json']).text);
            const args = [INSPECTOR, '--cli', '--config', config, '--server', name, '--method', 'tools/list', '--format', 'json'];
            const { stdout, stderr } = await new Promise((resolve) => execFile(process.execPath, args,
                { env: { ...env, NO_COLOR: '1' }, cwd: scratch, timeout: 120_000 },
                (error, out, err) => resolve({ stdout: out, stderr: err })));
            assert.ok(JSON.parse(stdout).result.tools.length > 0, stderr);
        });
});
