/*
 * casparian-inputs.test.mjs - files as people have them: empty, only a header, of another encoding.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { place, serve } from './casparian.mjs';

let self, server;
beforeEach(async () => {
    self = place();
    server = await serve(self);
});
afterEach(async () => {
    await server?.close();
    self.remove();
});

const preview = (plugin, ...files) => server.ask('preview', { plugin_ref: plugin, files, redaction: { mode: 'none' } });

describe('an output without rows', () => {
    for (const [name, text] of [['a header', 'a,b\n'], ['nothing', ''], ['a byte order mark', '\ufeff']]) {
        test(`${name} is previewed as no rows`, async () => {
            self.write('a.csv', text);
            const { outputs, errors } = await preview('csv_native', 'a.csv');
            assert.deepEqual(errors, []);
            assert.deepEqual(outputs.rows.sample_rows, []);
            assert.ok(!('schema' in outputs.rows) && !('schema_hash' in outputs.rows));
            assert.equal(outputs.csv_parse_errors.schema.output_name, 'csv_parse_errors');
        });
    }

    test('a file whose parser fails is named, not answered by an internal error', async () => {
        self.write('a.csv', `${Array.from({ length: 3000 }, (_, i) => `c${i}`)}\n`);
        const { errors } = await preview('csv_native', 'a.csv');
        assert.match(errors[0].error, /more than 2000 columns/);
    });
});
