/**
 * json.h - reading JSON into immutable values, and writing JSON as a stream.
 *
 * A value never changes after it was read, so threads may share it. It lives as long as its arena.
 * An integer that fits into 64 bits is kept as an integer. Every other number is a double, also a
 * longer integer, as in JavaScript. A number outside the range of a double is a parse error (RFC
 * 8259, section 6, leaves the range to the implementation). Strings are UTF-8 and may contain NUL;
 * a NUL that is not counted follows each. Every accessor accepts NULL as "absent", so lookups can
 * be chained.
 */
#ifndef MCP_JSON_H
#define MCP_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/buf.h"
#include "mcp/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Maximum nesting of arrays and objects, both when reading and when writing. */
#define MCP_JSON_DEPTH_MAX 64

/** The type of a value. */
typedef enum mcp_json_type {
    MCP_JSON_ABSENT, /* the result of mcp_json_type_of(NULL); no value has it */
    MCP_JSON_NULL,
    MCP_JSON_BOOL,
    MCP_JSON_INT,    /* -2^63 to 2^63-1 */
    MCP_JSON_UINT,   /* 2^63 to 2^64-1 */
    MCP_JSON_DOUBLE, /* written with a fraction or an exponent */
    MCP_JSON_STRING,
    MCP_JSON_ARRAY,
    MCP_JSON_OBJECT
} mcp_json_type;

/** An immutable JSON value. */
typedef struct mcp_json mcp_json;

/* ---- reading --------------------------------------------------------------------------------- */

/**
 * Read one JSON text (RFC 8259, strict) into an immutable value.
 *
 * @param out    the value, owned by `arena`; untouched unless MCP_OK is returned
 * @param arena  holds the value and copies of its strings
 * @param text   UTF-8; need not end in NUL; not kept after the call
 * @return MCP_OK; MCP_E_PARSE (err->offset says which byte, the message why); MCP_E_LIMIT (nested
 *         deeper than MCP_JSON_DEPTH_MAX, or the arena's limit); MCP_E_NOMEM
 */
mcp_status mcp_json_read(const mcp_json **out, mcp_arena *arena, const char *text, size_t length,
                         mcp_error *err);

/**
 * The first member name that occurs twice in an object, or NULL. JSON allows duplicates and parsers
 * disagree about them, so security-relevant code checks for them. Nested objects are not examined.
 */
const char *mcp_json_duplicate(const mcp_json *object);

/* ---- reading a value ------------------------------------------------------------------------- */

/** The type of a value; MCP_JSON_ABSENT for NULL. */
mcp_json_type mcp_json_type_of(const mcp_json *value);

/** The type's name as JSON Schema spells it: "null", "boolean", "integer", "number", "string",
 *  ... */
const char *mcp_json_type_name(mcp_json_type type);

/** True for null; false for NULL. */
bool mcp_json_is_null(const mcp_json *value);
/** True for a string; false for NULL. */
bool mcp_json_is_string(const mcp_json *value);
/** True for a number of any kind; false for NULL. */
bool mcp_json_is_number(const mcp_json *value);
/** True for an array; false for NULL. */
bool mcp_json_is_array(const mcp_json *value);
/** True for an object; false for NULL. */
bool mcp_json_is_object(const mcp_json *value);

/** True when the value is a boolean; sets *out. */
bool mcp_json_bool(const mcp_json *value, bool *out);

/** True when the value is an int64_t, written as an integer (2.0 is not); sets *out. */
bool mcp_json_int(const mcp_json *value, int64_t *out);

/** True when the value is a uint64_t, written as an integer; sets *out. */
bool mcp_json_uint(const mcp_json *value, uint64_t *out);

/** True when the value is any number; sets *out to the nearest double. */
bool mcp_json_double(const mcp_json *value, double *out);

/** The bytes of a string, NULL for anything else. `length` may be NULL. */
const char *mcp_json_string(const mcp_json *value, size_t *length);

/* ---- arrays and objects ---------------------------------------------------------------------- */

/** The number of items or members; 0 for anything else. */
size_t mcp_json_count(const mcp_json *container);

/** The i-th item of an array or the i-th member's value of an object, in text order; O(1). */
const mcp_json *mcp_json_item(const mcp_json *container, size_t index);

/** The name of an object's i-th member. `length` may be NULL. */
const char *mcp_json_name(const mcp_json *object, size_t index, size_t *length);

/** The member of that name (the last one when it occurs twice); NULL when absent. */
const mcp_json *mcp_json_get(const mcp_json *object, const char *name);

