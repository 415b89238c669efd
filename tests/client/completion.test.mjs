/*
 * completion.test.mjs - the scripts of `NAME completion SHELL` in the shells themselves: bash by
 * its variables and on a terminal, zsh on one (zpty), fish by `complete -C`. A shell that is not
 * installed is skipped.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const bin = process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin');
const PROGRAMS = ['cobre', 'cobre-mcp', 'universe', 'casparian', 'portarium'];
const DEADLINE_MS = 60_000;

const has = (program) => (process.env.PATH ?? '').split(':').some((folder) => fs.existsSync(path.join(folder, program)));
const missing = (shell) => (has(shell) ? false : `${shell} is not installed`);

let scratch, env;

before(() => {
    scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'completion-')));
    env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, HOME: scratch };
    fs.mkdirSync(path.join(scratch, 'case one'));
    fs.writeFileSync(path.join(scratch, 'case.json'), '{}');
    /* The last one is never offered: bash would run it. */
    for (const id of ['alpha', 'alps', 'beta', 'al$(id)']) {
        const made = spawnSync(path.join(bin, 'universe'), ['generate', '--db', `sqlite:${scratch}/a.db`, '--id', id, '--seed', '1',
            '--preset', 'sparse', '--quiet'], { encoding: 'utf8' });
        assert.equal(made.status, 0, made.stderr);
    }
});
after(() => fs.rmSync(scratch, { recursive: true, force: true }));

function run(shell, args, options = {}) {
    const done = spawnSync(shell, args, { encoding: 'utf8', env, cwd: scratch, timeout: DEADLINE_MS, ...options });
    assert.equal(done.error, undefined, `${shell}: ${done.error}`);
    return done;
}

/* ---- bash ------------------------------------------------------------------------------------ */

/** What bash would offer for a line, split into words as readline does (COMP_WORDBREAKS). */
function bash(line, { point = line.length, before: setup = '' } = {}) {
    const program = line.split(' ')[0];
    const words = line.slice(0, point).match(/[=:]|[^\s=:]+/g);
    if (/\s$/.test(line.slice(0, point)))
        words.push('');
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const { stdout, stderr } = run('bash', ['--norc', '-c', `${setup}
source <(${program} completion bash)
COMP_LINE='${line}' COMP_POINT=${point} COMP_WORDS=(${quoted}) COMP_CWORD=${words.length - 1}
_complete_${program.replaceAll('-', '_')}
[[ \${#COMPREPLY[@]} -eq 0 ]] || printf '%s\\n' "\${COMPREPLY[@]}"`]);
    assert.equal(stderr, '');
    return stdout.split('\n').slice(0, -1).sort();
}

describe('bash', { skip: missing('bash') }, () => {
    test('names of commands', () => {
        assert.deepEqual(bash('universe s'), ['serve']);
        assert.deepEqual(bash('casparian audit '), ['tail', 'verify']);
        assert.ok(bash('portarium ').includes('approvals'));
        assert.deepEqual(bash('cobre-mcp ho'), ['host']);
    });

    test('options and choices', () => {
        assert.deepEqual(bash('universe serve --transport '), ['http', 'stdio']);
        assert.deepEqual(bash('universe serve --tr'), ['--transport']);
        assert.deepEqual(bash('cobre export --format '), ['arrow', 'csv', 'json']);
        /* What bash replaces is the part after the sign. */
        assert.deepEqual(bash('universe serve --transport='), ['http', 'stdio']);
        assert.deepEqual(bash('universe serve --transport=st'), ['stdio']);
        assert.deepEqual(bash('universe serve --transport=st --health', { point: 'universe serve --transport=st'.length }),
            ['stdio']);
    });

    test('files and directories', () => {
        assert.deepEqual(bash('universe import ca'), ['case one', 'case.json']);
        assert.deepEqual(bash('cobre run ca'), ['case one']);
        assert.deepEqual(bash('cobre-mcp ca'), ['case one']);
        assert.deepEqual(bash('universe serve --tokens=ca'), ['case one', 'case.json']);
    });

    test('ids, from the database of the line', () => {
        assert.deepEqual(bash(`universe export --db sqlite:${scratch}/a.db al`), ['alpha', 'alps']);
        assert.deepEqual(bash(`universe export --db=sqlite:${scratch}/a.db `), ['alpha', 'alps', 'beta']);
        assert.deepEqual(bash(`universe replay --db sqlite:${scratch}/none.db `), []);
        assert.equal(fs.existsSync(path.join(scratch, 'none.db')), false);
    });

    test('a path in front of the program, and ~', () => {
        const line = `${bin}/universe li`;
        const { stdout } = run('bash', ['--norc', '-c', `source <(universe completion bash)
COMP_LINE='${line}' COMP_POINT=${line.length} COMP_WORDS=('${bin}/universe' li) COMP_CWORD=1
_complete_universe; printf '%s\\n' "\${COMPREPLY[@]}"`]);
        assert.equal(stdout, 'list\n');
    });

    test('every program has a script that bash reads', () => {
        for (const program of PROGRAMS) {
            const script = run(program, ['completion', 'bash']).stdout;
            assert.equal(run('bash', ['-n'], { input: script }).status, 0, program);
            assert.match(run('bash', ['--norc', '-c', `${script}\ncomplete -p ${program}`]).stdout, /-F _complete_/);
        }
    });

    const bashCompletion = '/usr/share/bash-completion/bash_completion';
    test('with bash-completion loaded', { skip: fs.existsSync(bashCompletion) ? false : 'bash-completion is not installed' }, () => {
        assert.deepEqual(bash('universe serve --transport=', { before: `source ${bashCompletion}` }), ['http', 'stdio']);
    });

    /* readline itself parts the words; script gives bash a terminal. */
    test('on a terminal', { skip: missing('script') }, () => {
        fs.writeFileSync(path.join(scratch, 'inputrc'), 'set bell-style none\nset enable-bracketed-paste off\n');
        fs.writeFileSync(path.join(scratch, 'bashrc'), 'PS1="> "\nbind "set completion-query-items 0"\n');
        const { stdout } = run('script', ['-qec', `bash --rcfile ${scratch}/bashrc -i`, '/dev/null'],
            { input: `source <(universe completion bash)\nuniverse serve --transport=s\t--hel\t\nexit\n`,
              env: { ...env, INPUTRC: path.join(scratch, 'inputrc'), TERM: 'dumb' } });
        assert.match(stdout, /universe serve --transport=stdio --help /);
    });
});

