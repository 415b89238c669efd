/*
 * cobre-charts.test.mjs - the images that a call asks for by _meta["causeway/chart"]: PNG files
 * that decode, with the colours of their curves, after the text block; none where nobody asks.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import zlib from 'node:zlib';

import { answer, call, workshop } from './support/cobre.mjs';

const BLUE = '1f5fa8', ORANGE = 'd9730d', BAND = 'f6d9bc';
let shop, client, output, history;

before(async () => {
    shop = workshop('charts');
    client = await shop.connect('2025-11-25', 'stdio', ['--allow-write']);
    const dir = shop.copyCase('four-stages', 'a', { iterations: 15, scenarios: 20 });
    output = answer(await call(client, 'cobre/run', { case_dir: dir })).output_dir;
    history = answer(await call(client, 'cobre/query-convergence', { output_dir: output }));
});

after(() => shop.close());

const ask = (name, args, wanted = true) =>
    client.callTool({ name, arguments: { output_dir: output, ...args }, _meta: { 'causeway/chart': wanted } });

function crcOf(bytes) {
    let crc = ~0;
    for (const byte of bytes) {
        crc ^= byte;
        for (let bit = 0; bit < 8; bit++)
            crc = crc & 1 ? (crc >>> 1) ^ 0xEDB88320 : crc >>> 1;
    }
    return ~crc >>> 0;
}

/** An image block as {width, height, at(x, y)}, each chunk and row checked. */
function decode(block) {
    assert.equal(block.type, 'image');
    assert.equal(block.mimeType, 'image/png');
    const bytes = Buffer.from(block.data, 'base64');
    assert.deepEqual([...bytes.subarray(0, 8)], [137, 80, 78, 71, 13, 10, 26, 10]);
    const chunks = {};
    for (let at = 8; at < bytes.length;) {
        const length = bytes.readUInt32BE(at), type = bytes.toString('latin1', at + 4, at + 8);
        const body = bytes.subarray(at + 8, at + 8 + length);
        assert.equal(bytes.readUInt32BE(at + 8 + length), crcOf(bytes.subarray(at + 4, at + 8 + length)), type);
        chunks[type] = body;
        at += 12 + length;
    }
    assert.deepEqual(Object.keys(chunks), ['IHDR', 'PLTE', 'IDAT', 'IEND']);
    const width = chunks.IHDR.readUInt32BE(0), height = chunks.IHDR.readUInt32BE(4);
    assert.deepEqual([...chunks.IHDR.subarray(8)], [8, 3, 0, 0, 0]);
    const rows = zlib.inflateSync(chunks.IDAT);
    assert.equal(rows.length, (width + 1) * height);
    for (let y = 0; y < height; y++)
        assert.equal(rows[y * (width + 1)], 0);
    const colour = (index) => chunks.PLTE.toString('hex', 3 * index, 3 * index + 3);
    return { width, height, size: bytes.length, at: (x, y) => colour(rows[y * (width + 1) + 1 + x]) };
}

/** The rows of the plot in which a column of pixels has a colour. */
function rowsOf(image, x, colour) {
    return [...Array(410).keys()].map((y) => y + 61).filter((y) => image.at(x, y) === colour);
}

test('nobody who does not ask gets an image', async () => {
    assert.equal((await call(client, 'cobre/query-convergence', { output_dir: output })).content.length, 1);
    for (const wanted of [false, 'true', 1, null, {}])
        assert.equal((await ask('cobre/query-convergence', {}, wanted)).content.length, 1, String(wanted));
});

test('bounds by iteration', async () => {
    const result = await ask('cobre/query-convergence', {});
    assert.deepEqual(answer(result), history);
    assert.equal(result.content.length, 2);
    const image = decode(result.content[1]);
    assert.deepEqual([image.width, image.height], [960, 540]);
    assert.ok(image.size < 60_000, `${image.size} bytes`);
    /* The first iteration's lower bound is the lowest of all, the last one's higher up. */
    const left = rowsOf(image, 172, BLUE), right = rowsOf(image, 898, BLUE);
    assert.ok(Math.max(...right) < Math.min(...left), `${right} above ${left}`);
    assert.ok(rowsOf(image, 500, ORANGE).length > 0);
    assert.ok(rowsOf(image, 500, BAND).length > 5);
    const part = decode((await ask('cobre/query-convergence', { iteration_range: [5, 5] })).content[1]);
    assert.ok(part.size > 100);
    decode((await ask('cobre/query-convergence', { iteration_range: [500, 600] })).content[1]);
});

test('a result by stage, and why there is none', async () => {
    const result = await ask('cobre/query-results', { entity_type: 'hydros', filters: { limit: 10_000 } });
    const image = decode(result.content[1]);
    const table = answer(result);
    const final = table.columns.indexOf('storage_final_hm3'), stage = table.columns.indexOf('stage_id');
    const mean = (s) => {
        const values = table.rows.filter((row) => row[stage] === s).map((row) => row[final]);
        return values.reduce((a, b) => a + b, 0) / values.length;
    };
    const row = (x) => Math.min(...rowsOf(image, x, BLUE));
    assert.equal(mean(3) < mean(0), row(899) > row(171), 'more water is higher up');
    decode((await ask('cobre/query-results', { entity_type: 'costs' })).content[1]);
    decode((await ask('cobre/query-results', { entity_type: 'hydros', filters: { columns: ['stage_id', 'water_value_per_hm3'], limit: 1 } })).content[1]);
    for (const filters of [{ columns: ['scenario_id'] }, { columns: ['stage_id', 'hydro_id'] }, { stage_range: [90, 99] }]) {
        const { content } = await ask('cobre/query-results', { entity_type: 'hydros', filters });
        assert.deepEqual(content.map(({ type }) => type), ['text', 'text']);
        assert.match(content[1].text, /^No chart/);
    }
    const refused = await ask('cobre/query-results', { entity_type: 'hydros', filters: { entity_id: 'Nobody' } });
    assert.equal(refused.isError, true);
    assert.equal(refused.content.length, 1);
});
