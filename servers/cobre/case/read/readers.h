/**
 * readers.h - the readers of a case's JSON files, one a file, and what they share.
 *
 * A reader checks the shape of its file (layer 2) and fills its part of the input. parse.c has the
 * table of them by file.
 */
#ifndef COBRE_CASE_READ_READERS_H
#define COBRE_CASE_READ_READERS_H

#include "case/input.h"
#include "case/shape.h"

/** The type of all of them. */
typedef void cobre_read(cobre_reader *reader, const mcp_json *root, cobre_input *input);

cobre_read cobre_read_config, cobre_read_penalties, cobre_read_stages, cobre_read_initial,
    cobre_read_buses, cobre_read_lines, cobre_read_hydros, cobre_read_thermals, cobre_read_sources,
    cobre_read_stations, cobre_read_contracts, cobre_read_models, cobre_read_load_factors,
    cobre_read_source_factors, cobre_read_exchange_factors, cobre_read_correlation,
    cobre_read_constraints;

/** The shapes of the files. */
extern const cobre_shape cobre_shape_config, cobre_shape_penalties, cobre_shape_stages,
    cobre_shape_initial, cobre_shape_buses, cobre_shape_lines, cobre_shape_hydros,
    cobre_shape_thermals, cobre_shape_sources, cobre_shape_stations, cobre_shape_contracts,
    cobre_shape_models, cobre_shape_load_factors, cobre_shape_source_factors,
    cobre_shape_exchange_factors, cobre_shape_correlation, cobre_shape_constraints;

/** Shapes of parts that several files or readers share. */
extern const cobre_shape cobre_shape_segments, cobre_shape_tailrace, cobre_shape_losses,
    cobre_shape_efficiency, cobre_shape_evaporation;

/** The member table of a registry of system/; NULL for the others. */
const cobre_field *cobre_registry_fields(cobre_registry registry);

/** Tailrace, losses, efficiency and evaporation of a hydro whose plain members are read. */
void cobre_read_head(cobre_reader *reader, cobre_raw_hydro *hydro);

/** Deficit segments, global or of a bus. */
void cobre_read_segments(cobre_reader *reader, const mcp_json *array, const char *path,
                         cobre_deficit_segment **segments, size_t *count);

#endif
