/*
 * build.mjs - bundles a page into a folder: index.html, and below assets/ page.js with its imports
 * as one file, style.css and icon.svg; each also as a gzip and with an ETag of its bytes. The
 * result depends only on the sources and on their packages.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { constants, gzipSync } from 'node:zlib';

import { buildSync } from 'esbuild';

const [source, out] = process.argv.slice(2);
if (!out) {
    console.error('usage: build.mjs SOURCE FOLDER');
    process.exit(2);
}

const build = (name, options) => buildSync({
    entryPoints: [resolve(source, name)], minify: true, write: false, charset: 'utf8', ...options,
}).outputFiles[0].contents;
const files = {
    'index.html': readFileSync(join(source, 'index.html')),
    'assets/page.js': build('page.js', { bundle: true, format: 'esm', target: 'es2022', legalComments: 'eof' }),
    'assets/style.css': build('style.css'),
    'assets/icon.svg': readFileSync(join(source, 'icon.svg')),
};

mkdirSync(join(out, 'assets'), { recursive: true });
for (const [name, bytes] of Object.entries(files)) {
    writeFileSync(join(out, name), bytes);
    writeFileSync(join(out, `${name}.gz`), gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
    writeFileSync(join(out, `${name}.etag`), createHash('sha256').update(bytes).digest('hex').slice(0, 32));
}
