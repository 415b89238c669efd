/*
 * reason.c - why a plugin failed with a file.
 *
 * The words of a plugin are those of its entrypoint: the text of a module, or the bytes of a
 * program, where its constants are. They are sorted once, because a job may have many failures.
 */
#include "jobs/plugins/reason.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard/paths.h"
#include "mcp/arena.h"

#define SOURCE_MAX ((size_t)16 << 20)
#define WORDS_MAX ((size_t)1 << 20)
#define WORD_MIN 2 /* shorter ones are everywhere in a program */
#define LINE_DIGITS_MAX 7

typedef struct word {
    const char *text;
    size_t length;
} word;

struct casparian_words {
    mcp_arena *arena;
    const char *entrypoint;
    bool is_read;
    word *items; /* sorted */
    size_t count;
};

/* ---- words ----------------------------------------------------------------------------------- */

/* Words of the messages of Python and of C libraries, each with a blank behind it. */
static const char common_words[] =
    "Errno I No a and argument arguments as at attribute base be byte bytes can cannot char "
    "character codec column convert could data decode delimiter denied dict directory "
    "division does element empty end enough expected expecting fields file float for format "
    "found from gave got has in index input int integer integers invalid is isoformat it "
    "json key keys line list literal many match missing month must name no not object of on "
    "or ordinal out plugin position property range reason remains required row sequence "
    "start str string subscriptable such syntax the time to too tuple type unconverted "
    "unexpected unpack unsupported utf value values with year zero ";

static int compare(const void *a, const void *b)
{
    const word *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

static bool is_common(const char *text, size_t length)
{
    for (const char *at = common_words; *at; at = strchr(at, ' ') + 1)
        if (strcspn(at, " ") == length && memcmp(at, text, length) == 0)
            return true;
    return false;
}

/* Cut the text into words. @param items NULL: only count */
static size_t cut(word *items, const char *text, size_t length)
{
    size_t count = 0;
    for (size_t at = 0; at < length && count < WORDS_MAX;) {
        size_t here = casparian_word_length(text + at, length - at);
        if (here >= WORD_MIN && items)
            items[count] = (word){ text + at, here };
        count += here >= WORD_MIN;
        at += here > 0 ? here : 1;
    }
    return count;
}

static void read_words(casparian_words *self)
{
    const char *text = NULL, *name = strrchr(self->entrypoint, '/');
    size_t length = 0;
    self->is_read = true;
    char *folder = name ? mcp_arena_strndup(self->arena, self->entrypoint,
                                            (size_t)(name - self->entrypoint) + 1)
                        : NULL;
    int fd = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    if (guard_read_file(&text, &length, fd, name + 1, SOURCE_MAX, self->arena, NULL) == MCP_OK) {
        size_t count = cut(NULL, text, length);
        self->items = mcp_arena_array(self->arena, count + 1, sizeof *self->items);
        self->count = self->items ? cut(self->items, text, length) : 0;
    }
    if (self->count > 0)
        qsort(self->items, self->count, sizeof *self->items, compare);
    close(fd);
}

casparian_words *casparian_words_new(const casparian_plugin *plugin)
{
    mcp_arena *arena = mcp_arena_new(4 * SOURCE_MAX);
    casparian_words *self = arena ? mcp_arena_alloc(arena, sizeof *self) : NULL;
    if (!self) {
        mcp_arena_free(arena);
        return NULL;
    }
    *self = (casparian_words){ .arena = arena, .entrypoint = plugin->entrypoint };
    return self;
}

void casparian_words_free(casparian_words *self)
{
    if (self)
        mcp_arena_free(self->arena);
}

bool casparian_words_has(void *data, const char *text, size_t length)
{
    casparian_words *self = data;
    const word wanted = { text, length };
    if (is_common(text, length))
        return true;
    if (!self->is_read)
        read_words(self);
    return self->count > 0 &&
           bsearch(&wanted, self->items, self->count, sizeof *self->items, compare) != NULL;
}

/* ---- reasons --------------------------------------------------------------------------------- */

/* Whether the text of a failure is the plugin's, not the host's. */
static bool is_said(const casparian_plugin *plugin, casparian_failure failure)
{
    return failure == CASPARIAN_FAILURE_PARSE_ERROR || failure == CASPARIAN_FAILURE_MEMORY_LIMIT ||
           (failure == CASPARIAN_FAILURE_IMPORT_ERROR && plugin->runtime == CASPARIAN_PYTHON);
}

/* The name of a class of exceptions that a message of Python begins with. @return its length */
static size_t type_length(const char *text)
{
    static const char *const ends[] = { "Error", "Exception", "Interrupt", "Iteration", "Exit" };
    size_t length = casparian_word_length(text, strlen(text));
    if (text[length] != ':' && text[length] != '\0')
        return 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (length >= end && memcmp(text + length - end, ends[i], end) == 0)
            return length;
    }
    return 0;
}

/* Append the place that a line of a traceback names. @return false: it names none in the plugin */
static bool read_place(mcp_buf *out, const char *line, const char *dir)
{
    static const char before[] = "  File \"", after[] = "\", line ";
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    size_t dir_length = strlen(dir);
    if (strncmp(line, before, sizeof before - 1) != 0)
        return false;
    line += sizeof before - 1;
    if (strncmp(line, dir, dir_length) != 0 || line[dir_length] != '/')
        return false;
    line += dir_length + 1;
    size_t name = strspn(line, allowed);
    if (strncmp(line + name, after, sizeof after - 1) != 0)
        return false;
    const char *number = line + name + sizeof after - 1;
    size_t digits = strspn(number, "0123456789");
    if (digits == 0 || digits > LINE_DIGITS_MAX)
        return false;
    mcp_buf_reset(out);
    mcp_buf_printf(out, " (%.*s:%.*s)", (int)name, line, (int)digits, number);
    return true;
}

/* Append the last place of a traceback in the plugin's own code. */
static void append_place(mcp_buf *out, const char *traceback, const char *dir)
{
    mcp_buf place;
    mcp_buf_init(&place, 8192);
    for (const char *line = traceback; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        read_place(&place, line, dir);
    }
    if (place.status == MCP_OK && place.length > 0)
        mcp_buf_append(out, place.data, place.length);
    mcp_buf_clear(&place);
}

/* A module whose helper is next to it runs everywhere but here. */
static void append_hint(mcp_buf *out, const casparian_plugin *plugin,
                        const casparian_guest_outcome *outcome)
{
    static const char missing[] = "ModuleNotFoundError";
    if (plugin->is_module && strncmp(outcome->error, missing, sizeof missing - 1) == 0)
        mcp_buf_puts(out, "; a module runs alone: with modules of its own it is a folder with "
                          "casparian.toml");
}

mcp_status casparian_reason_append(mcp_buf *out, const casparian_redaction *redaction,
                                   const casparian_plugin *plugin,
                                   const casparian_guest_outcome *outcome)
{
    const char *text = outcome->error;
    if (!is_said(plugin, outcome->failure))
        return casparian_redact_message(out, redaction, text, strlen(text));
    size_t type = plugin->runtime == CASPARIAN_PYTHON ? type_length(text) : 0;
    mcp_buf_append(out, text, type);
    casparian_redact_said(out, redaction, text + type, strlen(text + type));
    append_place(out, outcome->traceback, plugin->dir);
    append_hint(out, plugin, outcome);
    return out->status;
}