/* ---- zsh ------------------------------------------------------------------------------------- */

/** What zsh makes of a line and a tab, on a terminal of its own. */
function zsh(line) {
    const { stdout, stderr } = run('zsh', ['-fc', `
zmodload zsh/zpty
zpty shell "zsh -f -i"
zpty -w shell "PS1='> '; autoload -Uz compinit; compinit -u -d ${scratch}/zcompdump; source <(${line.split(' ')[0]} completion zsh); print ready''now"
zpty -r shell out '*readynow*'
zpty -w shell "bindkey '^I' complete-word; zstyle ':completion:*' list-colors ''; mark() { print -rn -- \\"<<\\$BUFFER>>\\"; BUFFER=; zle accept-line }; zle -N mark; bindkey '^X' mark; print set''up"
zpty -r shell out '*setup*'
zpty -n -w shell ${JSON.stringify(line)}$'\\t\\C-x'
zpty -r shell out '*>>*'
print -r -- $out
zpty -d shell`]);
    const found = /<<([^]*?)>>/.exec(stdout.replaceAll(/\x1b\[[0-9;?]*[a-zA-Z]/g, ''));
    assert.ok(found, `${stdout}${stderr}`);
    return found[1];
}

describe('zsh', { skip: missing('zsh') }, () => {
    test('a word is completed', () => {
        assert.equal(zsh('universe serve --trans'), 'universe serve --transport ');
        assert.equal(zsh('universe serve --transport=st'), 'universe serve --transport=stdio ');
        assert.equal(zsh('cobre-mcp ho'), 'cobre-mcp host ');
        assert.equal(zsh('universe import case.'), 'universe import case.json ');
        assert.equal(zsh('universe serve --tokens=case.'), 'universe serve --tokens=case.json ');
        assert.equal(zsh(`universe export --db sqlite:${scratch}/a.db be`), `universe export --db sqlite:${scratch}/a.db beta `);
    });

    test('every program has a script that zsh reads', () => {
        for (const program of PROGRAMS) {
            const script = run(program, ['completion', 'zsh']).stdout;
            assert.match(script, new RegExp(`^#compdef ${program}\n`));
            fs.writeFileSync(path.join(scratch, `_${program}`), script);
            assert.equal(run('zsh', ['-fn', path.join(scratch, `_${program}`)]).status, 0, program);
        }
    });
});

/* ---- fish ------------------------------------------------------------------------------------ */

function fish(line) {
    const { stdout, stderr } = run('fish', ['--no-config', '-c',
        `${line.split(' ')[0]} completion fish | source; complete -C ${JSON.stringify(line)}`]);
    assert.equal(stderr, '');
    return stdout.split('\n').slice(0, -1).map((one) => one.split('\t')[0]).sort();
}

describe('fish', { skip: missing('fish') }, () => {
    test('words', () => {
        assert.deepEqual(fish('universe s'), ['serve']);
        assert.deepEqual(fish('universe serve --transport '), ['http', 'stdio']);
        assert.deepEqual(fish('universe serve --transport=s'), ['--transport=stdio']);
        assert.deepEqual(fish('cobre-mcp ho'), ['host']);
        assert.deepEqual(fish(`universe export --db sqlite:${scratch}/a.db al`), ['alpha', 'alps']);
    });

    test('files', () => {
        assert.ok(fish('universe import case.').some((word) => word.startsWith('case.json')));
    });
});
