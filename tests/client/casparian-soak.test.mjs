/*
 * casparian-soak.test.mjs - some seconds of casparian-soak.mjs (CAUSEWAY_SOAK_SECONDS, 20 by
 * default): every call is answered as it should be, and descriptors, processes and scratch folders
 * are those before. The bound of memory is wide: a sanitizer keeps what was freed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { soak } from './casparian-soak.mjs';

const SECONDS = Number(process.env.CAUSEWAY_SOAK_SECONDS ?? 20);
const GROWTH_MIB = 400;

test('parallel jobs leave nothing behind', async (t) => {
    const { failures, problems, counts } = await soak(SECONDS, { growthMib: GROWTH_MIB, print: (line) => t.diagnostic(line) });
    t.diagnostic(JSON.stringify(counts));
    assert.deepEqual([...problems, ...failures.slice(0, 10)], []);
});
