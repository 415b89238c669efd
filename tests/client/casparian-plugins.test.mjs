/*
 * casparian-plugins.test.mjs - plugins as people sign, install, alter and remove them.
 */
import assert from 'node:assert/strict';
import { createHash, createPublicKey, verify } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { place, serve } from './casparian.mjs';

const MANIFEST = `name = "words"
version = "1.0.0"
protocol_version = "0.1"
runtime_kind = "python_shim"
entrypoint = "words.py"
`;
const MODULE = `name = "words"
version = "1.0.0"
topics = ["text"]
outputs = {"words": {"columns": [
    {"name": "line", "type": "int64", "nullable": False},
    {"name": "word", "type": "string", "nullable": False},
]}}


def parse(file_path):
    with open(file_path) as file:
        for number, line in enumerate(file, 1):
            for word in line.split():
                yield {"line": number, "word": word}
`;

/* Exit statuses, of casparian --help. */
const FAILED = 1, NOT_FOUND = 4, REFUSED = 5;

let self;

beforeEach(() => {
    self = place();
    self.write('words/casparian.toml', MANIFEST);
    self.write('words/words.py', MODULE);
    self.write('in/a.txt', 'one two\nthree\n');
});
afterEach(() => self.remove());

const succeed = (...args) => self.succeed(...args);
const fail = (...args) => self.fail(...args);

function configure(text) {
    fs.mkdirSync(self.home, { recursive: true });
    fs.writeFileSync(path.join(self.home, 'config.toml'), text);
}

/** Make a key, sign the folder with it, and allow its signer. */
function sign(folder = 'words') {
    const { public_key: key } = succeed('plugin', 'keygen', 'lab.pem');
    succeed('plugin', 'sign', folder, '--key', 'lab.pem', '--signer', 'lab');
    configure(`[trust]\nallowed_signers = ["lab"]\n[trust.keys]\nlab = "${key}"\n`);
    return key;
}

const run = () => self.cli(['run', 'words', 'in', '--json']);
const installed = () => path.join(self.home, 'plugins/words/1.0.0/any/any');

function contracts() {
    const db = new DatabaseSync(path.join(self.home, 'state.sqlite'), { readOnly: true });
    const rows = db.prepare('SELECT scope_id, version, schemas_json FROM schema_contracts').all();
    db.close();
    return rows;
}

describe('signed plugins', () => {
    test('the signature is what Node verifies with the printed key', () => {
        const key = sign();
        const index = fs.readFileSync(path.join(self.dir, 'words/bundle.index.json'));
        const { files, signer } = JSON.parse(index);
        assert.equal(signer, 'lab');
        assert.deepEqual(files.map((file) => file.path), ['casparian.toml', 'words.py']);
        assert.equal(files[1].sha256, createHash('sha256').update(MODULE).digest('hex'));
        const prefix = Buffer.from('302a300506032b6570032100', 'hex'); // RFC 8410: an Ed25519 key
        const publicKey = createPublicKey({ key: Buffer.concat([prefix, Buffer.from(key, 'base64')]), format: 'der', type: 'spki' });
        const signature = Buffer.from(self.read('words/bundle.sig').trim(), 'base64');
        assert.ok(verify(null, createHash('sha256').update(index).digest(), publicKey, signature));
        assert.equal(fs.statSync(path.join(self.dir, 'lab.pem')).mode & 0o777, 0o600);
        fail(FAILED, /lab\.pem/, 'plugin', 'keygen', 'lab.pem');
    });

    test('one of an allowed signer is imported with its contract, and runs', () => {
        sign();
        const found = succeed('plugin', 'import', 'words');
        assert.equal(found.signer, 'lab');
        assert.equal(found.path, installed());
        const [contract, ...others] = contracts();
        assert.equal(others.length, 0);
        assert.equal(contract.scope_id, createHash('sha256').update('words:1.0.0:words').digest('hex'));
        assert.equal(contract.version, 1);
        assert.deepEqual(JSON.parse(contract.schemas_json).words.columns.map((column) => column.name), ['line', 'word']);
        const done = run();
        assert.equal(done.status, 0, done.err + done.out);
        succeed('plugin', 'import', 'words'); // the same once more
        assert.equal(contracts().length, 1);
    });

    test('a file that is not in the index is refused', () => {
        sign();
        self.write('words/more.py', 'x = 1\n');
        fail(REFUSED, /more\.py is not what lab signed/, 'plugin', 'verify', 'words');
        fail(REFUSED, /more\.py is not what lab signed/, 'plugin', 'import', 'words');
        assert.ok(!fs.existsSync(installed()));
    });
});

