/*
 * casparian.mjs - the figures of casparian with their goals, ours and the peers by turns: a CSV of
 * ten columns (two decimals, two times) to Parquet, also by a plain Python script that converts the
 * same columns and by DuckDB; a log of a web server; parsers in Python; many small files; a scan
 * and find; the start, previews, a backtest of six FIX files, and queries while a job runs.
 *
 * Times are on the clock, so they mean something only in Release and on a machine that does nothing
 * else. Of each measurement the median counts. The files are in TMPDIR, by default /tmp.
 *
 * usage: bench/casparian.mjs [ROWS]
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';

import { fixPlace, place, program, root, serve } from '../tests/client/casparian.mjs';
import { at, columns, fill, HEAD, median, millis, perSecond, print, run, runOf, timed, tradeOf, two } from './support/casparian.mjs';

/* few rows and one round, for figures that mean nothing */
const SMOKE = Boolean(process.env.BENCH_SMOKE);
const ROWS = Number(process.argv[2] ?? (SMOKE ? 2000 : 1000000)), ROUNDS = SMOKE ? 1 : 3;
const FILES = SMOKE ? 20 : 10000, SCANNED = SMOKE ? 200 : 100000, CALLS = SMOKE ? 3 : 20, QUERIES = SMOKE ? 5 : 200;

/* What people write without casparian: the same conversions, and a CSV of what was converted. */
const SCRIPT = `import csv, sys
from datetime import datetime
from decimal import Decimal
with open(sys.argv[1], newline='') as lines, open(sys.argv[2], 'w', newline='') as out:
    reader, writer = csv.reader(lines), csv.writer(out)
    writer.writerow(next(reader))
    cent = Decimal('0.0001')
    for r in reader:
        writer.writerow((int(r[0]), r[1], r[2], r[3], int(r[4]), Decimal(r[5]).quantize(cent), Decimal(r[6]).quantize(cent),
                         datetime.strptime(r[7], '%Y-%m-%d %H:%M:%S'), datetime.strptime(r[8], '%Y-%m-%dT%H:%M:%S'), r[9]))
`;

/* DuckDB's own reader and writer, by its C interface: the library's path, a CSV, a Parquet file. */
const PEER = `import ctypes, sys
duckdb = ctypes.CDLL(sys.argv[1])
db, connection, result = ctypes.c_void_p(), ctypes.c_void_p(), (ctypes.c_uint64 * 16)()
types = "{'id': 'BIGINT', 'account': 'VARCHAR', 'symbol': 'VARCHAR', 'side': 'VARCHAR', 'quantity': 'BIGINT', 'price': 'DECIMAL(18,4)', 'fee': 'DECIMAL(18,4)', 'traded_at': 'TIMESTAMP', 'settled_at': 'TIMESTAMP', 'note': 'VARCHAR'}"
sql = f"COPY (SELECT * FROM read_csv('{sys.argv[2]}', header = true, columns = {types})) TO '{sys.argv[3]}' (FORMAT parquet)"
duckdb.duckdb_result_error.restype = ctypes.c_char_p
if duckdb.duckdb_open(None, ctypes.byref(db)) or duckdb.duckdb_connect(db, ctypes.byref(connection)):
    sys.exit("duckdb does not open")
if duckdb.duckdb_query(connection, sql.encode(), result):
    sys.exit(duckdb.duckdb_result_error(result).decode())
`;
/* Without it the comparison is left out. */
const duckdb = [path.join(path.dirname(program), '..', 'lib', 'causeway', 'libduckdb.so'),
    path.join(root, '.deps', 'duckdb', 'lib', 'libduckdb.so')].find((file) => fs.existsSync(file));

/* A parser that makes its rows, so that only the way of the rows is measured. */
const parser = (name, types, row) => `from datetime import datetime
from decimal import Decimal
name, version = "${name}", "1.0.0"
outputs = {"${name}": {"columns": [${types.map((type, i) => `{"name": "c${i}", "type": "${type}"}`).join(', ')}]}}
def parse(path):
    price, when = Decimal("12.3400"), datetime(2024, 5, 6, 7, 8, 9)
    for i in range(int(open(path).read())):
        yield {${row.map((value, i) => `"c${i}": ${value}`).join(', ')}}
`;
const TEXTS = ['"AAPL"', '"B"', '"ACC00042"', '"fill of an order"'], NUMBERS = ['i', 'i * 3', 'i * 0.5', 'i % 7'];
const PLAIN = parser('plain', ['int64', 'int64', 'float64', 'int64', 'string', 'string', 'string', 'string', 'boolean', 'int64'],
    [...NUMBERS, ...TEXTS, 'True', 'i + 1']);
