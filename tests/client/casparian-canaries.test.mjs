/*
 * Canaries: secrets in cells, in what a parser prints and raises, in the environment, in settings
 * and in files outside the roots appear in nothing that a client receives from any of the tools,
 * resources and notifications, nor in the audit log, under the default policy.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { place, serve } from './casparian.mjs';

/* Each is found again also where it is cut, put into upper case or printed as bytes. */
const CANARIES = {
    cell: 'kestrelcell7391', sensitive: 'wagtailmail5520', bad: 'plovernumber8842', raised: 'dunlinraise1175', unquoted: 'whimbrelbare4419', row: 'avocetrow8096', printed: 'curlewprint6604',
    environment: 'sanderlingenv3318', setting: 'turnstoneset9063', outside: 'godwitfile2247',
};
const PARSER = `import csv, logging
name = "birds"
version = "1.0.0"
OUTPUTS = {"birds": {"columns": [
    {"name": "what", "type": "string"}, {"name": "email", "type": "string"}, {"name": "count", "type": "int64"}]}}


def parse(path):
    with open(path) as file:
        for row in csv.DictReader(file):
            print(row["print"])
            logging.warning("seen %s", row["print"])
            if row["raise"]:
                raise ValueError("cannot read %r of bird %s" % (row["raise"], row["what"]))
            yield {"what": row["what"], "email": row["email"], "count": row["count"],
                   "_cf_row_error": "the bird " + row["error"] + " is unknown" if row["error"] else None}
`;
/* Line of PARSER that raises. */
const RAISES = PARSER.split('\n').findIndex((line) => line.includes('raise ValueError')) + 1;

