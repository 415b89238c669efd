/*
 * portarium-pages.test.mjs - a reader who follows the pages of 100,000 runs, while others start
 * runs: each run that was there throughout comes once, on both databases.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { planeOn } from './portarium-rest.mjs';
import { DATABASES } from './universe.mjs';

const RUNS = '/v1/workspaces/ws-1/runs';
const ROWS = 100_000;

/* Ten runs share each moment, of which the first is long ago; each tenth one has failed. */
const FILL = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS - 1})
INSERT INTO runs (workspace, id, revision, created_at, json, status, workflow_id, started_at)
SELECT 'ws-1', 'old-' || i, 1, 1700000000000 + i / 10,
    '{"schemaVersion":1,"runId":"old-' || i || '","workspaceId":"ws-1","workflowId":"wf-noop"}',
    CASE i % 10 WHEN 0 THEN 'Failed' ELSE 'Succeeded' END, 'wf-noop', NULL FROM n`;

for (const makeDatabase of DATABASES) {
    describe(`pages of ${ROWS} runs with concurrent inserts, on ${makeDatabase.name}`, () => {
        let db, plane, isOver = false, writing, written = 0;

        /** Ask until the rate limit lets it pass. */
        async function ask(token, method, where, body) {
            for (;;) {
                const answer = await plane.ask(method, where, { token, body });
                if (answer.status !== 429)
                    return answer;
                await new Promise((resolve) => { setTimeout(resolve, 50); });
            }
        }

        async function write() {
            while (!isOver) {
                const { status, text } = await ask(plane.token('otto', 'operator'), 'POST', RUNS, { workflowId: 'wf-noop', parameters: { n: 1 } });
                assert.equal(status, 201, text);
                written++;
                await new Promise((resolve) => { setTimeout(resolve, 20); });
            }
        }

        /** The ids of a list, page by page. */
        async function walk(reader, query) {
            const ids = [], token = plane.token(reader, 'auditor');
            let cursor = '', during = 0;
            do {
                const before = written;
                const { status, json, text } = await ask(token, 'GET', `${RUNS}?limit=200&${query}${cursor}`);
                assert.equal(status, 200, text);
                ids.push(...json.items.map(({ runId }) => runId));
                cursor = json.nextCursor && `&cursor=${encodeURIComponent(json.nextCursor)}`;
                during += written - before;
            } while (cursor);
            assert.ok(during > 0, 'nothing was written meanwhile');
            assert.equal(new Set(ids).size, ids.length, 'a run came twice');
            return ids.filter((id) => id.startsWith('old-')).map((id) => Number(id.slice(4)));
        }

        before(async () => {
            db = makeDatabase();
            plane = await planeOn(db.url);
            db.sql(FILL);
            writing = write();
            writing.catch(() => {});
        });
        after(async () => {
            isOver = true;
            await writing;
            await plane?.close();
            db.close();
        });

        /* The query, how many old runs it has, and the order of two that follow each other. */
        const LISTS = {
            'newest first': ['', ROWS, (one, next) => Math.floor(one / 10) >= Math.floor(next / 10)],
            'oldest first': ['sort=createdAtIso:asc', ROWS, (one, next) => Math.floor(one / 10) <= Math.floor(next / 10)],
            'of a status, by id': ['status=Failed&sort=runId:asc', ROWS / 10, (one, next) => `old-${one}` < `old-${next}`],
        };

        test(`none is missed or doubled: ${Object.keys(LISTS).join('; ')}`, () => Promise.all(Object.entries(LISTS).map(async ([name, [query, count, isOrdered]]) => {
            const numbers = await walk(`reader-${name.replaceAll(/\W/g, '-')}`, query);
            assert.equal(numbers.length, count, name);
            assert.ok(numbers.every((one, i) => i === 0 || isOrdered(numbers[i - 1], one)), name);
        })));
    });
}
