/*
 * observed.mjs - what the tests of metrics and traces share: any of the four servers over HTTP, a
 * call without a session, and a strict reader of Prometheus's text format.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
export const bin = process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin');
const REVISION = '2026-07-28';

/** Start a program that serves over HTTP: { base, log, child, stop(), call(), ask() }. */
export async function serve(name, args, env = {}) {
    const child = spawn(path.join(bin, name), args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
    const self = { child, log: '' };
    child.stderr.setEncoding('utf8');
    child.stderr.on('data', (text) => { self.log += text; });
    while (!/serving http:\S+\n/.test(self.log))
        await Promise.race([once(child.stderr, 'data'), once(child, 'exit').then(() => assert.fail(self.log))]);
    self.base = new URL(/serving (http:\S+)\n/.exec(self.log)[1]).origin;
    self.ask = (where, options) => fetch(self.base + where, options);
    self.call = (tool, given = {}, meta = {}, headers = {}) => call(self.base, tool, given, meta, headers);
    self.metrics = async () => {
        const answer = await self.ask('/metrics');
        assert.equal(answer.status, 200);
        return readMetrics(await answer.text());
    };
    self.stop = async () => {
        const gone = once(child, 'exit');
        child.kill('SIGTERM');
        assert.deepEqual(await gone, [0, null], self.log);
    };
    return self;
}

/** The whole answer to tools/call. */
async function call(base, name, given, meta, headers) {
    const answer = await fetch(`${base}/mcp`, {
        method: 'POST',
        headers: {
            'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': REVISION,
            'Mcp-Method': 'tools/call', 'Mcp-Name': name, ...headers,
        },
        body: JSON.stringify({
            jsonrpc: '2.0', id: 7, method: 'tools/call',
            params: {
                name, arguments: given,
                _meta: { 'io.modelcontextprotocol/protocolVersion': REVISION, 'io.modelcontextprotocol/clientCapabilities': {}, ...meta },
            },
        }),
    });
    const text = await answer.text();
    const data = text.split('\n').filter((line) => line.startsWith('data: ')).at(-1);
    return JSON.parse(data ? data.slice(6) : text);
}

/* ---- the format: rules of OpenMetrics and of promtool ---------------------------------------- */

const SUFFIXES = { histogram: ['_bucket', '_sum', '_count'] };

function readLabels(text, line) {
    const labels = {};
    for (let rest = text; rest;) {
        const [all, name, value] = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/.exec(rest) ?? assert.fail(line);
        assert.ok(!(name in labels), `a label comes twice: ${line}`);
        labels[name] = value;
        rest = rest.slice(all.length);
    }
    return labels;
}

function checkHistogram(family, samples) {
    const series = new Map();
    for (const { name, labels, value } of samples) {
        const { le, ...others } = labels;
        const key = JSON.stringify(others);
        const one = series.get(key) ?? series.set(key, { buckets: [] }).get(key);
        if (name.endsWith('_bucket'))
            one.buckets.push([le === '+Inf' ? Infinity : Number(le), value]);
        else
            one[name.slice(family.length + 1)] = value;
    }
    for (const { buckets, sum, count } of series.values()) {
        assert.ok(buckets.every(([bound, value], i) => i === 0 || (bound > buckets[i - 1][0] && value >= buckets[i - 1][1])), family);
        assert.deepEqual(buckets.at(-1), [Infinity, count], family);
        assert.ok(sum >= 0, family);
    }
}

/**
 * Read an exposition and hold it against the rules. Returns a function that gives the value of a
 * sample by its name and labels, undefined where it is not there; its `families` are name to type.
 */
export function readMetrics(text) {
    const families = new Map();
    const values = new Map();
    let family;
    assert.ok(text.endsWith('\n') && !text.includes('\n\n'));
    for (const line of text.slice(0, -1).split('\n')) {
        const [, kind, named, words] = /^# (HELP|TYPE) ([a-z][a-z0-9_]*) (.+)$/.exec(line) ?? [];
        if (kind === 'HELP') {
            assert.ok(!families.has(named), `HELP comes twice: ${line}`);
            families.set(named, family = { name: named, samples: [] });
        } else if (kind === 'TYPE') {
            assert.ok(family.name === named && !family.type, `TYPE does not follow its HELP: ${line}`);
            family.type = words;
            assert.ok(['counter', 'gauge', 'histogram'].includes(words), line);
            assert.equal(words === 'counter', named.endsWith('_total'), `_total is for counters alone: ${line}`);
        } else {
            const [, name, labels = '', value] = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? ([-+0-9.e]+|\+Inf|NaN)$/.exec(line) ?? assert.fail(line);
            const suffixes = SUFFIXES[family.type] ?? [''];
            assert.ok(suffixes.some((suffix) => name === family.name + suffix), `a sample of another family: ${line}`);
            const sample = { name, labels: readLabels(labels, line), value: Number(value) };
            const key = `${name}{${labels}}`;
            assert.ok(!values.has(key), `a sample comes twice: ${line}`);
            assert.ok(family.type === 'gauge' || sample.value >= 0, line);
            values.set(key, sample.value);
            family.samples.push(sample);
        }
    }
    const bases = [...families.keys()].map((name) => name.replace(/_total$/, ''));
    assert.equal(new Set(bases).size, bases.length, 'two families have one name but for _total');
    for (const { name, type, samples } of families.values()) {
        assert.ok(type, `${name} has no TYPE`);
        if (type === 'histogram')
            checkHistogram(name, samples);
    }
    const get = (name, labels = '') => values.get(`${name}{${labels}}`);
    get.families = new Map([...families.values()].map(({ name, type }) => [name, type]));
    return get;
}
