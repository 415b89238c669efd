/**
 * readers.h - the readers of a case's JSON files, one a file, and what they share.
 *
 * A reader checks the shape of its file (layer 2) and fills its part of the input. parse.c has the
 * table of them by file.
 */
#ifndef COBRE_CASE_READ_READERS_H
#define COBRE_CASE_READ_READERS_H

#include "case/input.h"

/** The type of all of them. */
typedef void cobre_read(cobre_reader *reader, const mcp_json *root, cobre_input *input);

cobre_read cobre_read_config, cobre_read_penalties, cobre_read_stages, cobre_read_initial,
    cobre_read_buses, cobre_read_lines, cobre_read_hydros, cobre_read_thermals, cobre_read_sources,
    cobre_read_stations, cobre_read_contracts, cobre_read_models, cobre_read_load_factors,
    cobre_read_source_factors, cobre_read_exchange_factors, cobre_read_correlation,
    cobre_read_constraints;

/** The member table of a registry of system/; NULL for the others. */
const cobre_field *cobre_registry_fields(cobre_registry registry);

/** Tailrace, losses, efficiency and evaporation of a hydro whose plain members are read. */
void cobre_read_head(cobre_reader *reader, cobre_raw_hydro *hydro);

/** Deficit segments, global or of a bus. */
void cobre_read_segments(cobre_reader *reader, const mcp_json *array, const char *path,
                         cobre_deficit_segment **segments, size_t *count);

#endif
