/*
 * zip.mjs - a zip of a folder, the same bytes each time: entries sorted, one time for all, modes
 * 755 or 644, no owners (the ZIP application note 6.3.3, sections 4.3 and 4.4; no zip64, so at most
 * 65,535 files and 4 GiB).
 */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { filesOf } from "./programs.mjs";

const UTF8_NAME = 0x0800, DEFLATED = 8, VERSION = 20, MADE_ON_UNIX = 3 << 8 | VERSION, REGULAR = 0o100000;

/** Node.js 18 has no crc32 (polynomial 0xedb88320, reflected). */
const CRC = Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++)
    byte = byte & 1 ? byte >>> 1 ^ 0xedb88320 : byte >>> 1;
  return byte >>> 0;
});

export function crc32(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes)
    sum = CRC[(sum ^ byte) & 0xff] ^ sum >>> 8;
  return (sum ^ 0xffffffff) >>> 0;
}

/** The time as DOS has it, in steps of two seconds, without a zone: UTC here. */
function dosTime(seconds) {
  const at = new Date(seconds * 1000);
  const date = (at.getUTCFullYear() - 1980) << 9 | (at.getUTCMonth() + 1) << 5 | at.getUTCDate();
  return { date, time: at.getUTCHours() << 11 | at.getUTCMinutes() << 5 | at.getUTCSeconds() >> 1 };
}

/** What the local header and the central directory have in common, from "version needed" on. */
function common(name, packed, bytes, { date, time }) {
  const at = Buffer.alloc(26);
  at.writeUInt16LE(VERSION, 0);
  at.writeUInt16LE(UTF8_NAME, 2);
  at.writeUInt16LE(DEFLATED, 4);
  at.writeUInt16LE(time, 6);
  at.writeUInt16LE(date, 8);
  at.writeUInt32LE(crc32(bytes), 10);
  at.writeUInt32LE(packed.length, 14);
  at.writeUInt32LE(bytes.length, 18);
  at.writeUInt16LE(name.length, 22);
  return at;
}

function central(shared, name, mode, offset) {
  const head = Buffer.alloc(6), tail = Buffer.alloc(14);
  head.write("PK\x01\x02", 0, "latin1");
  head.writeUInt16LE(MADE_ON_UNIX, 4);
  tail.writeUInt32LE((REGULAR | mode) * 0x10000, 6);
  tail.writeUInt32LE(offset, 10);
  return [head, shared, tail, name];
}

function end(count, size, offset) {
  const at = Buffer.alloc(22);
  at.write("PK\x05\x06", 0, "latin1");
  at.writeUInt16LE(count, 8);
  at.writeUInt16LE(count, 10);
  at.writeUInt32LE(size, 12);
  at.writeUInt32LE(offset, 16);
  return at;
}

/** Writes the zip of a folder. @param seconds the time of all entries, from 1980 on */
export function zip(file, folder, seconds) {
  const when = dosTime(seconds), parts = [], directory = [];
  let offset = 0;
  const names = filesOf(folder);
  for (const path of names) {
    const bytes = readFileSync(join(folder, path)), packed = deflateRawSync(bytes, { level: 9 }), name = Buffer.from(path);
    const shared = common(name, packed, bytes, when);
    const mode = statSync(join(folder, path)).mode & 0o100 ? 0o755 : 0o644;
    const local = [Buffer.from("PK\x03\x04", "latin1"), shared, name, packed];
    directory.push(...central(shared, name, mode, offset));
    parts.push(...local);
    offset += local.reduce((sum, part) => sum + part.length, 0);
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  writeFileSync(file, Buffer.concat([...parts, ...directory, end(names.length, size, offset)]));
}
