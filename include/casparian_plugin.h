/**
 * casparian_plugin.h - the SDK for native plugins of casparian: programs that read one file and
 * emit rows.
 *
 * casparian starts the program with the path of a file as its only argument. The program writes
 * rows by the functions below; they speak protocol 0.1 (control messages as lines of JSON on
 * stderr, CFB1 batches on stdout). Link with libcasparian_plugin.a; it needs nothing but libc.
 *
 *     static const cf_column columns[] = { { "line", CF_INT64, 0, 0, NULL },
 *                                          { "word", CF_STRING, 0, 0, NULL } };
 *     static const cf_schema schema = { columns, 2, NULL, false };
 *
 *     int main(int argc, char **argv)
 *     {
 *         cf_sink *sink = cf_begin("words", "1.0.0", "cfb");
 *         cf_output *words = cf_output_open(sink, "words", &schema);
 *
 *         cf_row_new(words);
 *         cf_set_i64(words, 0, 1);
 *         cf_set_str(words, 1, "hello", 5);
 *         cf_row_commit(words);
 *         cf_output_close(words);
 *         return cf_finish(sink, 0);
 *     }
 *
 * Several outputs may be open at once, and their rows may be written in turns. A batch is sent
 * when it has 8192 rows or 1 MiB. After a failure (no memory, nobody reads) every further call does
 * nothing, cf_row_commit returns the failure, and cf_finish returns 1. So checking the result of
 * cf_row_commit, to stop early, is enough; every function takes NULL where it wants a sink or an
 * output.
 *
 * Texts are UTF-8 (casparian repairs what is not) and are copied. One thread at a time.
 */
#ifndef CASPARIAN_PLUGIN_H
#define CASPARIAN_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the protocol that cf_begin announces. */
#define CF_PROTOCOL "0.1"

/** Most rows and usual bytes of a batch, columns of an output, bytes of a row. */
#define CF_BATCH_ROWS_MAX 8192
#define CF_BATCH_BYTES_MAX ((size_t)1 << 20)
#define CF_COLUMNS_MAX 2000
#define CF_ROW_BYTES_MAX ((size_t)48 << 20)

/** "There is no such column." */
#define CF_NO_COLUMN ((size_t)-1)

typedef struct cf_sink cf_sink;
typedef struct cf_output cf_output;

typedef enum cf_status {
    CF_OK = 0,
    CF_E_USE = -1,   /* a wrong column or type, or a call out of order: a mistake of the program */
    CF_E_LIMIT = -2, /* a row over CF_ROW_BYTES_MAX */
    CF_E_NOMEM = -3,
    CF_E_WRITE = -4 /* the other end is gone */
} cf_status;

/** Types of a column; the numbers are those of CFB1. */
typedef enum cf_type {
    CF_NULL = 0,
    CF_BOOLEAN = 1,
    CF_INT64 = 2,
    CF_FLOAT64 = 3,
    CF_DECIMAL = 4,
    CF_STRING = 5,
    CF_BINARY = 6,
    CF_DATE = 7,         /* days since 1970-01-01 */
    CF_TIMESTAMP = 8,    /* microseconds since 1970-01-01T00:00:00, no zone */
    CF_TIMESTAMP_TZ = 9, /* the same in UTC */
    CF_TIME = 10,        /* microseconds since midnight */
    CF_DURATION = 11     /* microseconds */
} cf_type;

typedef struct cf_column {
    const char *name; /* not empty, at most 128 bytes */
    cf_type type;
    uint8_t precision; /* of CF_DECIMAL: 1 to 38 */
    uint8_t scale;     /* of CF_DECIMAL: at most the precision */
    const char *zone;  /* of CF_TIMESTAMP_TZ; NULL: UTC */
} cf_column;

/**
 * The columns of an output.
 *
 * A column of a closed schema that a row does not set is null in it. An open schema (`is_open`) is
 * for data that brings its own columns: cf_column_add adds some at any time, a cell may have any
 * type, and a column that a row does not set is missing from that row. Batches end where the set of
 * columns or a type changes.
 */
typedef struct cf_schema {
    const cf_column *columns;
    size_t count;
    const char *hash; /* the protocol_schema_hash; NULL: "*", any */
    bool is_open;
} cf_schema;

/**
 * Announce the plugin; the first call.
 *
 * Ignores SIGPIPE from then on.
 *
 * @param encoding "cfb", the only encoding of this SDK
 * @return NULL: no memory, or another encoding
 */
cf_sink *cf_begin(const char *id, const char *version, const char *encoding);

/** What a sink writes with: `stream` 1 is for data, 2 for control lines. Returns false on failure;
 *  then it is not called again. */
