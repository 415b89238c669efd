/*
 * variables.test.mjs - each flag of the commands that serve has a variable of the environment that
 * --help names, and the variables of packaging/servers.json are among them: a host sets those for
 * its user.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const top = path.dirname(path.dirname(import.meta.dirname));
const bin = process.env.CAUSEWAY_BIN ?? path.join(top, 'build/dev/bin');
const COMMANDS = ['universe serve', 'portarium serve', 'portarium mcp serve', 'portarium gate', 'cobre-mcp', 'casparian mcp serve'];
/* Of all commands of a program; they are for a person. */
const COMMON = ['--help', '--version', '--json', '--quiet', '--verbose', '--config'];

/** [flag, text] of each option. */
function flags(command) {
    const [program, ...words] = command.split(' ');
    const help = execFileSync(path.join(bin, program), [...words, '--help'], { encoding: 'utf8' });
    const options = help.slice(help.indexOf('\nOptions:')).split(/\n(?= {2,}(?:-\w, )?--\w)/).slice(1);
    return options.map((text) => [/--[\w-]+/.exec(text)[0], text.split('\n\n')[0].replace(/\s+/g, ' ')]);
}

for (const command of COMMANDS)
    test(`${command}: --help names a variable for each flag`, () => {
        const all = flags(command);
        assert.ok(all.length > 20, `${all.length} flags`);
        const without = all.filter(([flag, text]) => !COMMON.includes(flag) && !/environment [A-Z][A-Z0-9_]+\)/.test(text)).map(([flag]) => flag);
        assert.deepEqual(without, []);
    });

const { servers } = JSON.parse(fs.readFileSync(path.join(top, 'packaging/servers.json'), 'utf8'));
for (const { program, arguments: words, settings } of servers)
    test(`${program}: what a host sets has a name in --help`, () => {
        const command = [program, ...words.filter((word) => !word.startsWith('-') && word !== 'stdio')].join(' ');
        const help = flags(command).map(([, text]) => text).join('\n');
        for (const { variable } of settings.filter((one) => one.variable !== undefined))
            assert.ok(help.includes(`environment ${variable})`) || help.includes(`with ${variable};`), `${command} does not name ${variable}`);
    });

/** The answer to initialize and to a call of casparian, with these variables. */
function call(env, name, args) {
    const home = fs.mkdtempSync(path.join(fs.realpathSync('/tmp'), 'variables-'));
    const input = [{ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } } },
        { method: 'notifications/initialized' }, { id: 2, method: 'tools/call', params: { name, arguments: args(home) } }]
        .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
    try {
        const out = execFileSync(path.join(bin, 'casparian'), ['--home', path.join(home, 'home'), 'mcp', 'serve'],
            { input, encoding: 'utf8', cwd: '/usr', stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, ...env(home) } });
        return out.trim().split('\n').map((line) => JSON.parse(line)).find(({ id }) => id === 2);
    } finally {
        fs.rmSync(home, { recursive: true, force: true });
    }
}

test('CASPARIAN_ALLOW_PATH is a directory that the client may name', () => {
    const scan = (env) => call(env, 'casparian_scan', (home) => ({ path: home }));
    assert.ok(!(scan((home) => ({ CASPARIAN_ALLOW_PATH: home })).result.isError));
    const refused = scan(() => ({}));
    assert.ok(refused.error !== undefined || refused.result.isError);
});

test('CASPARIAN_MCP_PROFILE=readonly refuses what changes', () => {
    const request = (profile) => JSON.stringify(call((home) => ({ CASPARIAN_ALLOW_PATH: home, CASPARIAN_MCP_PROFILE: profile }), 'casparian_run_request',
        (home) => ({ plugin_ref: 'none', input_dir: home })));
    assert.match(request('readonly'), /there is no tool casparian_run_request/);
    assert.match(request('default'), /There is no plugin none/);
});
