/**
 * canvas.h - an image in memory: lines, areas and labels in a few colours.
 *
 * Everything outside the canvas is cut off, so no coordinate is invalid.
 */
#ifndef COBRE_CHART_CANVAS_H
#define COBRE_CHART_CANVAS_H

#include "mcp/arena.h"
#include "mcp/buf.h"

enum { CANVAS_WIDTH = 960, CANVAS_HEIGHT = 540, CANVAS_GLYPH = 12, CANVAS_LINE = 14 };

typedef enum canvas_colour {
    CANVAS_WHITE,
    CANVAS_GRID,
    CANVAS_INK,
    CANVAS_FIRST,
    CANVAS_SECOND,
    CANVAS_BAND
} canvas_colour;

typedef struct canvas canvas;

/** A white canvas of the arena's; NULL when memory is out. */
canvas *canvas_new(mcp_arena *arena);

/** Fill a rectangle, corners included. */
void canvas_fill(canvas *self, int x0, int y0, int x1, int y1, canvas_colour colour);

/** Draw a line of two pixels' width. */
void canvas_line(canvas *self, int x0, int y0, int x1, int y1, canvas_colour colour);

/** Write a text of lower-case letters, digits and . , - + % ( ); its upper left corner is given.
 *  Each glyph is CANVAS_GLYPH wide and CANVAS_LINE high. */
void canvas_text(canvas *self, int x, int y, const char *text, canvas_colour colour);

/** Append the image as a PNG file. */
mcp_status canvas_png(const canvas *self, mcp_buf *out);

#endif
