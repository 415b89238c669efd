/*
 * snapshot.h - the format of a binary snapshot; written by save.c, read by load.c.
 *
 *     header   "UNIVERSE" u32 format u32 bodies (how many there will be, so that room is made once; 0: not known)
 *     record   u8 tag  u32 length  bytes
 *
 * Integers and doubles are little-endian. Records come in this order:
 *
 *     'T'  f64 time
 *     'B'  body     u32 parent  u32 flags  text id  text name  5 f64 (mass, radius, distance, speed, phase)
 *                   u32 colour (or text, by the flags)  u32 mask  f64 a bit of it  rest: members as JSON
 *     'G'  group    text id  rest
 *     'C'  children of a group: u32 group, then u32 a child: a group's has the top bit
 *     'b' 'f' 'd' 'n'  belt, field, disk, nebula: text id  rest
 *     'E'  u64 sum of all records before it
 *
 * A text is u16 length and its bytes; with length 0xffff it is an id of 16 bytes, a UUID. Bodies
 * and groups are numbered from 1 in the order of their records, which is pre-order; `parent` is
 * such a number, always a smaller one than the body's own, so what was read is a forest.
 */
#ifndef UNIVERSE_SNAPSHOT_H
#define UNIVERSE_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#define UNIVERSE_SNAPSHOT_MAGIC "UNIVERSE"
#define UNIVERSE_SNAPSHOT_FORMAT 1u
#define UNIVERSE_SNAPSHOT_HEADER 16u
#define UNIVERSE_RECORD_HEADER 5u
#define UNIVERSE_RECORD_MAX (64u << 20)
#define UNIVERSE_UUID_TEXT 0xffffu
#define UNIVERSE_CHILD_IS_GROUP (1u << 31)

/* The tag of a map's entities. */
#define UNIVERSE_RECORD_TAGS "BGbfdn"

/* One record more in the sum. */
uint64_t universe_snapshot_sum(uint64_t sum, const void *record, size_t length);

#endif
