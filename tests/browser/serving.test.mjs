/*
 * serving.test.mjs - how the page is handed out: its fields, its ETags, compressed or not, to whom.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { folder, start, stop } from '../client/universe.mjs';

const PARTS = [
    ['/', 'text/html; charset=utf-8'], ['/ui', 'text/html; charset=utf-8'], ['/assets/page.js', 'text/javascript; charset=utf-8'],
    ['/assets/style.css', 'text/css; charset=utf-8'], ['/assets/icon.svg', 'image/svg+xml'],
];
const TOKEN = 'a-token-of-this-test';
let server, guarded, dir;

before(async () => {
    dir = folder();
    fs.writeFileSync(path.join(dir, 'tokens'), `${createHash('sha256').update(TOKEN).digest('hex')} somebody\n`, { mode: 0o600 });
    server = await start('memory');
    guarded = await start('memory', '--tokens', path.join(dir, 'tokens'));
});

after(async () => {
    await stop(server);
    await stop(guarded);
    fs.rmSync(dir, { recursive: true });
});

/* fetch would undo the compression by itself */
function get(where, headers = {}, { to = server, method = 'GET' } = {}) {
    return new Promise((resolve, reject) => {
        http.request(new URL(where, to.base), { method, headers, agent: false, timeout: 30_000 }, (answer) => {
            const parts = [];
            answer.on('data', (part) => parts.push(part));
            answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
        }).on('error', reject).end();
    });
}

for (const [where, type] of PARTS) {
    test(`${where} has its type, its fields, and an ETag that spares sending it twice`, async () => {
        const plain = await get(where), packed = await get(where, { 'Accept-Encoding': 'br, gzip' });
        assert.equal(plain.status, 200);
        assert.equal(plain.headers['content-type'], type);
        assert.equal(plain.headers['x-content-type-options'], 'nosniff');
        assert.equal(plain.headers['referrer-policy'], 'no-referrer');
        assert.match(plain.headers['content-security-policy'], /^default-src 'self';/);
        assert.doesNotMatch(plain.headers['content-security-policy'], /unsafe|data:|blob:|\*/);
        assert.equal(plain.headers['cache-control'], 'no-cache');
        assert.equal(plain.headers.vary, 'Accept-Encoding');
        assert.equal(plain.headers['content-encoding'], undefined);
        assert.match(plain.headers.etag, /^"[0-9a-f]{32}"$/);
        assert.equal(packed.headers['content-encoding'], 'gzip');
        assert.notEqual(packed.headers.etag, plain.headers.etag);
        assert.deepEqual(gunzipSync(packed.body), plain.body);
        assert.equal(plain.headers.etag, `"${createHash('sha256').update(plain.body).digest('hex').slice(0, 32)}"`);

        const again = await get(where, { 'If-None-Match': `"other", ${plain.headers.etag}` });
        assert.equal(again.status, 304);
        assert.equal(again.body.length, 0);
        assert.equal(again.headers.etag, plain.headers.etag);
        assert.equal((await get(where, { 'If-None-Match': '"other"' })).status, 200);

        const head = await get(where, {}, { method: 'HEAD' });
        assert.equal(head.status, 200);
        assert.equal(Number(head.headers['content-length']), plain.body.length);
        assert.equal(head.body.length, 0);
    });
}

test('who does not take gzip does not get it', async () => {
    for (const coding of ['', 'br', 'gzip;q=0', 'gzip;q=0.0, br', 'identity'])
        assert.equal((await get('/', { 'Accept-Encoding': coding })).headers['content-encoding'], undefined, coding);
    for (const coding of ['gzip', 'GZIP', 'deflate, gzip;q=0.5'])
        assert.equal((await get('/', { 'Accept-Encoding': coding })).headers['content-encoding'], 'gzip', coding);
});

test('nothing but the page is there', async () => {
    for (const where of ['/assets/', '/assets/nothing.js', '/assets/page.js.gz', '/assets/page.js.etag', '/assets/..%2Findex.html',
        `/assets/${'x'.repeat(500)}.js`])
        assert.equal((await get(where)).status, 404, where);
    assert.equal((await get('/', {}, { method: 'DELETE' })).status, 405);
});

test('the page loads nothing from elsewhere and has no script or style of its own within', async () => {
    const html = (await get('/')).body.toString();
    assert.doesNotMatch(html, /<style|style=|<script(?![^>]*src=)|\son[a-z]+=|https?:/i);
});

test('where tokens are asked for, the page is given without one, and nothing else is', async () => {
    for (const [where] of PARTS)
        assert.equal((await get(where, {}, { to: guarded })).status, 200, where);
    for (const where of ['/universes', '/universes/x/state', '/readyz', '/assets'])
        assert.equal((await get(where, {}, { to: guarded })).status, 401, where);
    assert.equal((await get('/', {}, { to: guarded, method: 'POST' })).status, 401);
    assert.equal((await get('/universes', { Authorization: `Bearer ${TOKEN}` }, { to: guarded })).status, 200);
});