describe('unsigned plugins', () => {
    test('are refused with the setting that allows them, and nothing is left', () => {
        fail(REFUSED, /allow_unsigned_python = true/, 'plugin', 'import', 'words');
        assert.deepEqual(fs.readdirSync(path.join(self.home, 'plugins')), []);
        fail(NOT_FOUND, /words/, 'run', 'words', 'in');
    });

    test('are imported where a person allows them', () => {
        configure('[trust]\nallow_unsigned_python = true\n');
        succeed('plugin', 'import', 'words');
        const done = run();
        assert.equal(done.status, 0, done.err + done.out);
    });
});

describe('what was imported', () => {
    beforeEach(() => configure('[trust]\nallow_unsigned_python = true\n'));

    test('is plugin_modified once its files are others', async () => {
        succeed('plugin', 'import', 'words');
        fs.appendFileSync(path.join(installed(), 'words.py'), '# altered\n');
        fail(REFUSED, /not what was imported[^]*TRY: .*casparian plugin import/, 'run', 'words', 'in');
        const refused = self.cli(['run', 'words', 'in', '--json']);
        assert.equal(refused.json.error.code, 'plugin_modified');
        const server = await serve(self);
        const error = await server.refuse('preview', { plugin_ref: 'words', files: ['in/a.txt'] });
        await server.close();
        assert.equal(error.code, 'plugin_modified');
        assert.match(JSON.stringify(error), /casparian plugin import/);
        succeed('plugin', 'import', 'words'); // puts it right
        assert.equal(run().status, 0);
    });

    test('keeps its version: other files need another one', () => {
        succeed('plugin', 'import', 'words');
        self.write('words/words.py', MODULE.replace('.split()', '.split(",")'));
        fail(FAILED, /a version never changes/, 'plugin', 'import', 'words');
        succeed('plugin', 'remove', 'words@1.0.0');
        fail(FAILED, /a version never changes/, 'plugin', 'import', 'words');
        self.write('words/casparian.toml', MANIFEST.replace('1.0.0', '1.0.1'));
        self.write('words/words.py', MODULE.replace('1.0.0', '1.0.1'));
        assert.equal(succeed('plugin', 'import', 'words').version, '1.0.1');
    });

    test('does not run when it was put there by hand', () => {
        fs.cpSync(path.join(self.dir, 'words'), installed(), { recursive: true });
        fail(REFUSED, /never imported/, 'run', 'words', 'in');
    });

    test('is gone after remove', () => {
        succeed('plugin', 'import', 'words');
        assert.equal(succeed('plugin', 'remove', 'words').removed, 'words@1.0.0');
        assert.ok(!fs.existsSync(installed()));
        fail(NOT_FOUND, /words/, 'run', 'words', 'in');
        fail(NOT_FOUND, /words/, 'plugin', 'remove', 'words');
        succeed('plugin', 'import', 'words');
        assert.equal(run().status, 0);
    });
});

describe('folders that are no bundle', () => {
    beforeEach(() => configure('[trust]\nallow_unsigned_python = true\n'));

    for (const entrypoint of ['../outside.py', '/etc/passwd', 'missing.py']) {
        test(`the entrypoint ${entrypoint}`, () => {
            self.write('outside.py', MODULE);
            self.write('words/casparian.toml', MANIFEST.replace('words.py', entrypoint));
            fail(FAILED, /entrypoint/, 'plugin', 'import', 'words');
        });
    }

    test('an entrypoint that is a link', () => {
        self.write('outside.py', MODULE);
        fs.rmSync(path.join(self.dir, 'words/words.py'));
        fs.symlinkSync(path.join(self.dir, 'outside.py'), path.join(self.dir, 'words/words.py'));
        fail(REFUSED, /regular files/, 'plugin', 'import', 'words');
    });

    test('a declaration that is no literal, and an unknown key', () => {
        self.write('words/words.py', MODULE.replace('topics = ["text"]', 'topics = list("ab")'));
        fail(FAILED, /literal/, 'plugin', 'import', 'words');
        self.write('words/words.py', MODULE);
        self.write('words/casparian.toml', `${MANIFEST}colour = "red"\n`);
        fail(FAILED, /colour/, 'plugin', 'import', 'words');
    });
});
