/**
 * redact.h - what a client sees of values in data: nothing of them by default.
 *
 *     none      the value
 *     truncate  its first characters and "..."
 *     hash      "[hash:75740b32]", the first digits of the SHA-256 of its text (the default)
 *
 * Null and booleans are always shown; numbers and times are, unless their column is sensitive by
 * its name. A sensitive column is hashed in every mode, unless the administrator has switched that
 * off. A weaker mode than the administrator's floor becomes the floor.
 *
 * Settings and policies never change, so threads may share them.
 *
 * Source: the seed, RedactionPolicy; casparian's security, 3.
 */
#ifndef CASPARIAN_CHECK_REDACT_H
#define CASPARIAN_CHECK_REDACT_H

#include "check/batch.h"
#include "mcp/json.h"
#include "schema/zone.h"

/** From the weakest to the strongest. */
typedef enum casparian_redaction_mode {
    CASPARIAN_REDACTION_NONE,
    CASPARIAN_REDACTION_TRUNCATE,
    CASPARIAN_REDACTION_HASH
} casparian_redaction_mode;

/** "none", "truncate" or "hash". */
const char *casparian_redaction_mode_text(casparian_redaction_mode mode);

/** @return false: it is none of the three */
bool casparian_redaction_mode_read(casparian_redaction_mode *out, const char *text);

/** What the administrator has set. Texts are borrowed. */
typedef struct casparian_redaction_settings {
    casparian_redaction_mode mode;  /* where a caller names none */
    casparian_redaction_mode floor; /* the weakest that a caller may choose */
    int max_sample_count;           /* 0 to 20 */
    int max_value_length;           /* of truncate, in code points: 1 to 1,000 */
    int hash_prefix_length;         /* 4 to 64 */
    bool numbers;                   /* hash numbers and times too */
    bool patterns;                  /* show the shape of samples */
    bool protect_sensitive;         /* hash sensitive columns also in mode none */
    const char *const *sensitive;   /* globs of column names, beyond the built-in words */
    size_t sensitive_count;
    const char *const *nonsensitive; /* globs that take names out again */
    size_t nonsensitive_count;
    const uint8_t *hmac_key; /* HMAC-SHA-256 with this key in place of SHA-256; NULL: none */
    size_t hmac_key_length;
} casparian_redaction_settings;

/** The defaults: hash, no floor, 5 samples, 100 characters, 8 digits, patterns, sensitive columns
 *  protected. */
extern const casparian_redaction_settings casparian_redaction_defaults;

/** Whether a word is one of a plugin's own text, so that it is no value of data. */
typedef bool casparian_word_is_known(void *data, const char *word, size_t length);

/** How values are shown in one answer or one job. */
typedef struct casparian_redaction {
    const casparian_redaction_settings *settings;
    casparian_redaction_mode mode;
    int max_sample_count, max_value_length, hash_prefix_length;
    casparian_word_is_known *is_known; /* of the plugin whose texts are shown; NULL: no word is */
    void *words;                       /* its data */
} casparian_redaction;

/**
 * Read a policy of a caller. Numbers outside their range are clamped; so is a mode below the floor.
 *
 * @param json     {"mode"?, "max_sample_count"?, "max_value_length"?, "hash_prefix_length"?}, valid
 *                 by the tool's schema; NULL: the settings
 * @param warnings receives a sentence for each value that was changed, in an open array; or NULL
 */
void casparian_redaction_read(casparian_redaction *out,
                              const casparian_redaction_settings *settings, const mcp_json *json,
                              mcp_json_writer *warnings);

/** Whether a column's values are sensitive by its name: it equals one of the built-in words, or has
 *  one as a run of whole words between underscores, or fits a glob of the settings. */
bool casparian_redaction_is_sensitive(const casparian_redaction *redaction, const char *column);

/**
 * Append a text as it is shown. Of a text that is an object of JSON the members with sensitive
 * names are hashed wherever such columns are.
 *
 * @param is_sensitive of its column
 * @return out->status
 */
mcp_status casparian_redact_text(mcp_buf *out, const casparian_redaction *redaction,
                                 bool is_sensitive, const char *text, size_t length);

/** Write a value as it is shown: casparian_text_json of what passes, else the redacted text. */
void casparian_redact_cell(mcp_json_writer *out, const casparian_redaction *redaction,
                           bool is_sensitive, const casparian_cell *cell,
                           const casparian_zone *zone);

/** Write a value of JSON as it is shown, through arrays and objects; names of members stay. */
void casparian_redact_json(mcp_json_writer *out, const casparian_redaction *redaction,
                           bool is_sensitive, const mcp_json *value);

/** Append an error text of the host: at most 500 characters, with what stands in quotes hashed
 *  unless the mode is none. @return out->status */
mcp_status casparian_redact_message(mcp_buf *out, const casparian_redaction *redaction,
                                    const char *text, size_t length);

/** Append a text that a plugin made, which may have values anywhere: as casparian_redact_message,
 *  and a word is shown only where it is known and has no four digits in a row. Of every other one
 *  the shape is. @return out->status */
mcp_status casparian_redact_said(mcp_buf *out, const casparian_redaction *redaction,
                                 const char *text, size_t length);

/** Bytes of the word that a text begins with: of ASCII letters and digits, `_`, and what is not
 *  ASCII. 0: it begins with none. */
size_t casparian_word_length(const char *text, size_t length);

/** Room for a shape with its NUL. */
#define CASPARIAN_SHAPE_SIZE 128

/**
 * Write the shape of a text: 9 for a digit, A and a for letters, U for what is not ASCII, other
 * characters as they are; five or more equal ones as "a{7}"; at most 40 characters, then "…".
 *
 * @return the length
 */
size_t casparian_shape(char out[CASPARIAN_SHAPE_SIZE], const char *text, size_t length);

#endif
