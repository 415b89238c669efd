/**
 * png.h - an image of palette colours as a PNG file.
 *
 * Source: the specification of PNG (ISO/IEC 15948); RFC 1950 and RFC 1951 for the compressed data.
 */
#ifndef COBRE_CHART_PNG_H
#define COBRE_CHART_PNG_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"

/**
 * Append an image.
 *
 * @param pixels  [y * width + x], indices into the palette
 * @param palette 0xRRGGBB, 1 to 256 colours
 * @return the status of `out`
 */
mcp_status png_write(mcp_buf *out, const uint8_t *pixels, size_t width, size_t height,
                     const uint32_t *palette, size_t colours);

#endif
