/*
 * notes.c - finds the checkpoints of a file: lines of text, an empty line, lines of signatures.
 */
#include "evidence/notes.h"

#include <stdlib.h>
#include <string.h>

static const char dash[] = "\xe2\x80\x94 ";

/* What was read of a checkpoint so far. */
typedef struct piece {
    char text[PORTARIUM_NOTE_MAX];
    size_t length;
    bool has_text_ended, is_signed;
    portarium_on_note *on_note;
    void *data;
} piece;

static void begin(piece *self)
{
    self->length = 0;
    self->has_text_ended = self->is_signed = false;
}

/* A piece that grows too long is none. */
static void add(piece *self, const char *line, size_t length)
{
    if (length > sizeof self->text - self->length) {
        begin(self);
        return;
    }
    memcpy(self->text + self->length, line, length);
    self->length += length;
}

static bool read_origin(portarium_stored_note *out, const char *text, size_t length)
{
    if (length == 0 || length > PORTARIUM_ORIGIN_MAX)
        return false;
    memcpy(out->origin, text, length);
    out->origin[length] = '\0';
    return true;
}

static bool read_size(portarium_stored_note *out, const char *text, size_t length)
{
    char digits[24], *end = NULL;
    if (length == 0 || length >= sizeof digits || text[0] < '0' || text[0] > '9')
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    out->size = strtoull(digits, &end, 10);
    return *end == '\0';
}

/* The first line is the origin, the second one the size. */
static bool read_lines(portarium_stored_note *out, const piece *self)
{
    const char *end = memchr(self->text, '\n', self->length);
    const char *second = end ? end + 1 : NULL;
    const char *last = second ? memchr(second, '\n', self->length - (size_t)(second - self->text))
                              : NULL;
    *out = (portarium_stored_note){ .note = self->text, .length = self->length };
    return last && read_origin(out, self->text, (size_t)(end - self->text)) &&
           read_size(out, second, (size_t)(last - second));
}

static mcp_status end(piece *self, mcp_error *err)
{
    portarium_stored_note note;
    bool is_whole = self->is_signed && read_lines(&note, self);
    mcp_status st = is_whole ? self->on_note(&note, self->data, err) : MCP_OK;
    begin(self);
    return st;
}

static mcp_status take(piece *self, const char *line, size_t length, mcp_error *err)
{
    bool is_signature = length > sizeof dash - 1 && memcmp(line, dash, sizeof dash - 1) == 0;
    mcp_status st = MCP_OK;
    if (self->has_text_ended && is_signature) {
        self->is_signed = true;
        add(self, line, length);
        return MCP_OK;
    }
    if (self->has_text_ended)
        st = end(self, err);
    self->has_text_ended = length == 1 && self->length > 0;
    if (length > 1 || self->length > 0)
        add(self, line, length);
    return st;
}

mcp_status portarium_notes_read(FILE *file, portarium_on_note *on_note, void *data, mcp_error *err)
{
    piece self = { .on_note = on_note, .data = data };
    char line[PORTARIUM_NOTE_MAX];
    mcp_status st = MCP_OK;
    while (st == MCP_OK && fgets(line, sizeof line, file)) {
        size_t length = strlen(line);
        if (length > 0 && line[length - 1] == '\n')
            st = take(&self, line, length, err);
        else
            begin(&self); /* longer than a line may be, the last one, or with a NUL */
    }
    if (st == MCP_OK && ferror(file))
        st = mcp_error_set(err, MCP_E_IO, "the checkpoints cannot be read");
    return st == MCP_OK ? end(&self, err) : st;
}
