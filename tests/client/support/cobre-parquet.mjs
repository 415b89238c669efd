/*
 * cobre-parquet.mjs - writes small Parquet files: one row group, PLAIN pages without compression.
 *
 * A column is { name, type, values }; type is i32, u32, f64 or date (days since 1970). A column
 * with a null among its values is OPTIONAL, others are REQUIRED. Source: parquet.thrift of the
 * Parquet format, in Thrift's compact protocol.
 */
import fs from 'node:fs';
import path from 'node:path';

const PHYSICAL = { i32: 1, u32: 1, date: 1, f64: 5 };
const CONVERTED = { date: 6, u32: 13 };
const [I32, I64, BINARY, LIST, STRUCT] = [5, 6, 8, 9, 12];

function varint(value) {
    const bytes = [];
    let rest = BigInt(value);
    for (; rest > 127n; rest >>= 7n)
        bytes.push(Number(rest & 127n) | 128);
    return [...bytes, Number(rest)];
}

const zigzag = (value) => varint(value >= 0 ? 2 * value : -2 * value - 1);

/** Fields are [id, type, value]; a list is [id, LIST, [type of its items, items]]. */
function struct(fields) {
    const bytes = [];
    let last = 0;
    for (const [id, type, value] of fields) {
        bytes.push((id - last) << 4 | type, ...encode(type, value));
        last = id;
    }
    return [...bytes, 0];
}

function encode(type, value) {
    if (type === STRUCT)
        return struct(value);
    if (type === BINARY)
        return [...varint(Buffer.byteLength(value)), ...Buffer.from(value)];
    if (type !== LIST)
        return zigzag(value);
    const [of, items] = value;
    const head = items.length < 15 ? [items.length << 4 | of] : [0xf0 | of, ...varint(items.length)];
    return [...head, ...items.flatMap((item) => encode(of, item))];
}

/** Which values are there, as runs of equal bits. */
function levels(values) {
    const bytes = [];
    for (let i = 0; i < values.length;) {
        let end = i + 1;
        while (end < values.length && (values[end] === null) === (values[i] === null))
            end++;
        bytes.push(...varint((end - i) * 2), values[i] === null ? 0 : 1);
        i = end;
    }
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return [...length, ...bytes];
}

function plain(type, values) {
    const width = type === 'f64' ? 8 : 4;
    const out = Buffer.alloc(width * values.length);
    const put = { f64: 'writeDoubleLE', u32: 'writeUInt32LE' }[type] ?? 'writeInt32LE';
    values.forEach((value, i) => out[put](value, i * width));
    return out;
}

const isOptional = (column) => column.values.includes(null);

function page(column, claim) {
    const there = column.values.filter((value) => value !== null);
    const data = Buffer.concat([Buffer.from(isOptional(column) ? levels(column.values) : []),
                                plain(column.type, there)]);
    const head = struct([[1, I32, 0], [2, I32, claim.unpacked ?? data.length], [3, I32, claim.packed ?? data.length],
                         [5, STRUCT, [[1, I32, claim.values ?? column.values.length], [2, I32, 0], [3, I32, 3],
                                      [4, I32, 3]]]]);
    return Buffer.concat([Buffer.from(head), data]);
}

function element(column) {
    const fields = [[1, I32, PHYSICAL[column.type]], [3, I32, isOptional(column) ? 1 : 0],
                    [4, BINARY, column.name]];
    if (column.type in CONVERTED)
        fields.push([6, I32, CONVERTED[column.type]]);
    return fields;
}

/** Write columns of equal length; missing folders are made. A broken file claims other sizes: of a
 *  page `unpacked`, `packed`, `values`; of the file `rows`, `chunk` bytes, `at` of each chunk. */
export function writeParquet(file, columns, claim = {}) {
    const rows = claim.rows ?? columns[0].values.length;
    const parts = [Buffer.from('PAR1')];
    let at = 4;
    const chunks = columns.map((column) => {
        const bytes = page(column, claim);
        const meta = [[1, I32, PHYSICAL[column.type]], [2, LIST, [I32, [0, 3]]],
                      [3, LIST, [BINARY, [column.name]]], [4, I32, 0], [5, I64, rows],
                      [6, I64, claim.chunk ?? bytes.length], [7, I64, claim.chunk ?? bytes.length],
                      [9, I64, claim.at ?? at]];
        const chunk = [[2, I64, claim.at ?? at], [3, STRUCT, meta]];
        parts.push(bytes);
        at += bytes.length;
        return chunk;
    });
    const root = [[4, BINARY, 'schema'], [5, I32, columns.length]];
    const footer = Buffer.from(struct([
        [1, I32, 1], [2, LIST, [STRUCT, [root, ...columns.map(element)]]], [3, I64, rows],
        [4, LIST, [STRUCT, [[[1, LIST, [STRUCT, chunks]], [2, I64, at - 4], [3, I64, rows]]]]],
    ]));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(footer.length);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, Buffer.concat([...parts, footer, length, Buffer.from('PAR1')]));
}

/** Write rows: `types` is { column: type } in the order of the items of each row. */
export function writeRows(file, types, rows) {
    if (rows.length > 0)
        writeParquet(file, Object.entries(types).map(([name, type], i) => (
            { name, type, values: rows.map((row) => row[i]) })));
}
