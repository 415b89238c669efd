/*
 * transcript.c - reads transcripts and holds values against their patterns.
 *
 * A pattern is turned into JSON before it is read: `*`, ~"words" and $name become strings that
 * begin with a control character each. No server of ours sends these, so that a pattern is an
 * ordinary value and matching is one walk over two values.
 */
#include "transcript.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/buf.h"

enum { ANY = 1, HOLDS = 2, REMEMBER = 3 }; /* first bytes of such strings */

enum { FILE_MAX = 1 << 20, STEPS_MAX = 1000 };

/* ---- reading --------------------------------------------------------------------------------- */

static char *read_file(mcp_arena *arena, const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = mcp_arena_alloc(arena, FILE_MAX + 1);
    size_t length;

    if (!file || !text) {
        fail_msg("%s: %s", path, strerror(errno));
        return NULL;
    }
    length = fread(text, 1, FILE_MAX + 1, file);
    fclose(file);
    if (length > FILE_MAX)
        fail_msg("%s: longer than %d bytes", path, FILE_MAX);
    text[length] = '\0';
    return text;
}

static const transcript_word *word_at(const char *text, const transcript_word *words)
{
    for (; words->word; words++) {
        if (strncmp(text, words->word, strlen(words->word)) == 0)
            return words;
    }
    return NULL;
}

/* `text` with each word replaced, in the arena. */
static const char *replaced(mcp_arena *arena, const char *text, const transcript_word *words)
{
    mcp_buf buf;
    const char *out;

    mcp_buf_init(&buf, FILE_MAX);
    while (*text) {
        const transcript_word *word = word_at(text, words);
        if (word)
            mcp_buf_puts(&buf, word->text);
        else
            mcp_buf_putc(&buf, *text);
        text += word ? strlen(word->word) : 1;
    }
    assert_int_equal(buf.status, MCP_OK);
    out = mcp_arena_strndup(arena, buf.data ? buf.data : "", buf.length);
    mcp_buf_clear(&buf);
    assert_non_null(out);
    return out;
}

static size_t name_length(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789");
}

/* What stands outside strings of a pattern, as JSON; returns its last byte. */
static const char *mark_text(mcp_buf *buf, const char *text, bool *holds)
{
    if (*text == '*') {
        mcp_buf_puts(buf, "\"\\u0001\"");
    } else if (*text == '~') {
        *holds = true;
    } else if (*text == '$') {
        size_t length = name_length(text + 1);
        mcp_buf_printf(buf, "\"\\u0003%.*s\"", (int)length, text + 1);
        return text + length;
    } else {
        mcp_buf_putc(buf, *text);
    }
    return text;
}

/* A pattern as JSON text. */
static void pattern_text(mcp_buf *buf, const char *text)
{
    bool is_string = false;
    bool holds = false;

    for (; *text; text++) {
        if (*text == '"') {
            is_string = !is_string;
            mcp_buf_puts(buf, holds ? "\"\\u0002" : "\"");
            holds = false;
        } else if (is_string && *text == '\\' && text[1]) {
            mcp_buf_append(buf, text++, 2);
        } else if (is_string) {
            mcp_buf_putc(buf, *text);
        } else {
            text = mark_text(buf, text, &holds);
        }
    }
}

static const mcp_json *read_pattern(mcp_arena *arena, const char *text, const char *path, int line)
{
    const mcp_json *pattern = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf buf;
    mcp_status st;

    mcp_buf_init(&buf, 8 * FILE_MAX);
    pattern_text(&buf, text);
    st = buf.status == MCP_OK ? mcp_json_read(&pattern, arena, buf.data, buf.length, &err)
                              : buf.status;
    mcp_buf_clear(&buf);
    if (st != MCP_OK)
        fail_msg("%s:%d: not a pattern: %s", path, line, err.message);
    return pattern;
}

/* The bytes that "%XX" stands for, in the arena. */
static const char *unescaped(mcp_arena *arena, const char *text, size_t *length, const char *path,
                             int line)
{
    char *out = mcp_arena_alloc(arena, strlen(text) + 1);
    size_t used = 0;

    assert_non_null(out);
    while (*text) {
        unsigned byte = (unsigned char)*text++;
        if (byte == '%') {
            if (sscanf(text, "%2x", &byte) != 1)
                fail_msg("%s:%d: '%%' needs two digits", path, line);
            text += 2;
        }
        out[used++] = (char)byte;
    }
    *length = used;
    return out;
}

static bool begins(const char **line, const char *mark)
{
    size_t length = strlen(mark);

    if (strncmp(*line, mark, length) != 0)
        return false;
    *line += length;
    return true;
}