/** As mcp_json_get, for a name that is not a C string. */
const mcp_json *mcp_json_get_n(const mcp_json *object, const char *name, size_t length);

/** Short for mcp_json_string(mcp_json_get(object, name), NULL). */
const char *mcp_json_get_string(const mcp_json *object, const char *name);

/** The value that a JSON Pointer (RFC 6901) designates, starting at `value`; NULL when there is
 *  none. */
const mcp_json *mcp_json_pointer(const mcp_json *value, const char *pointer);

/** Equality as JSON Schema defines it: 1 equals 1.0, the order of members does not matter. */
bool mcp_json_equal(const mcp_json *a, const mcp_json *b);

/* ---- writing --------------------------------------------------------------------------------- */

/**
 * Writes one JSON value into a buffer, piece by piece. The first failure is kept (see
 * mcp_json_writer_status) and later calls do nothing, so callers check once, at the end. A piece
 * out of place (a value where a name must follow, a second root) is a bug of the caller and
 * asserts.
 */
typedef struct mcp_json_writer {
    mcp_buf *buf;       /* borrowed */
    mcp_status status;  /* see mcp_json_writer_status */
    uint64_t is_object; /* one bit per level: object or array */
    uint64_t has_items; /* one bit per level: a comma must follow */
    unsigned depth;     /* objects and arrays that are open */
    bool name_written;  /* a member's value must follow */
    bool done;          /* the root is complete */
} mcp_json_writer;

/** Start writing at the end of `buf`, which is borrowed. */
void mcp_json_writer_init(mcp_json_writer *writer, mcp_buf *buf);

/** MCP_OK; MCP_E_LIMIT (buffer or depth); MCP_E_NOMEM; MCP_E_PARAMS (NaN, infinity, bad UTF-8,
 *  a name or text that is NULL). */
mcp_status mcp_json_writer_status(const mcp_json_writer *writer);

/** Begin an object; mcp_write_end closes it. */
void mcp_write_object(mcp_json_writer *writer);
/** Begin an array; mcp_write_end closes it. */
void mcp_write_array(mcp_json_writer *writer);

/** Close the innermost object or array. */
void mcp_write_end(mcp_json_writer *writer);

/** The name of the next member. */
void mcp_write_name(mcp_json_writer *writer, const char *name);

/** A string; null for NULL. */
void mcp_write_string(mcp_json_writer *writer, const char *text);

/** A string of `length` bytes of UTF-8, which may contain NUL. */
void mcp_write_string_n(mcp_json_writer *writer, const char *text, size_t length);

/** An integer. */
void mcp_write_int(mcp_json_writer *writer, int64_t number);
/** An integer that is not negative. */
void mcp_write_uint(mcp_json_writer *writer, uint64_t number);

/** The shortest text that reads back as the same double. NaN and infinity are MCP_E_PARAMS. */
void mcp_write_double(mcp_json_writer *writer, double number);

/** As mcp_write_double, but NaN and infinity become null. */
void mcp_write_double_or_null(mcp_json_writer *writer, double number);

/** true or false. */
void mcp_write_bool(mcp_json_writer *writer, bool flag);
/** null. */
void mcp_write_null(mcp_json_writer *writer);

/** A value; null for NULL. */
void mcp_write_value(mcp_json_writer *writer, const mcp_json *value);

/** JSON text that is known to be one valid value; copied unchanged. */
void mcp_write_raw(mcp_json_writer *writer, const char *json, size_t length);

/* A member, name and value, in one call. */

/** mcp_write_name, then mcp_write_string. */
void mcp_write_member_string(mcp_json_writer *writer, const char *name, const char *value);
/** mcp_write_name, then mcp_write_int. */
void mcp_write_member_int(mcp_json_writer *writer, const char *name, int64_t value);
/** mcp_write_name, then mcp_write_double. */
void mcp_write_member_double(mcp_json_writer *writer, const char *name, double value);
/** mcp_write_name, then mcp_write_bool. */
void mcp_write_member_bool(mcp_json_writer *writer, const char *name, bool value);
/** mcp_write_name, then mcp_write_null. */
void mcp_write_member_null(mcp_json_writer *writer, const char *name);
/** mcp_write_name, then mcp_write_value. */
void mcp_write_member_value(mcp_json_writer *writer, const char *name, const mcp_json *value);
/** mcp_write_name, then mcp_write_object; the object stays open. */
void mcp_write_member_object(mcp_json_writer *writer, const char *name);
/** mcp_write_name, then mcp_write_array; the array stays open. */
void mcp_write_member_array(mcp_json_writer *writer, const char *name);

#ifdef __cplusplus
}
#endif

#endif
