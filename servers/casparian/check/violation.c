/*
 * violation.c - tallies of values that were wrong.
 *
 * Values are found by SipHash in a table that grows, so a column of nothing but errors costs a
 * look-up for each row. What is long or binary is redacted at once and kept short; two such values
 * are the same if their hashes and lengths are.
 */
#include "check/violation.h"

#include <string.h>

#include "check/text.h"
#include "mcp/hash.h"

#define CAPACITY_MIN 16
#define KEPT_TEXT_MAX 1024
#define SHOWN_MAX ((size_t)64 << 10)

static const char *const violation_texts[] = {
#define CASPARIAN_VIOLATION_TEXT(name, text) text,
    CASPARIAN_VIOLATION_MAP(CASPARIAN_VIOLATION_TEXT)
#undef CASPARIAN_VIOLATION_TEXT
};

static const char *const sentinel_texts[] = { "N/A",     "NA",      "NULL", "null", "None", "nan",
                                              "PENDING", "UNKNOWN", "-",    "--",   "?",    "" };

enum { SENTINELS = sizeof sentinel_texts / sizeof sentinel_texts[0] };

/* Fixed: the order of values is that of their appearance, and the table is bounded. */
static const uint64_t hash_key[2] = { 0x6361737061726961, 0x6e2d74616c6c7900 };

const char *casparian_violation_text(casparian_violation violation)
{
    return violation_texts[violation];
}

int casparian_sentinel_of(const char *text, size_t length)
{
    bool may_be_one = length == 0 || (length <= strlen("PENDING") && strchr("NnPU-?", text[0]));
    if (!may_be_one)
        return -1;
    for (int i = 0; i < SENTINELS; i++) {
        if (strlen(sentinel_texts[i]) == length && memcmp(text, sentinel_texts[i], length) == 0)
            return i;
    }
    return -1;
}

