/*
 * Plugins that are shared libraries: the example builds as both, and what is wrong with a library
 * is an error of the file, never of casparian.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { place, root } from './casparian.mjs';

const REFUSED = 5;
const MANIFEST = `name = "words"
version = "1.0.0"
protocol_version = "0.1"
runtime_kind = "native_exec"
entrypoint = "words.so"
platform_os = "linux"
platform_arch = "${os.machine()}"
topics = ["text"]
`;

/** A library with these definitions, and both functions where they are not among them. */
const library = (text) => `#include <casparian_plugin.h>
#include <stdlib.h>
#include <string.h>
${text.includes('cf_plugin_parse') || text.includes('no parse') ? '' : 'int cf_plugin_parse(const char *path, cf_sink *sink) { (void)path, (void)sink; return 0; }'}
${text.includes('cf_plugin_manifest') ? '' : 'const char *cf_plugin_manifest(void) { return "{\\"name\\":\\"words\\",\\"version\\":\\"1.0.0\\"}"; }'}
${text}
`;

let self;
beforeEach(() => {
    self = place();
    self.copy('plugin/schemas', 'words/schemas');
    self.write('words/casparian.toml', MANIFEST);
    self.write('in/a.txt', 'one two\nthree\n');
});
afterEach(() => self.remove());

function compile(source) {
    const built = spawnSync('cc', ['-std=c17', '-O1', '-shared', '-fPIC', '-I', path.join(root, 'include'), source, '-o', 'words/words.so'], { cwd: self.dir, encoding: 'utf8' });
    assert.equal(built.status, 0, built.stderr);
}

function backtest() {
    const done = self.cli(['backtest', './words', 'in', '--json']);
    return { ...done, error: done.json?.partial_result?.errors?.[0] ?? done.json?.result?.errors?.[0] };
}

test('the example of the SDK, built as a library, says what it says as a program', () => {
    compile(path.join(root, 'examples', 'casparian', 'plugin', 'words.c'));
    const done = self.cli(['run', './words', 'in', '--json']);
    assert.equal(done.status, 0, done.err);
    assert.equal(done.json.result.outputs.words.rows_valid, 3);
    assert.match(done.json.result.sandbox, /seccomp/);
    const { rows } = self.cli(['query', 'SELECT line, word FROM words ORDER BY 1, 2', '--json']).json;
    assert.deepEqual(rows, [[1, 'one'], [1, 'two'], [2, 'three']]);
    assert.equal(self.cli(['verify', 'output']).status, 0);
});

describe('a library that is wrong', () => {
    const cases = [
        ['has no function to parse', '/* no parse */', /no function cf_plugin_parse/],
        ['names another plugin', 'const char *cf_plugin_manifest(void) { return "{\\"name\\":\\"other\\"}"; }', /does not name the plugin of casparian\.toml: \{"name":"other"\}/],
        ['has no manifest text', 'const char *cf_plugin_manifest(void) { return 0; }', /it is NULL/],
        ['crashes in parse', 'int cf_plugin_parse(const char *p, cf_sink *s) { (void)p, (void)s; abort(); }', /signal 6/],
        ['crashes before it is asked', '__attribute__((constructor)) static void early(void) { abort(); }', /signal 6/],
        ['ends the program in its constructor', '__attribute__((constructor)) static void early(void) { _Exit(3); }', /exit(ed)?.*3|status 3/],
        ['needs a symbol that is nowhere', 'int nowhere(void); int cf_plugin_parse(const char *p, cf_sink *s) { (void)p, (void)s; return nowhere(); }', /undefined symbol: nowhere/],
        ['calls finish itself', 'int cf_plugin_parse(const char *p, cf_sink *s) { (void)p; return cf_finish(s, 0); }', /./],
        ['reads another file', '#include <stdio.h>\nint cf_plugin_parse(const char *p, cf_sink *s) { (void)p; FILE *f = fopen("/etc/passwd", "r"); cf_error(s, f ? "read it" : "denied"); return 1; }', /^denied$/],
        ['reads another file in its constructor', '#include <stdio.h>\nstatic int could; __attribute__((constructor)) static void early(void) { could = fopen("/etc/passwd", "r") != 0; }\nint cf_plugin_parse(const char *p, cf_sink *s) { (void)p; cf_error(s, could ? "read it" : "denied"); return 1; }', /^denied$/],
        ['starts a process', '#include <unistd.h>\nint cf_plugin_parse(const char *p, cf_sink *s) { (void)p; cf_error(s, fork() < 0 ? "denied" : "forked"); return 1; }', /^denied$/],
    ];
    for (const [name, text, message] of cases) {
        test(name, () => {
            self.write('words.c', library(text));
            compile('words.c');
            const done = backtest();
            assert.equal(done.status, 1, `${done.out}${done.err}`);
            assert.match(done.error.error, message);
        });
    }

    test('is no library at all', () => {
        self.write('words/words.so', 'not an ELF file\n');
        assert.match(backtest().error.error, /the library cannot be loaded: .*(invalid ELF header|too short)/);
    });

    test('was altered after its import', () => {
        compile(path.join(root, 'examples', 'casparian', 'plugin', 'words.c'));
        fs.mkdirSync(self.home, { recursive: true });
        fs.writeFileSync(path.join(self.home, 'config.toml'), '[trust]\nallow_unsigned_native = true\n');
        assert.equal(self.cli(['plugin', 'import', 'words']).status, 0);
        assert.equal(self.cli(['run', 'words', 'in']).status, 0);
        fs.appendFileSync(path.join(self.home, `plugins/words/1.0.0/linux/${os.machine()}/words.so`), '\0');
        assert.equal(self.cli(['run', 'words', 'in', '--force']).status, REFUSED);
    });
});
