/*
 * geometry.c - linear interpolation in a table of volumes.
 */
#include "hydro/geometry.h"

/* The first row of the segment that holds the volume; count >= 2. */
static size_t segment_of(const cobre_geometry *rows, size_t count, double volume)
{
    size_t i = 0;

    while (i + 2 < count && volume >= rows[i + 1].volume_hm3)
        i++;
    return i;
}

static double slope_of(const cobre_geometry *row, double low, double high)
{
    return (high - low) / (row[1].volume_hm3 - row[0].volume_hm3);
}

double geometry_height_slope(const cobre_geometry *rows, size_t count, double volume)
{
    if (count < 2)
        return 0.0;
    const cobre_geometry *row = rows + segment_of(rows, count, volume);
    return slope_of(row, row[0].height_m, row[1].height_m);
}

double geometry_area_slope(const cobre_geometry *rows, size_t count, double volume)
{
    if (count < 2)
        return 0.0;
    const cobre_geometry *row = rows + segment_of(rows, count, volume);
    return slope_of(row, row[0].area_km2, row[1].area_km2);
}

double geometry_height(const cobre_geometry *rows, size_t count, double volume)
{
    if (count < 2 || volume <= rows[0].volume_hm3)
        return rows[0].height_m;
    if (volume >= rows[count - 1].volume_hm3)
        return rows[count - 1].height_m;
    const cobre_geometry *row = rows + segment_of(rows, count, volume);
    return row->height_m +
           slope_of(row, row[0].height_m, row[1].height_m) * (volume - row->volume_hm3);
}

double geometry_area(const cobre_geometry *rows, size_t count, double volume)
{
    if (count < 2 || volume <= rows[0].volume_hm3)
        return rows[0].area_km2;
    if (volume >= rows[count - 1].volume_hm3)
        return rows[count - 1].area_km2;
    const cobre_geometry *row = rows + segment_of(rows, count, volume);
    return row->area_km2 +
           slope_of(row, row[0].area_km2, row[1].area_km2) * (volume - row->volume_hm3);
}
