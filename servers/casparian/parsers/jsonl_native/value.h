/*
 * value.h - the texts of JSON (RFC 8259), read from left to right without a tree.
 */
#ifndef CASPARIAN_PARSERS_JSONL_NATIVE_VALUE_H
#define CASPARIAN_PARSERS_JSONL_NATIVE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Deepest nesting of arrays and objects. */
enum { CASPARIAN_JSON_DEPTH_MAX = 64 };

/** A text that is being read. */
struct casparian_json {
    const char *at;
    const char *end;
    const char *reason; /* what is wrong; NULL: nothing */
    char *scratch;      /* as long as the text; a string without escapes is put together here */
};

enum casparian_json_kind {
    CASPARIAN_JSON_NULL,
    CASPARIAN_JSON_BOOLEAN,
    CASPARIAN_JSON_INTEGER, /* within int64 */
    CASPARIAN_JSON_LONG,    /* a number beyond that, or beyond doubles: its digits */
    CASPARIAN_JSON_NUMBER,
    CASPARIAN_JSON_STRING,
    CASPARIAN_JSON_NESTED /* an array or object: its text without white space */
};

struct casparian_json_value {
    enum casparian_json_kind kind;
    bool boolean;
    int64_t integer;
    double number;
    const char *bytes; /* in the text or in `scratch`: valid until the next value is read */
    size_t length;
};

void casparian_json_skip_space(struct casparian_json *json);

/** Use the byte if it is next. */
bool casparian_json_take(struct casparian_json *json, char byte);

/** A string that begins at `at`; false: it is malformed. */
bool casparian_json_string(struct casparian_json *json, const char **bytes, size_t *length);

/** Any value that begins at `at`; false: it is malformed. */
bool casparian_json_value(struct casparian_json *json, struct casparian_json_value *value);

#endif
