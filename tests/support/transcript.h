/*
 * transcript.h - conversations as text files: what is sent, and what must come back.
 *
 *     # a comment
 *     ! revision 2025-03-26          an option, for the player
 *     > {"jsonrpc":"2.0",...}        a line to send, unchanged
 *     >% {"method":"%FF"}            the same with bytes written as %XX
 *     < {"id":1,"result":*}          the next message that must come
 *     <+ {"method":"x","params":*}   one or more such messages, as many as come in a row
 *
 * Over HTTP (tests/wire/run_http.c) there is more around the messages:
 *
 *     -> POST /mcp                   a request begins; further lines are its fields, `>` is its body
 *     <- 200                         an answer must come; further lines are fields it must have
 *     >= ping hello                  something to send that is no message
 *     <= event: endpoint             something else that must come
 *     @ NAME                         what follows happens on the connection of that name
 *
 * In what must come, `*` stands for any value, a member "*" for any further members, and ~"words"
 * for a string that holds those words. `$name` stands for any value and remembers it; where a line
 * is sent later, `$name` becomes that value. The order of members does not matter; all else does,
 * also whether a number is written as an integer. Where text must come instead of JSON, `*` stands
 * for any run of bytes and `$name` for the text up to the byte that follows it in the pattern.
 * `{word}` becomes what the caller says it stands for.
 */
#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/json.h"

typedef enum transcript_kind {
    TRANSCRIPT_OPTION, /* "! ..." */
    TRANSCRIPT_SEND,   /* "> ..." */
    TRANSCRIPT_EXPECT, /* "< ..." */
    TRANSCRIPT_REPEAT, /* "<+ ..." */
    TRANSCRIPT_ASK,    /* "-> ..." */
    TRANSCRIPT_ANSWER, /* "<- ..." */
    TRANSCRIPT_DO,     /* ">= ..." */
    TRANSCRIPT_SEE,    /* "<= ..." */
    TRANSCRIPT_AT      /* "@ ..." */
} transcript_kind;

typedef struct transcript_step {
    transcript_kind kind;
    int line;
    const char *text; /* the text after the mark */
    size_t length;
    const mcp_json *pattern; /* of what must come */
} transcript_step;

typedef struct transcript {
    const char *path;
    transcript_step *steps;
    size_t step_count;
} transcript;

/** What "{word}" stands for. A table of them ends with a row whose word is NULL. */
typedef struct transcript_word {
    const char *word; /* with its braces */
    const char *text;
} transcript_word;

/** Read a transcript into the arena. A fault in it ends the test, naming the line. */
void transcript_read(transcript *out, mcp_arena *arena, const char *path,
                     const transcript_word *words);

/** What `$name`s stand for. Zeroed memory is an empty one. */
typedef struct transcript_memory {
    struct {
        const char *name;
        const mcp_json *value;
    } entries[16];
    size_t count;
} transcript_memory;

/**
 * Whether a value is what a pattern wants; if not, `place` is a JSON Pointer to where it differs.
 *
 * @param memory filled from the value, whose arena must live as long
 */
bool transcript_fits(const mcp_json *pattern, const mcp_json *value, transcript_memory *memory,
                     char *place, size_t size);

/** The same for text; what is remembered is in the arena. */
bool transcript_text_fits(const char *pattern, const char *text, transcript_memory *memory,
                          mcp_arena *arena);

/** The line to send, in the arena, with what is remembered put in, as JSON. */
const char *transcript_line(const transcript_step *step, const transcript_memory *memory,
                            mcp_arena *arena, size_t *length);

/** The same where no JSON is sent: strings are put in without quotes. */
const char *transcript_text(const transcript_step *step, const transcript_memory *memory,
                            mcp_arena *arena);

#endif
