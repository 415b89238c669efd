/*
 * schemas.test.mjs - every schema that a server publishes compiles in the validators of clients.
 *
 * Clients compile the schemas of tools with Ajv, most of them with its defaults: draft-07, which
 * refuses a `$schema` that it does not know. Others accept only schemas whose values have a type.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import Ajv6 from 'ajv6';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { start, stop } from './universe.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const bin = process.env.CAUSEWAY_BIN ?? path.resolve(here, '..', '..', 'build', 'bin');

/* The conformance suite requires this one with its `$schema` and `$anchor`, which draft-07 does
 * not know. */
const ONLY_2020 = 'json_schema_2020_12_tool';
/* The contract of cobre has this union: one id or several. */
const UNION = 'inputSchema/properties/filters/properties/entity_id';
/* The protocol's own keyword, from 2026-07-28. */
const keywords = ['x-mcp-header'];

const COMPILERS = {
    'Ajv 6': () => new Ajv6(),
    'Ajv 8': () => new Ajv({ keywords, logger: false }),
    'Ajv 8 for 2020-12': () => new Ajv2020({ keywords, logger: false }),
    'Ajv 8 for 2020-12, strict types': () => new Ajv2020({ keywords, strictTypes: true, allowUnionTypes: true, logger: false }),
};

let scratch;
let universe;

before(async () => {
    scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'schemas-'));
    universe = await start(`sqlite:${path.join(scratch, 'universe.db')}`);
});

after(async () => {
    await stop(universe);
    fs.rmSync(scratch, { recursive: true, force: true });
});

const overStdio = (program, ...args) => () =>
    new StdioClientTransport({ command: path.join(bin, program), args, stderr: 'inherit' });

const SERVERS = {
    'cobre': overStdio('cobre-mcp'),
    'cobre, safe names': overStdio('cobre-mcp', '--tool-names', 'safe'),
    'everything': overStdio('mcp-everything'),
    'universe': () => new StreamableHTTPClientTransport(universe.url),
};
for (const file of fs.readdirSync(bin).filter((name) => /^example-/.test(name)).sort())
    if (!/events|http_routes|resources|scopes|validate/.test(file)) /* no tools over stdio */
        SERVERS[file] = overStdio(file);

/** All schemas of a server: [name of the tool, name of the schema, schema]. */
async function schemasOf(transport) {
    const client = new Client({ name: 'schemas-test', version: '1.0.0' });
    const schemas = [];
    let cursor;

    await client.connect(transport);
    assert.ok(client.getServerCapabilities().tools);
    do {
        const page = await client.request({ method: 'tools/list', params: cursor ? { cursor } : {} }, anything);
        for (const tool of page.tools)
            for (const which of ['inputSchema', 'outputSchema'])
                if (tool[which])
                    schemas.push([tool.name, which, tool[which]]);
        cursor = page.nextCursor;
    } while (cursor);
    await client.close();
    return schemas;
}

/* The SDK's own types would drop members that they do not know. */
const anything = { parse: (value) => value, safeParse: (value) => ({ success: true, data: value }) };

/** Visit a schema and all within it. */
function walk(schema, at, visit) {
    if (schema === null || typeof schema !== 'object' || Array.isArray(schema))
        return;
    visit(schema, at);
    for (const key of ['properties', 'patternProperties', '$defs', 'dependentSchemas'])
        for (const [name, inner] of Object.entries(schema[key] ?? {}))
            walk(inner, `${at}/${key}/${name}`, visit);
    for (const key of ['items', 'additionalProperties', 'unevaluatedProperties', 'contains', 'propertyNames'])
        walk(schema[key], `${at}/${key}`, visit);
    for (const key of ['prefixItems', 'allOf', 'anyOf', 'oneOf'])
        (schema[key] ?? []).forEach((inner, i) => walk(inner, `${at}/${key}/${i}`, visit));
}

for (const [server, transport] of Object.entries(SERVERS)) {
    describe(server, () => {
        let schemas;
        before(async () => { schemas = await schemasOf(transport()); });

        for (const [name, compiler] of Object.entries(COMPILERS))
            test(`compiles with ${name}`, () => {
                for (const [tool, which, schema] of schemas)
                    if (tool !== ONLY_2020)
                        assert.doesNotThrow(() => compiler().compile(schema), undefined, `${tool}: ${which}`);
            });

        test('no schema names its draft, which is the newest', () => {
            for (const [tool, , schema] of schemas)
                assert.equal('$schema' in schema, tool === ONLY_2020, tool);
        });

        test('a list of values has the type of the values', () => {
            for (const [tool, which, schema] of schemas)
                walk(schema, `${tool}: ${which}`, (inner, at) => {
                    assert.ok(!('enum' in inner) || 'type' in inner, `${at}: enum without type`);
                    assert.ok(!Array.isArray(inner.type) || inner.type.length === 2 && inner.type.includes('null')
                        || at.endsWith(UNION), `${at}: a union of types`);
                });
        });
    });
}
