/*
 * parser.h - what the shipped native parsers have in common: a core that is fed with bytes, and the
 * program around it.
 *
 * The core is given the bytes of the file from the first to the last and says how many it has used.
 * What it has not used is given again, with more behind it. So it needs no memory for a record that
 * is cut, and it runs on a block of memory in tests.
 */
#ifndef CASPARIAN_PARSERS_INPUT_PARSER_H
#define CASPARIAN_PARSERS_INPUT_PARSER_H

#include "casparian_plugin.h"

/** The file that a parser reads. */
typedef struct casparian_source {
    const char *path;
    int64_t size;
    int64_t mtime_us; /* microseconds since 1970 */
} casparian_source;

typedef struct casparian_parser {
    const char *id;
    const char *version;
    size_t record_max; /* given more bytes than this, feed uses some */

    /* Reads its settings from the environment and opens its outputs. NULL: it has failed, and said
     * why by cf_error. `source` is valid until close. */
    void *(*open)(cf_sink *sink, const casparian_source *source);

    /* Returns how many bytes it has used: all of them when `is_last`. */
    size_t (*feed)(void *state, const char *bytes, size_t length, bool is_last);

    /* All was fed. Frees the state; the exit code. */
    int (*close)(void *state);
} casparian_parser;

/** The main of a parser: reads the file that argv names, packed by gzip if its name ends in .gz. */
int casparian_parser_main(const casparian_parser *parser, int argc, char **argv);

/** Run a parser on bytes in memory, given in pieces of `piece` bytes (0: at once). Returns the exit
 *  code. */
int casparian_parser_run(const casparian_parser *parser, cf_sink *sink,
                         const casparian_source *source, const char *bytes, size_t length,
                         size_t piece);

#endif
