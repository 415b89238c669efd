/*
 * build.mjs - builds the report's page: one HTML file with its script, its style, and uPlot with
 * its licence inside, and a mark where the program puts the data. The result depends only on the
 * sources and on the packages.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { buildSync } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url)), out = process.argv[2];
if (!out) {
    console.error('usage: build.mjs FOLDER');
    process.exit(2);
}

const { outputFiles } = buildSync({
    entryPoints: [join(here, 'report.js')], bundle: true, minify: true, format: 'iife', target: 'es2022', write: false,
    legalComments: 'eof', charset: 'utf8', outdir: out,
});
const text = (suffix) => outputFiles.find(({ path }) => path.endsWith(suffix)).text.trim();
const script = text('.js'), style = text('.css');
if (/<\/script/i.test(script) || /<\/style/i.test(style))
    throw new Error('a part of the page would end its element');
const licence = readFileSync(join(dirname(createRequire(import.meta.url).resolve('uplot')), '..', 'LICENSE'), 'utf8').trim();
if (licence.includes('--'))
    throw new Error('the licence would end its comment');
const fill = { STYLE: style, SCRIPT: script, LICENCE: licence };
const page = readFileSync(join(here, 'report.html'), 'utf8').replace(/\{\{(STYLE|SCRIPT|LICENCE)\}\}/g, (_, name) => fill[name]);
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'report.html'), page);
