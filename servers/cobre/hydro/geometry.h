/*
 * geometry.h - a reservoir's table of volume, height and area, read between its rows.
 *
 * `rows` holds `count` >= 1 rows with strictly ascending volumes. Values are linear between two
 * rows and constant outside the table. Slopes are those of the segment that holds the volume: at a
 * row the segment to its right, outside the table the segment at that end; 0 for a single row.
 * Method page, 2.3 and 2.4.
 */
#ifndef HYDRO_GEOMETRY_H
#define HYDRO_GEOMETRY_H

#include <stddef.h>

#include "case/case.h"

/* Height in m and its slope in m per hm3. */
double geometry_height(const cobre_geometry *rows, size_t count, double volume);
double geometry_height_slope(const cobre_geometry *rows, size_t count, double volume);

/* Area in km2 and its slope in km2 per hm3. */
double geometry_area(const cobre_geometry *rows, size_t count, double volume);
double geometry_area_slope(const cobre_geometry *rows, size_t count, double volume);

#endif
