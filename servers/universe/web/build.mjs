/*
 * build.mjs - builds the page into a folder: page.js and its imports as one file, the style, the
 * icon, and for each file a gzip and an ETag. The result depends only on the sources and on the
 * packages.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, gzipSync } from 'node:zlib';

import { buildSync } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url)), out = process.argv[2];
if (!out) {
    console.error('usage: build.mjs FOLDER');
    process.exit(2);
}

const { outputFiles: [script] } = buildSync({
    entryPoints: [join(here, 'page.js')], bundle: true, minify: true, format: 'esm', target: 'es2022', write: false,
    legalComments: 'eof', charset: 'utf8',
});
const { outputFiles: [style] } = buildSync({ entryPoints: [join(here, 'style.css')], minify: true, write: false, charset: 'utf8' });
const files = {
    'index.html': readFileSync(join(here, 'index.html')),
    'assets/page.js': script.contents,
    'assets/style.css': style.contents,
    'assets/icon.svg': readFileSync(join(here, 'icon.svg')),
};

mkdirSync(join(out, 'assets'), { recursive: true });
for (const [name, bytes] of Object.entries(files)) {
    writeFileSync(join(out, name), bytes);
    writeFileSync(join(out, `${name}.gz`), gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
    writeFileSync(join(out, `${name}.etag`), createHash('sha256').update(bytes).digest('hex').slice(0, 32));
}