static bool read_mark(transcript_kind *kind, const char **text)
{
    static const struct {
        const char *mark;
        transcript_kind kind;
    } marks[] = {
        { "! ", TRANSCRIPT_OPTION },  { "> ", TRANSCRIPT_SEND },    { ">% ", TRANSCRIPT_SEND },
        { "< ", TRANSCRIPT_EXPECT },  { "<+ ", TRANSCRIPT_REPEAT }, { "-> ", TRANSCRIPT_ASK },
        { "<- ", TRANSCRIPT_ANSWER }, { ">= ", TRANSCRIPT_DO },     { "<= ", TRANSCRIPT_SEE },
        { "@ ", TRANSCRIPT_AT },
    };

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (begins(text, marks[i].mark)) {
            *kind = marks[i].kind;
            return true;
        }
    }
    return false;
}

static void add_step(transcript *out, mcp_arena *arena, const char *text, int line,
                     const transcript_word *words)
{
    transcript_step *step = &out->steps[out->step_count];
    bool is_escaped = strncmp(text, ">% ", 3) == 0;

    if (text[0] == '#' || text[0] == '\0')
        return;
    if (!read_mark(&step->kind, &text))
        fail_msg("%s:%d: begins with none of '# ! > >%% < <+ -> <- >= <= @'", out->path, line);
    if (++out->step_count > STEPS_MAX)
        fail_msg("%s:%d: more than %d steps", out->path, line, STEPS_MAX);
    step->line = line;
    step->text = replaced(arena, text, words);
    step->length = strlen(step->text);
    if (is_escaped)
        step->text = unescaped(arena, step->text, &step->length, out->path, line);
    if (step->kind == TRANSCRIPT_EXPECT || step->kind == TRANSCRIPT_REPEAT)
        step->pattern = read_pattern(arena, step->text, out->path, line);
}

void transcript_read(transcript *out, mcp_arena *arena, const char *path,
                     const transcript_word *words)
{
    char *text = read_file(arena, path);
    int line = 0;

    out->path = mcp_arena_strdup(arena, path);
    out->steps = mcp_arena_array(arena, STEPS_MAX + 1, sizeof *out->steps);
    out->step_count = 0;
    assert_true(out->path && out->steps);
    while (text) {
        char *newline = strchr(text, '\n');
        if (newline)
            *newline = '\0';
        add_step(out, arena, text, ++line, words);
        text = newline ? newline + 1 : NULL;
    }
}

/* ---- matching -------------------------------------------------------------------------------- */

struct walk {
    transcript_memory *memory;
    char *place; /* where the walk is */
    size_t size;
};

static bool fits(const mcp_json *pattern, const mcp_json *value, struct walk at);

/* The place below `at`, written behind it. */
static struct walk below(struct walk at, const char *name)
{
    int used = snprintf(at.place, at.size, "/%s", name);
    size_t step = used < 0 || (size_t)used >= at.size ? 0 : (size_t)used;

    return (struct walk){ at.memory, at.place + step, at.size - step };
}

static bool fits_array(const mcp_json *pattern, const mcp_json *value, struct walk at)
{
    size_t count = mcp_json_count(pattern);

    if (!mcp_json_is_array(value) || mcp_json_count(value) != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        if (!fits(mcp_json_item(pattern, i), mcp_json_item(value, i), below(at, number)))
            return false;
    }
    return true;
}

static bool fits_object(const mcp_json *pattern, const mcp_json *value, struct walk at)
{
    bool may_have_more = mcp_json_get(pattern, "*") != NULL;
    size_t wanted = mcp_json_count(pattern) - (may_have_more ? 1 : 0);

    if (!mcp_json_is_object(value))
        return false;
    for (size_t i = 0; i < mcp_json_count(pattern); i++) {
        const char *name = mcp_json_name(pattern, i, NULL);
        if (strcmp(name, "*") != 0 &&
            !fits(mcp_json_item(pattern, i), mcp_json_get(value, name), below(at, name)))
            return false;
    }
    at.place[0] = '\0';
    return may_have_more || mcp_json_count(value) == wanted;
}

static void remember(transcript_memory *memory, const char *name, const mcp_json *value)
{
    size_t i = 0;

    while (i < memory->count && strcmp(memory->entries[i].name, name) != 0)
        i++;
    assert_true(i < sizeof memory->entries / sizeof memory->entries[0]);
    memory->entries[i].name = name;
    memory->entries[i].value = value;
    if (i == memory->count)
        memory->count++;
}

