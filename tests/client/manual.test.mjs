/*
 * manual.test.mjs - the man pages: each names every command and every option that `--help` of its
 * program names, and no others; mandoc finds nothing wrong in them. cobre-mcp has cobre's page.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const bin = process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin');
const folder = path.join(root, 'docs', 'man');
const PROGRAMS = ['cobre', 'cobre-mcp', 'cobre-mpi', 'universe', 'casparian', 'portarium'];
const MANDOC = spawnSync('mandoc', ['-V']).error === undefined ? false : 'mandoc is not installed';

/* Open MPI has leaks of its own. */
function help(program, ...words) {
    const done = spawnSync(path.join(bin, program), [...words, '--help'], { encoding: 'utf8', timeout: 60_000,
        env: { PATH: process.env.PATH, COLUMNS: '1000', ASAN_OPTIONS: 'detect_leaks=0' } });
    assert.equal(done.status, 0, `${program} ${words.join(' ')} --help: ${done.stderr}`);
    return done.stdout;
}

/* The lines of a list of the help: two places in, a name, two places, words. */
function list(text, title) {
    const [, lines = ''] = new RegExp(`^${title}:\n((?: .*\n)+)`, 'm').exec(text) ?? [];
    return [...lines.matchAll(/^ {2}(\S.*?)(?: {2,}|$)/gm)].map(([, name]) => name);
}

function said(program) {
    const top = help(program);
    const commands = list(top, 'Commands');
    const texts = [top, ...commands.map((name) => help(program, ...name.split(' ')))];
    const options = texts.flatMap((text) => list(text, 'Options')).flatMap((words) => words.match(/--[a-z][a-z0-9-]*/g) ?? []);
    return { commands, options: new Set(options) };
}

/* An option may have a second name, which the help leaves out. The line is read before the help is
 * printed. */
function takes(program, words, option) {
    return spawnSync(path.join(bin, program), [...words.split(' '), `${option}=true`, '--help'], { timeout: 60_000 }).status === 0;
}

/* The text of a page: no requests, no changes of the font, hyphens as they are typed. */
function page(name) {
    const text = fs.readFileSync(path.join(folder, `${name}.1`), 'utf8');
    return text.replace(/^\.[A-Z]{1,2} /gm, '').replace(/\\f[A-Z]/g, '').replace(/\\-/g, '-').replace(/"/g, '').replace(/ +/g, ' ');
}

const sorted = (set) => [...set].sort();

describe('man pages', () => {
    for (const program of PROGRAMS.filter((name) => fs.existsSync(path.join(bin, name)))) {
        test(program, () => {
            const { commands, options } = said(program);
            const text = page(program);
            assert.ok(options.size >= 2, 'nothing was read');
            const named = new Set(text.match(/(?<![\w-])--[a-z][a-z0-9-]*/g));
            const unnamed = commands.filter((name) => !new RegExp(`\\b${name.split(" ").join("\\b.*\\b")}\\b`).test(text));
            assert.deepEqual(unnamed, [], 'commands that the page lacks');
            assert.deepEqual(sorted(options).filter((name) => !named.has(name)), [], 'options that the page lacks');
            const known = program === 'cobre-mcp' ? said('cobre').options : options;
            const wrong = sorted(named).filter((name) => !known.has(name) && !commands.some((words) => takes(program, words, name)));
            assert.deepEqual(wrong, [], 'options that no command has');
        });
    }

    test('are what mandoc takes without a warning', { skip: MANDOC }, () => {
        for (const name of fs.readdirSync(folder)) {
            const done = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', name], { encoding: 'utf8', cwd: folder });
            assert.equal(done.stdout + done.stderr, '', name);
        }
    });
});
