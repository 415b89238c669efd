/*
 * fuzz_notes.c - a file of checkpoints: each that is found is a part of the file, begins with its
 * origin and its size, and ends with a signature's line.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct file {
    const uint8_t *data;
    size_t size;
};

static void must(bool claim)
{
    if (!claim)
        abort();
}

static mcp_status on_note(const portarium_stored_note *note, void *data, mcp_error *err)
{
    const struct file *file = data;
    size_t origin = strlen(note->origin);

    (void)err;
    must(note->length <= PORTARIUM_NOTE_MAX && note->length > origin + 1);
    must(memmem(file->data, file->size, note->note, note->length));
    must(memcmp(note->note, note->origin, origin) == 0 && note->note[origin] == '\n');
    must(strtoull(note->note + origin + 1, NULL, 10) == note->size);
    must(note->note[note->length - 1] == '\n' && !memchr(note->note, '\0', note->length));
    return MCP_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct file file = { data, size };
    FILE *stream = size > 0 ? fmemopen((void *)data, size, "r") : NULL;

    if (!stream)
        return 0;
    must(portarium_notes_read(stream, on_note, &file, NULL) == MCP_OK);
    fclose(stream);
    return 0;
}