const RICH = parser('rich', ['int64', 'int64', 'float64', 'int64', 'string', 'string', 'decimal(18,4)', 'decimal(18,4)', 'timestamp', 'timestamp'],
    [...NUMBERS, ...TEXTS.slice(0, 2), 'price', 'price', 'when', 'when']);
const LINES = `name, version = "lines", "1.0.0"
outputs = {"lines": {"columns": [{"name": "id", "type": "int64"}, {"name": "text", "type": "string"}]}}
def parse(path):
    for i, line in enumerate(open(path)):
        yield {"id": i, "text": line}
`;

/* The same parser over the same files in one process, which does nothing with the rows. */
const LINES_ALONE = `import glob, lines, time
begin = time.perf_counter()
for path in glob.iglob('small/*'):
    for row in lines.parse(path):
        pass
print((time.perf_counter() - begin) * 1000)
`;

const requestOf = (i) => `10.0.${i % 200}.${i % 250} - - [${two(1 + i % 28)}/May/2024:${two(i % 24)}:${two(i % 60)}:${two(i % 60)} +0000] `
    + `"GET /page/${i % 997}?q=${i % 31} HTTP/1.1" ${i % 20 ? 200 : 404} ${i % 5000} "https://example.org/" "Mozilla/5.0 (X11; Linux x86_64)"\n`;

/** Run a script of Python's to its end: what it has printed. */
function python(self, ...args) {
    const end = spawnSync('python3', args, { cwd: self.dir, encoding: 'utf8' });
    if (end.status !== 0)
        throw new Error(`${args[0]}: ${end.stderr}`);
    return end.stdout;
}

async function csv(self) {
    const ours = [], theirs = [], copies = [];
    let peak = 0;
    fill(path.join(self.dir, 'trades.csv'), ROWS, tradeOf, HEAD);
    self.write('schema.json', JSON.stringify({ rows: { output_name: 'rows', mode: 'strict', columns } }));
    self.write('script.py', SCRIPT);
    self.write('peer.py', PEER);
    for (let i = 0; i < ROUNDS; i++) {
        const end = await run(self, runOf('csv_native', 'trades.csv', '--schema', 'schema.json'));
        ours.push(end.ms);
        peak = Math.max(peak, end.peak);
        theirs.push((await timed(() => python(self, 'script.py', 'trades.csv', 'script.csv')))[0]);
        if (duckdb)
            copies.push((await timed(() => python(self, 'peer.py', duckdb, 'trades.csv', 'peer.parquet')))[0]);
    }
    print('CSV of 10 columns to Parquet', perSecond(ROWS, median(ours)), '>= 500,000 /s');
    print('  a plain Python script, to CSV', perSecond(ROWS, median(theirs)), '');
    print('  ours against the script', `${(median(theirs) / median(ours)).toFixed(1)} x`, '>= 5 x');
    if (duckdb) {
        print('  DuckDB, read_csv and COPY on all cores', perSecond(ROWS, median(copies)), '');
        print('  ours against DuckDB', `${(median(copies) / median(ours)).toFixed(2)} x`, '>= 0.3 x');
    }
    print('  memory of all its processes', `${peak.toFixed(0)} MiB`, '< 250 MiB');
}

async function rates(self) {
    fill(path.join(self.dir, 'access.log'), ROWS, requestOf);
    const count = Math.ceil(ROWS / 4);
    self.write('count.txt', String(count));
    self.write('plain.py', PLAIN);
    self.write('rich.py', RICH);
    const log = [], plain = [], rich = [];
    for (let i = 0; i < ROUNDS; i++) {
        log.push((await run(self, runOf('weblog_native', 'access.log'))).ms);
        plain.push((await run(self, runOf('./plain.py', 'count.txt'))).ms);
        rich.push((await run(self, runOf('./rich.py', 'count.txt'))).ms);
    }
    print('log of a web server to Parquet', perSecond(ROWS, median(log)), '>= 500,000 /s');
    print('parser in Python, 10 plain columns', perSecond(count, median(plain)), '>= 150,000 /s');
    print('parser in Python, with Decimal and datetime', perSecond(count, median(rich)), '>= 60,000 /s');
}

