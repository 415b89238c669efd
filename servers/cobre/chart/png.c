/*
 * png.c - chunks, and a deflate stream of one block with the fixed codes.
 *
 * A chart has long runs of one colour and many rows that repeat the row above. So the only matches
 * that are looked for are those one byte and one row back, which needs no table and makes a chart
 * about a hundred times smaller.
 */
#include "chart/png.h"

#include <string.h>

enum { MATCH_MIN = 3, MATCH_MAX = 258 };

/* ---- checksums ------------------------------------------------------------------------------- */

static uint32_t crc32_of(const uint8_t *bytes, size_t length)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

struct adler {
    uint32_t a, b;
};

static void adler_add(struct adler *sum, uint8_t byte)
{
    sum->a = (sum->a + byte) % 65521;
    sum->b = (sum->b + sum->a) % 65521;
}

/* ---- deflate --------------------------------------------------------------------------------- */

struct bits {
    mcp_buf *out;
    uint32_t held;
    unsigned count;
};

/* The lowest bit first (RFC 1951, 3.1.1). */
static void put_bits(struct bits *bits, uint32_t value, unsigned count)
{
    bits->held |= value << bits->count;
    bits->count += count;
    while (bits->count >= 8) {
        mcp_buf_putc(bits->out, (char)(bits->held & 0xFF));
        bits->held >>= 8;
        bits->count -= 8;
    }
}

/* Codes are sent with their highest bit first. */
static void put_code(struct bits *bits, uint32_t code, unsigned count)
{
    for (unsigned i = count; i > 0; i--)
        put_bits(bits, code >> (i - 1) & 1, 1);
}

/* The fixed codes of literals and lengths (RFC 1951, 3.2.6). */
static void put_symbol(struct bits *bits, uint32_t symbol)
{
    if (symbol < 144)
        put_code(bits, 0x30 + symbol, 8);
    else if (symbol < 256)
        put_code(bits, 0x190 + symbol - 144, 9);
    else if (symbol < 280)
        put_code(bits, symbol - 256, 7);
    else
        put_code(bits, 0xC0 + symbol - 280, 8);
}

/* Lengths in classes that double every four symbols (RFC 1951, 3.2.5). */
static void put_length(struct bits *bits, uint32_t length)
{
    uint32_t base = MATCH_MIN;

    if (length == MATCH_MAX) {
        put_symbol(bits, 285);
        return;
    }
    for (uint32_t symbol = 257; symbol < 285; symbol++) {
        unsigned extra = symbol < 265 ? 0 : (symbol - 261) / 4;
        if (length < base + (1u << extra)) {
            put_symbol(bits, symbol);
            put_bits(bits, length - base, extra);
            return;
        }
        base += 1u << extra;
    }
}

static void put_distance(struct bits *bits, uint32_t distance)
{
    uint32_t base = 1;

    for (uint32_t code = 0; code < 30; code++) {
        unsigned extra = code < 4 ? 0 : (code - 2) / 2;
        if (distance < base + (1u << extra)) {
            put_code(bits, code, 5);
            put_bits(bits, distance - base, extra);
            return;
        }
        base += 1u << extra;
    }
}

/* The bytes of an image as PNG filters them: each row after a zero. */
struct rows {
    const uint8_t *pixels;
    size_t width, length; /* length: with the zeros */
};

static uint8_t byte_at(const struct rows *rows, size_t at)
{
    size_t column = at % (rows->width + 1);

    return column == 0 ? 0 : rows->pixels[at / (rows->width + 1) * rows->width + column - 1];
}

static size_t match_at(const struct rows *rows, size_t at, size_t distance)
{
    size_t length = 0;

    if (distance > at)
        return 0;
    while (length < MATCH_MAX && at + length < rows->length &&
           byte_at(rows, at + length) == byte_at(rows, at + length - distance))
        length++;
    return length;
}

static void deflate_rows(mcp_buf *out, const struct rows *rows)
{
    struct bits bits = { .out = out };
    struct adler sum = { 1, 0 };
    size_t row = rows->width + 1;

    mcp_buf_append(out, "\x78\x01", 2);
    put_bits(&bits, 1, 1); /* the last block */
    put_bits(&bits, 1, 2); /* fixed codes */
    for (size_t at = 0; at < rows->length;) {
        size_t run = match_at(rows, at, 1);
        size_t above = row <= 32768 ? match_at(rows, at, row) : 0;
        size_t length = run >= above ? run : above;
        if (length < MATCH_MIN) {
            length = 1;
            put_symbol(&bits, byte_at(rows, at));
        } else {
            put_length(&bits, (uint32_t)length);
            put_distance(&bits, run >= above ? 1 : (uint32_t)row);
        }
        for (; length > 0; length--)
            adler_add(&sum, byte_at(rows, at++));
    }
    put_symbol(&bits, 256);
    put_bits(&bits, 0, 7); /* to the end of the byte */
    for (int shift = 8; shift >= 0; shift -= 8)
        mcp_buf_putc(out, (char)(sum.b >> shift & 0xFF));
    for (int shift = 8; shift >= 0; shift -= 8)
        mcp_buf_putc(out, (char)(sum.a >> shift & 0xFF));
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static void put_u32(mcp_buf *out, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        mcp_buf_putc(out, (char)(value >> shift & 0xFF));
}

/* A chunk whose type and data are in `body`, which is emptied. */
static void put_chunk(mcp_buf *out, mcp_buf *body)
{
    if (body->status != MCP_OK) {
        out->status = out->status == MCP_OK ? body->status : out->status;
        return;
    }
    put_u32(out, (uint32_t)body->length - 4);
    mcp_buf_append(out, body->data, body->length);
    put_u32(out, crc32_of((const uint8_t *)body->data, body->length));
    mcp_buf_reset(body);
}

mcp_status png_write(mcp_buf *out, const uint8_t *pixels, size_t width, size_t height,
                     const uint32_t *palette, size_t colours)
{
    const struct rows rows = { pixels, width, (width + 1) * height };
    mcp_buf body;

    mcp_buf_init(&body, 2 * rows.length + 1024);
    mcp_buf_append(out, "\x89PNG\r\n\x1A\n", 8);
    mcp_buf_append(&body, "IHDR", 4);
    put_u32(&body, (uint32_t)width);
    put_u32(&body, (uint32_t)height);
    mcp_buf_append(&body, "\x08\x03\0\0\0", 5); /* 8 bits, palette */
    put_chunk(out, &body);
    mcp_buf_append(&body, "PLTE", 4);
    for (size_t i = 0; i < colours; i++)
        for (int shift = 16; shift >= 0; shift -= 8)
            mcp_buf_putc(&body, (char)(palette[i] >> shift & 0xFF));
    put_chunk(out, &body);
    mcp_buf_append(&body, "IDAT", 4);
    deflate_rows(&body, &rows);
    put_chunk(out, &body);
    mcp_buf_append(&body, "IEND", 4);
    put_chunk(out, &body);
    mcp_buf_clear(&body);
    return out->status;
}