describe('canaries', () => {
    let self, server, received = '';
    const reasons = [];
    const called = new Set();
    const note = (value) => { received += `${JSON.stringify(value)}\n`; };

    /** Call a tool, whatever comes of it, and keep the reply. */
    async function call(name, args) {
        called.add(`casparian_${name}`);
        const reply = await server.call(name, args);
        note(reply);
        return reply.isError ? undefined : reply.structuredContent;
    }

    before(async () => {
        self = place();
        const row = (...cells) => `${cells.join(',')}\n`;
        const head = row('what', 'email', 'count', 'print', 'raise', 'error');
        self.write('in/good.csv', head + row(CANARIES.cell, `${CANARIES.sensitive}@example.com`, '3', CANARIES.printed, '', ''));
        self.write('in/bad.csv', head + row(CANARIES.cell, 'x', CANARIES.bad, CANARIES.printed, '', '')
            + row('w', 'x', '2', '', '', CANARIES.row));
        self.write('in/raises.csv', head + row(CANARIES.unquoted, 'y', '1', '', CANARIES.raised, ''));
        self.write('birds.py', PARSER);
        fs.writeFileSync(path.join(self.top, 'outside.csv'), `${CANARIES.outside}\n`);
        fs.symlinkSync('../../outside.csv', path.join(self.dir, 'in', 'link.csv'));
        fs.mkdirSync(self.home, { recursive: true });
        fs.writeFileSync(path.join(self.home, 'config.toml'), `[plugins.birds.env]\nBIRDS_KEY = "${CANARIES.setting}"\n`);
        self.env.BIRDS_SECRET = CANARIES.environment;
        server = await serve(self, ['--allow-dev-plugins', '--allow-tool-approval']);
        server.client.fallbackNotificationHandler = async (notification) => note(notification);
    });
    after(async () => { await server?.close(); self.remove(); });

    test('all tools are called, with data that has them', async () => {
        const ref = { path: 'birds.py' };
        const input = { plugin_ref: ref, input_dir: 'in' };
        await call('plugins', { include_dev: true });
        await call('scan', { path: 'in', hash: 'sha256' });
        await call('scan', { path: '../outside.csv' });
        const shown = await call('preview', { plugin_ref: ref, files: ['in/good.csv', 'in/bad.csv', 'in/raises.csv'] });
        reasons.push(...shown.errors.map((one) => one.error));
        await call('preview', { plugin_ref: ref, files: ['../outside.csv', 'in/link.csv'] });
        const tested = await call('backtest_start', input);
        const status = await server.end(tested.job_id);
        note(status);
        reasons.push(JSON.stringify(status));
        const { approval_id: asked } = await call('run_request', { ...input, output: './out', quarantine: { allow_quarantine: true, max_quarantine_pct: 90 } });
        await call('approval_status', { approval_id: asked });
        await call('approval_list', { status: 'all' });
        const { job_id: run } = await call('approval_decide', { approval_id: asked, decision: 'approve' });
        await server.client.subscribeResource({ uri: `casparian://job/${run}` });
        const ended = await server.end(run);
        note(ended);
        assert.equal(ended.status, 'completed', JSON.stringify(ended));
        await call('job_status', { job_id: run });
        await call('job_list', { status: 'all' });
        await call('job_cancel', { job_id: run });
        await call('files', {});
        await call('sources', {});
        await call('quarantine_summary', { job_id: run });
        await call('query', { sql: 'SELECT * FROM birds' });
        await call('query', { sql: 'SELECT CAST(what AS INTEGER) FROM birds' });
        await call('query', { sql: 'SELECT max(what), min(email), string_agg(what, email) FROM birds' });
        await call('query', { sql: `SELECT error('x' || what) FROM birds` });
        await call('query', { sql: 'SELECT * FROM (PIVOT birds ON what USING count(*))' });
        await call('query', { sql: 'PIVOT birds ON what USING count(*)' });
        await call('query', { sql: 'SELECT map([what], [1]), {a: what}, [what], what::JSON FROM birds' });
        await call('query', { sql: 'EXPLAIN SELECT * FROM birds WHERE what < (SELECT max(what) FROM birds)' });
        await call('query', { sql: 'SELECT histogram(what), summarize FROM birds' });
        await call('query', { sql: 'SELECT * FROM (SUMMARIZE birds)' });
        await call('query', { sql: 'SELECT strptime(what, \'%Y\') FROM birds' });
        await call('query', { sql: 'SELECT * FROM outputs."birds__quarantine"' });
        const { ephemeral_id: id } = await call('schema_propose', { schema: { output_name: 'birds', columns: [{ name: 'what', type: 'int64' }] } });
        const again = await call('backtest_start', { ...input, ephemeral_id: id });
        note(await server.end(again.job_id));
        await call('schema_promote', { ephemeral_id: id, output_path: 'birds_schema.py' });
        for (const uri of [`casparian://job/${run}`, `casparian://approval/${asked}`])
            note(await server.client.readResource({ uri }));
        for (const name of ['iterate_schema', 'triage_quarantine'])
            note(await server.client.getPrompt({ name, arguments: { plugin: 'birds', input_dir: 'in', job_id: String(run) } }).catch((error) => error.message));
        assert.deepEqual(server.tools.map((tool) => tool.name).filter((name) => !called.has(name)), []);
    });

    test('none of them comes back', () => {
        const audit = JSON.stringify(self.audit());
        assert.ok(received.length > 10_000 && audit.includes('casparian_query'));
        for (const [where, canary] of Object.entries(CANARIES)) {
            for (const [name, text] of [['a reply', received], ['the audit log', audit], ['the log', server.errors()]]) {
                const at = text.toLowerCase().indexOf(canary.slice(0, 9));
                assert.equal(at, -1, `${where} is in ${name}: ${text.slice(Math.max(0, at - 300), at + 60)}`);
            }
        }
    });

    test('of an exception its type, its place and the words of the parser are shown', () => {
        const hash = createHash('sha256').update(CANARIES.raised).digest('hex').slice(0, 8);
        const reason = `ValueError: cannot read '[hash:${hash}]' of bird a{12}9999 (birds.py:${RAISES})`;
        assert.equal(reasons[0], reason);
        assert.ok(reasons[1].includes(reason), reasons[1]);
        assert.ok(reasons[1].includes('the bird a{9}9999 is unknown'), reasons[1]);
    });

    test('a person sees what the parser printed and raised', () => {
        const logs = self.cli(['jobs', 'logs', '1']);
        for (const canary of [CANARIES.printed, CANARIES.raised, CANARIES.unquoted])
            assert.match(logs.out, new RegExp(canary));
        const shown = self.cli(['preview', 'in/raises.csv', '--plugin', './birds.py', '--redact', 'none']);
        assert.match(shown.out + shown.err, new RegExp(`${CANARIES.raised}.*${CANARIES.unquoted}`));
    });
});