async function smallFiles(self) {
    const text = Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join('');
    for (let i = 0; i < FILES; i++)
        self.write(`small/${i}.txt`, text);
    self.write('lines.py', LINES);
    self.write('alone.py', LINES_ALONE);
    const alone = Number(python(self, 'alone.py'));
    const { ms, peak } = await run(self, runOf('./lines.py', 'small'));
    print(`${FILES} files of 20 rows, a file, over its parser's time`, millis((ms - alone) / FILES), '<= 5 ms');
    print("  the parser's time, in Python, and memory", `${millis(alone / FILES)}, ${peak.toFixed(0)} MiB`, '');
}

async function starts(self) {
    const times = [];
    for (let i = 0; i < CALLS; i++) {
        const begin = performance.now();
        const child = spawn(program, ['mcp', 'serve', '--allow-path', '.'], { cwd: self.dir, env: self.env, stdio: ['pipe', 'pipe', 'ignore'] });
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize',
            params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } } })}\n`);
        await once(child.stdout, 'data');
        times.push(performance.now() - begin);
        child.stdin.end();
        await once(child, 'exit');
    }
    print('start to the reply of initialize', millis(median(times)), '< 50 ms');
}

async function scan(self) {
    for (let i = 0; i < SCANNED / 100; i++) {
        fs.mkdirSync(path.join(self.dir, 'many', String(i)), { recursive: true });
        for (let j = 0; j < 100; j++)
            fs.writeFileSync(path.join(self.dir, 'many', String(i), `${j}.txt`), '');
    }
    const server = await serve(self);
    const ours = [], theirs = [];
    for (let i = 0; i < ROUNDS; i++) {
        ours.push((await timed(() => server.ask('scan', { path: 'many', recursive: true, pattern: '*.none' })))[0]);
        theirs.push((await timed(() => spawnSync('find', ['many', '-type', 'f', '-printf', '%s %T@ %p\n'], { cwd: self.dir, maxBuffer: 1 << 28 })))[0]);
    }
    await server.close();
    print(`scan of ${SCANNED} files for a name that none has`, millis(median(ours)), '< 2,000 ms');
    print('  find -printf', millis(median(theirs)), '');
}

async function calls() {
    const self = fixPlace();
    const server = await serve(self, ['--allow-dev-plugins']);
    const preview = { plugin_ref: { path: 'parsers/fix/fix_parser.py' }, files: ['samples/fix/order_lifecycle.fix'], limit: 10 };
    const warm = [], tests = [];
    const [cold] = await timed(() => server.ask('preview', preview));
    for (let i = 0; i < CALLS; i++) {
        warm.push((await timed(() => server.ask('preview', preview)))[0]);
        tests.push((await timed(async () => {
            const job = await server.ask('backtest_start', { plugin_ref: { path: 'parsers/fix/fix_parser.py' }, input_dir: 'samples/fix' });
            await server.end(job.job_id);
        }))[0]);
    }
    await server.close();
    self.remove();
    print('preview of a small file, cold', millis(cold), '< 400 ms');
    print('preview of a small file, warm', millis(median(warm)), '< 100 ms');
    print('backtest of six FIX files, to its result', millis(median(tests)), '< 500 ms');
}

async function queries(self) {
    const server = await serve(self);
    const times = [];
    const sql = (i) => ({ sql: `SELECT symbol, count(*), sum(quantity) FROM rows WHERE id >= ${i} GROUP BY symbol` });
    const ask = async (i) => times.push((await timed(() => server.ask('query', sql(i))))[0]);
    await server.ask('query', sql(0));
    const job = run(self, ['backtest', 'csv_native', 'trades.csv', '-q']);
    let isOver = false;
    job.finally(() => { isOver = true; }).catch(() => {});
    for (let i = 1; i <= QUERIES && (!isOver || i <= 8); i++)
        await ask(i);
    await job;
    await server.close();
    print('query while a job runs, median', millis(median(times)), '');
    print(`query while a job runs, p99 of ${times.length}`, millis(at(times, 0.99)), '<= 500 ms');
}

const self = place();
try {
    console.log(`casparian: ${ROWS.toLocaleString('en')} rows, the median of ${ROUNDS} rounds`);
    await csv(self);
    await queries(self);
    await rates(self);
    await smallFiles(self);
    await starts(self);
    await scan(self);
    await calls();
} finally {
    self.remove();
}
