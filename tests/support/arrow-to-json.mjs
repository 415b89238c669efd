/*
 * arrow-to-json.mjs - an Arrow file as Apache Arrow's own implementation reads it, for
 * test_arrow.c. usage: node arrow-to-json.mjs FILE.arrow OUT.json
 */
import { readFileSync, writeFileSync } from "node:fs";
import { DataType, tableFromIPC } from "apache-arrow";

const [from, to] = process.argv.slice(2);
const table = tableFromIPC(readFileSync(from));

function plain(value, type) {
  if (value === null)
    return null;
  if (typeof value === "bigint")
    return String(value);
  return DataType.isDate(type) ? new Date(value).toISOString().slice(0, 10) : value;
}

const fields = table.schema.fields.map(({ name, type, nullable }) => ({ name, type: String(type), nullable }));
const columns = table.schema.fields.map(({ type }, i) => Array.from(table.getChildAt(i) ?? [], (value) => plain(value, type)));
const rows = Array.from({ length: table.numRows }, (_, row) => columns.map((column) => column[row]));
writeFileSync(to, JSON.stringify({ fields, batches: table.batches.length, rows }));