static bool fits_string(const mcp_json *pattern, const mcp_json *value, struct walk at)
{
    size_t length = 0;
    const char *text = mcp_json_string(pattern, NULL);
    const char *whole = mcp_json_string(value, &length);

    if (text[0] == REMEMBER)
        remember(at.memory, text + 1, value);
    if (text[0] == HOLDS)
        return whole && memmem(whole, length, text + 1, strlen(text + 1));
    return text[0] == ANY || text[0] == REMEMBER || mcp_json_equal(pattern, value);
}

static bool fits(const mcp_json *pattern, const mcp_json *value, struct walk at)
{
    at.place[0] = '\0';
    if (!value)
        return false;
    switch (mcp_json_type_of(pattern)) {
    case MCP_JSON_STRING:
        return fits_string(pattern, value, at);
    case MCP_JSON_ARRAY:
        return fits_array(pattern, value, at);
    case MCP_JSON_OBJECT:
        return fits_object(pattern, value, at);
    default:
        return mcp_json_type_of(pattern) == mcp_json_type_of(value) &&
               mcp_json_equal(pattern, value);
    }
}

/* What a name stands for in text: up to the byte that the pattern has behind it. */
static size_t remember_text(const char *name, size_t length, const char *text,
                            transcript_memory *memory, mcp_arena *arena)
{
    size_t taken = name[length] ? strcspn(text, (char[]){ name[length], '\0' }) : strlen(text);
    mcp_buf quoted;
    mcp_json_writer writer;
    const mcp_json *value = NULL;

    mcp_buf_init(&quoted, FILE_MAX);
    mcp_json_writer_init(&writer, &quoted);
    mcp_write_string(&writer, mcp_arena_strndup(arena, text, taken));
    assert_int_equal(mcp_json_read(&value, arena, quoted.data, quoted.length, NULL), MCP_OK);
    mcp_buf_clear(&quoted);
    remember(memory, mcp_arena_strndup(arena, name, length), value);
    return taken;
}

bool transcript_text_fits(const char *pattern, const char *text, transcript_memory *memory,
                          mcp_arena *arena)
{
    size_t name = *pattern == '$' ? name_length(pattern + 1) : 0;

    if (*pattern == '\0')
        return *text == '\0';
    if (name > 0) {
        text += remember_text(pattern + 1, name, text, memory, arena);
        return transcript_text_fits(pattern + 1 + name, text, memory, arena);
    }
    if (*pattern != '*')
        return *pattern == *text && transcript_text_fits(pattern + 1, text + 1, memory, arena);
    for (;; text++) {
        if (transcript_text_fits(pattern + 1, text, memory, arena))
            return true;
        if (*text == '\0')
            return false;
    }
}

bool transcript_fits(const mcp_json *pattern, const mcp_json *value, transcript_memory *memory,
                     char *place, size_t size)
{
    return fits(pattern, value, (struct walk){ memory, place, size });
}

/* ---- sending --------------------------------------------------------------------------------- */

static const mcp_json *recalled(const transcript_memory *memory, const char *name, size_t length)
{
    for (size_t i = 0; i < memory->count; i++) {
        const char *known = memory->entries[i].name;
        if (strlen(known) == length && memcmp(known, name, length) == 0)
            return memory->entries[i].value;
    }
    return NULL;
}

static void put_value(mcp_buf *buf, const mcp_json *value, bool is_text)
{
    const char *text = is_text ? mcp_json_string(value, NULL) : NULL;
    mcp_json_writer writer;

    if (text) {
        mcp_buf_puts(buf, text);
        return;
    }
    mcp_json_writer_init(&writer, buf);
    mcp_write_value(&writer, value);
}

static const char *filled(const transcript_step *step, const transcript_memory *memory,
                          mcp_arena *arena, bool is_text, size_t *length)
{
    const char *line;
    mcp_buf buf;

    mcp_buf_init(&buf, FILE_MAX);
    for (size_t i = 0; i < step->length; i++) {
        size_t name = step->text[i] == '$' ? name_length(step->text + i + 1) : 0;
        const mcp_json *value = name > 0 ? recalled(memory, step->text + i + 1, name) : NULL;
        if (value) {
            put_value(&buf, value, is_text);
            i += name;
        } else {
            mcp_buf_putc(&buf, step->text[i]);
        }
    }
    assert_int_equal(buf.status, MCP_OK);
    line = mcp_arena_strndup(arena, buf.data ? buf.data : "", buf.length);
    *length = buf.length;
    mcp_buf_clear(&buf);
    assert_non_null(line);
    return line;
}

const char *transcript_line(const transcript_step *step, const transcript_memory *memory,
                            mcp_arena *arena, size_t *length)
{
    return filled(step, memory, arena, false, length);
}

const char *transcript_text(const transcript_step *step, const transcript_memory *memory,
                            mcp_arena *arena)
{
    size_t length = 0;

    return filled(step, memory, arena, true, &length);
}
