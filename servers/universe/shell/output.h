/*
 * output.h - where a command writes what it was asked for: standard output, or a file that is there
 * whole or not at all.
 */
#ifndef UNIVERSE_OUTPUT_H
#define UNIVERSE_OUTPUT_H

#include <stdint.h>
#include <stdio.h>

#include "cli/progress.h"
#include "model/model.h"

/** An output; begin with universe_output_open, end with universe_output_close. */
typedef struct universe_output {
    FILE *file;
    const char *path;       /* NULL: standard output */
    char *part;             /* what the file is called until it is whole */
    int64_t bytes;          /* written */
    cli_progress *progress; /* a step every few MB; may be NULL */
    uint64_t reported;
} universe_output;

/**
 * @param path NULL or "-": `standard`
 * @return MCP_OK; MCP_E_IO, MCP_E_NOT_FOUND, MCP_E_DENIED: the file cannot be made; MCP_E_NOMEM
 */
mcp_status universe_output_open(universe_output *output, const char *path, FILE *standard,
                                mcp_error *err);

/** A sink; `data` is the output. MCP_E_STOPPED after a signal. */
universe_sink universe_output_write;

/** Make the file durable and give it its name where `st` is MCP_OK, else remove it. @return `st`,
 *  or why not */
mcp_status universe_output_close(universe_output *output, mcp_status st, mcp_error *err);

#endif