typedef bool cf_write(int stream, const void *bytes, size_t length, void *data);

/** cf_begin with another place for the bytes, for tests of a plugin. It leaves SIGPIPE alone. */
cf_sink *cf_begin_to(const char *id, const char *version, cf_write *write, void *data);

/** A message for the log of the job. */
void cf_warn(cf_sink *sink, const char *message);

/** The reason why the file fails. It does so after the program has ended, whatever its status. */
void cf_error(cf_sink *sink, const char *message);

/** How far the program is; 0 for a number that is not known. */
void cf_progress(cf_sink *sink, uint64_t bytes_done, uint64_t bytes_total, uint64_t rows);

/** CF_OK, or the failure that ended the sink. */
cf_status cf_sink_status(const cf_sink *sink);

/**
 * Close all outputs and end the sink, which is freed. Of a sink that had no memory the file fails
 * as memory_limit. Of a program that ends without cf_finish the file fails: its last batches were
 * never sent.
 *
 * @param exit_code 0 success, 1 permanent failure, 2 a failure that may pass
 * @return exit_code; 1 instead of 0 when the sink has failed or a row was dropped. For `return` in
 *         main
 */
int cf_finish(cf_sink *sink, int exit_code);

/**
 * Open an output. One without rows is known to casparian too.
 *
 * @param schema copied; NULL: open, without columns yet
 * @return the sink's, until it is closed; NULL when the sink has failed: the schema is wrong, no
 *         memory
 */
cf_output *cf_output_open(cf_sink *sink, const char *name, const cf_schema *schema);

/** Send what is left and free the output. An unfinished row is dropped. */
cf_status cf_output_close(cf_output *output);

/**
 * The column of that name of an open schema, added when it is new.
 *
 * @return its index, or CF_NO_COLUMN: there are CF_COLUMNS_MAX; the name is empty or over 128 bytes
 */
size_t cf_column_add(cf_output *output, const char *name, size_t length);

/** Begin a row. One that was begun and not committed is dropped. */
void cf_row_new(cf_output *output);

/*
 * Set a cell of the row: a column by its index in the schema. The last call for a cell counts. The
 * row remembers the first mistake, which cf_row_commit returns.
 */
void cf_set_null(cf_output *output, size_t column);
void cf_set_bool(cf_output *output, size_t column, bool value);
void cf_set_i64(cf_output *output, size_t column, int64_t value);
void cf_set_f64(cf_output *output, size_t column, double value);
void cf_set_str(cf_output *output, size_t column, const char *bytes, size_t length);
void cf_set_bin(cf_output *output, size_t column, const void *bytes, size_t length);
void cf_set_date(cf_output *output, size_t column, int32_t days);

/** Of CF_TIMESTAMP, CF_TIMESTAMP_TZ, CF_TIME and CF_DURATION; in an open schema a new column is a
 *  CF_TIMESTAMP_TZ in UTC. */
void cf_set_ts(cf_output *output, size_t column, int64_t micros);

/** The unscaled value, two's complement. In an open schema only a column that was declared as a
 *  decimal takes it. */
void cf_set_dec(cf_output *output, size_t column, int64_t high, uint64_t low);

/** The line or record of the source that the row is from (`__cf_row_id`). */
void cf_row_id(cf_output *output, int64_t id);

/** Mark the row as bad, with the reason (`_cf_row_error`); "" leaves it good. */
void cf_row_error(cf_output *output, const char *reason);

/** End the row. On CF_E_USE and CF_E_LIMIT the row is dropped and the next one may be written; the
 *  file fails at cf_finish, which names the mistake, since not all of its rows are there. */
cf_status cf_row_commit(cf_output *output);

/*
 * A plugin may be a shared library in the place of a program: `entrypoint = "words.so"`. It is not
 * linked with libcasparian_plugin.a and calls neither cf_begin nor cf_finish: the program that
 * loads it, in the sandbox, has the functions above. It exports these two.
 *
 *     cc -std=c17 -O2 -shared -fPIC words.c -o words.so
 */

/** Parse a file into the sink. @return as cf_finish's exit_code */
int cf_plugin_parse(const char *path, cf_sink *sink);

/** A JSON object that has the `name` and the `version` of casparian.toml. */
const char *cf_plugin_manifest(void);

#define CF_PLUGIN_PARSE "cf_plugin_parse"
#define CF_PLUGIN_MANIFEST "cf_plugin_manifest"
typedef int cf_plugin_parse_function(const char *path, cf_sink *sink);
typedef const char *cf_plugin_manifest_function(void);

#ifdef __cplusplus
}
#endif

#endif