const char *casparian_sentinel_text(int number)
{
    return number >= 0 && number < SENTINELS ? sentinel_texts[number] : NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The slot of a value, or the free one where it belongs. The table is at most half full. */
static uint32_t *slot_of(const casparian_tally *self, const casparian_tally_value *value)
{
    uint32_t mask = 2 * self->capacity - 1;
    for (uint32_t at = (uint32_t)value->hash & mask;; at = (at + 1) & mask) {
        uint32_t *slot = &self->slots[at];
        const casparian_tally_value *held = *slot ? &self->values[*slot - 1] : NULL;
        if (!held || (held->hash == value->hash && held->whole_length == value->whole_length &&
                      held->is_literal == value->is_literal))
            return slot;
    }
}

static bool grow(casparian_tally *self, mcp_arena *arena)
{
    uint32_t capacity = self->capacity ? 2 * self->capacity : CAPACITY_MIN;
    casparian_tally_value *values = mcp_arena_array(arena, capacity, sizeof *values);
    uint32_t *slots = mcp_arena_array(arena, 2 * (size_t)capacity, sizeof *slots);
    if (!values || !slots)
        return false;
    if (self->value_count > 0)
        memcpy(values, self->values, self->value_count * sizeof *values);
    self->values = values;
    self->slots = slots;
    self->capacity = capacity;
    for (uint32_t i = 0; i < self->value_count; i++)
        *slot_of(self, &values[i]) = i + 1;
    return true;
}

static bool has_room(const casparian_tally *self, const casparian_tally_store *store, size_t length)
{
    return self->value_count < CASPARIAN_TALLY_VALUES_MAX &&
           store->bytes + length + 2 * sizeof(casparian_tally_value) <= CASPARIAN_TALLY_BYTES_MAX;
}

/* Keep a value that is not in the table. @return false: there is no room */
static bool keep(casparian_tally *self, casparian_tally_store *store,
                 const casparian_tally_value *value)
{
    if (!has_room(self, store, value->length) ||
        (self->value_count == self->capacity && !grow(self, store->arena)))
        return false;
    char *text = mcp_arena_strndup(store->arena, value->text, value->length);
    if (!text)
        return false;
    casparian_tally_value *kept = &self->values[self->value_count];
    *kept = *value;
    kept->text = text;
    *slot_of(self, value) = ++self->value_count;
    store->bytes += value->length + 2 * sizeof *value;
    return true;
}

static casparian_tally_value *find(const casparian_tally *self, const casparian_tally_value *value)
{
    uint32_t slot = self->capacity ? *slot_of(self, value) : 0;
    return slot ? &self->values[slot - 1] : NULL;
}

/* The redacted form of a value that is not kept whole, without the quotes of JSON. */
static void show(mcp_buf *out, const casparian_tally_store *store, const casparian_cell *cell,
                 bool is_sensitive)
{
    mcp_json_writer writer;
    mcp_buf json;
    if (cell->kind == CASPARIAN_KIND_STRING) {
        casparian_redact_text(out, store->redaction, is_sensitive, cell->text.bytes,
                              cell->text.length);
        return;
    }
    mcp_buf_init(&json, SHOWN_MAX);
    mcp_json_writer_init(&writer, &json);
    casparian_redact_cell(&writer, store->redaction, is_sensitive, cell, NULL);
    if (mcp_json_writer_status(&writer) == MCP_OK && json.length >= 2)
        mcp_buf_append(out, json.data + 1, json.length - 2);
    mcp_buf_clear(&json);
}

/* Bytes of a prefix that ends with a whole code point. */
static size_t whole_prefix(const char *text, size_t length, size_t max)
{
    if (length <= max)
        return length;
    while (max > 0 && ((unsigned char)text[max] & 0xC0) == 0x80)
        max--;
    return max;
}

static bool keep_shown(casparian_tally *self, casparian_tally_store *store,
                       casparian_tally_value *value, const casparian_cell *cell, bool is_sensitive)
{
    mcp_buf shown;
    mcp_buf_init(&shown, CASPARIAN_BATCH_BYTES_MAX);
    show(&shown, store, cell, is_sensitive);
    value->is_shown = true;
    value->text = shown.data ? shown.data : "";
    value->length = (uint32_t)whole_prefix(value->text, shown.length, KEPT_TEXT_MAX);
    bool is_kept = shown.status == MCP_OK && keep(self, store, value);
    mcp_buf_clear(&shown);
    return is_kept;
}

static void add_value(casparian_tally *self, casparian_tally_store *store,
                      const casparian_cell *cell, bool is_sensitive)
{
    char space[CASPARIAN_TEXT_SIZE];
    mcp_buf text;
    bool is_text = cell->kind == CASPARIAN_KIND_STRING || cell->kind == CASPARIAN_KIND_BINARY;
    casparian_tally_value value = { .is_literal = !is_text, .count = 1 };
    mcp_buf_init(&text, sizeof space);
    if (is_text) {
        value.text = cell->text.bytes;
        value.whole_length = cell->text.length;
    } else if (casparian_text_append(&text, cell, NULL) == MCP_OK) {
        value.text = text.data;
        value.whole_length = text.length;
    }
    value.hash = value.text ? mcp_siphash13(hash_key, value.text, value.whole_length) : 0;
    casparian_tally_value *held = find(self, &value);
    bool is_long = cell->kind == CASPARIAN_KIND_BINARY || value.whole_length > KEPT_TEXT_MAX;
    value.length = is_long ? 0 : (uint32_t)value.whole_length;
    if (held)
        held->count++;
    else if (self->value_count == CASPARIAN_TALLY_VALUES_MAX)
        self->others++;
    else if (is_long ? !keep_shown(self, store, &value, cell, is_sensitive)
                     : !keep(self, store, &value))
        self->others++;
    mcp_buf_clear(&text);
}

/* ---- tallies --------------------------------------------------------------------------------- */

void casparian_tally_add(casparian_tally *self, casparian_tally_store *store,
                         const casparian_cell *cell, bool is_sensitive, const char *file,
                         int64_t row)
{
    if (self->count++ == 0) {
        self->first_file = file;
        self->first_row = row;
    }
    if (cell->kind == CASPARIAN_KIND_NULL)
        return;
    if (cell->kind == CASPARIAN_KIND_STRING) {
        int sentinel = casparian_sentinel_of(cell->text.bytes, cell->text.length);
        if (sentinel >= 0) {
            self->sentinels++;
            self->seen_sentinels |= 1u << sentinel;
        }
    }
    add_value(self, store, cell, is_sensitive);
}

void casparian_tally_merge(casparian_tally *self, casparian_tally_store *store,
                           const casparian_tally *later)
{
    if (self->count == 0 && later->count > 0) {
        self->first_file = mcp_arena_strdup(store->arena, later->first_file);
        self->first_row = later->first_row;
    }
    self->count += later->count;
    self->sentinels += later->sentinels;
    self->seen_sentinels |= later->seen_sentinels;
    self->others += later->others;
    for (uint32_t i = 0; i < later->value_count; i++) {
        casparian_tally_value *held = find(self, &later->values[i]);
        if (held)
            held->count += later->values[i].count;
        else if (!keep(self, store, &later->values[i]))
            self->others += later->values[i].count;
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void append_shown(mcp_buf *out, const casparian_tally_value *value,
                         const casparian_redaction *redaction, bool is_sensitive, bool is_key)
{
    bool is_plain = value->is_shown || (value->is_literal && !is_key && !is_sensitive &&
                                        !redaction->settings->numbers);
    if (is_plain)
        mcp_buf_append(out, value->text, value->length);
    else
        casparian_redact_text(out, redaction, is_sensitive, value->text, value->length);
}

static void write_samples(const casparian_tally *self, mcp_json_writer *out,
                          const casparian_redaction *redaction, bool is_sensitive, size_t count)
{
    mcp_buf text;
    mcp_buf_init(&text, SHOWN_MAX);
    mcp_write_member_array(out, "samples");
    for (size_t i = 0; i < count; i++) {
        mcp_buf_reset(&text);
        append_shown(&text, &self->values[i], redaction, is_sensitive, false);
        mcp_write_string_n(out, text.data ? text.data : "", text.length);
    }
    mcp_write_end(out);
    mcp_buf_clear(&text);
}

static void write_patterns(const casparian_tally *self, mcp_json_writer *out, size_t count)
{
    char shape[CASPARIAN_SHAPE_SIZE];
    mcp_write_member_array(out, "sample_patterns");
    for (size_t i = 0; i < count; i++) {
        const casparian_tally_value *value = &self->values[i];
        bool is_known = !value->is_shown;
        mcp_write_string_n(out, shape,
                           is_known ? casparian_shape(shape, value->text, value->length) : 0);
    }
    mcp_write_end(out);
}

/* The most frequent values, the first seen before others. @return how many */
static size_t most_frequent(const casparian_tally *self, uint32_t *out, size_t max)
{
    size_t count = 0;
    for (uint32_t i = 0; i < self->value_count; i++) {
        size_t at = count;
        while (at > 0 && self->values[out[at - 1]].count < self->values[i].count)
            at--;
        if (at == max)
            continue;
        count += count < max;
        memmove(out + at + 1, out + at, (count - 1 - at) * sizeof *out);
        out[at] = i;
    }
    return count;
}

/* Keys that redaction makes equal are one, where the first of them stands. */
static void write_distribution(const casparian_tally *self, mcp_json_writer *out,
                               const casparian_redaction *redaction, bool is_sensitive, size_t max)
{
    uint32_t order[CASPARIAN_DISTRIBUTION_MAX];
    mcp_buf keys[CASPARIAN_DISTRIBUTION_MAX];
    int64_t counts[CASPARIAN_DISTRIBUTION_MAX];
    size_t chosen = most_frequent(self, order, max), distinct = 0;
    for (size_t i = 0; i < chosen; i++) {
        mcp_buf *key = &keys[distinct];
        size_t same = 0;
        mcp_buf_init(key, SHOWN_MAX);
        append_shown(key, &self->values[order[i]], redaction, is_sensitive, true);
        if (mcp_buf_putc(key, '\0') != MCP_OK) { /* no memory: the value is left out */
            mcp_buf_clear(key);
            continue;
        }
        while (same < distinct && strcmp(keys[same].data, key->data) != 0)
            same++;
        counts[same] = (same < distinct ? counts[same] : 0) + self->values[order[i]].count;
        if (same == distinct)
            distinct++;
        else
            mcp_buf_clear(key);
    }
    mcp_write_member_object(out, "value_distribution");
    for (size_t i = 0; i < distinct; i++) {
        mcp_write_member_int(out, keys[i].data, counts[i]);
        mcp_buf_clear(&keys[i]);
    }
    if (self->others > 0)
        mcp_write_member_int(out, "(other)", self->others);
    mcp_write_end(out);
}

void casparian_tally_write(const casparian_tally *self, mcp_json_writer *out,
                           const casparian_redaction *redaction, bool is_sensitive,
                           casparian_tally_limits limits)
{
    size_t samples = limits.samples < self->value_count ? limits.samples : self->value_count;
    write_samples(self, out, redaction, is_sensitive, samples);
    write_distribution(self, out, redaction, is_sensitive, limits.distribution);
    if (redaction->settings->patterns && samples > 0)
        write_patterns(self, out, samples);
    if (self->seen_sentinels == 0)
        return;
    mcp_write_member_array(out, "sentinels");
    for (int i = 0; i < SENTINELS; i++) {
        if (self->seen_sentinels >> i & 1)
            mcp_write_string(out, sentinel_texts[i]);
    }
    mcp_write_end(out);
}
