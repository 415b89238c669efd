/*
 * plot.c - axes with round numbers, curves and bands.
 */
#include "chart/plot.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "chart/canvas.h"

enum { LEFT = 140, RIGHT = 930, TOP = 60, BOTTOM = 470, TICKS = 6 };

struct axis {
    double least, most; /* shown */
    int from, to;       /* pixels */
};

static const canvas_colour colours[] = { CANVAS_FIRST, CANVAS_SECOND };

/* ---- axes ------------------------------------------------------------------------------------ */

static void widen(struct axis *axis, double value)
{
    if (!isfinite(value))
        return;
    axis->least = fmin(axis->least, value);
    axis->most = fmax(axis->most, value);
}

/* Never empty, and so that a difference of its ends is a number. */
static void settle(struct axis *axis)
{
    if (!(axis->least <= axis->most)) {
        axis->least = 0;
        axis->most = 1;
    }
    axis->least = fmax(axis->least, -1e300);
    axis->most = fmin(axis->most, 1e300);
    double room = 0.04 * (axis->most - axis->least);
    if (room < 1e-9 * fmax(fabs(axis->least), fabs(axis->most)) || room <= 0)
        room = fmax(1e-3, 0.05 * fabs(axis->most));
    axis->least -= room;
    axis->most += room;
}

static int pixel_of(const struct axis *axis, double value)
{
    double share = (value - axis->least) / (axis->most - axis->least);

    share = fmin(fmax(share, -1), 2);
    return axis->from + (int)lround(share * (axis->to - axis->from));
}

/* 1, 2 or 5 times a power of ten, so that about TICKS steps fit. */
static double step_of(const struct axis *axis)
{
    double raw = (axis->most - axis->least) / TICKS;
    double power = pow(10, floor(log10(raw)));
    double share = raw / power;

    return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

static void draw_ticks(canvas *image, const struct axis *axis, bool is_x)
{
    double step = step_of(axis);
    char label[32];

    if (is_x && step < 1)
        step = 1;
    double first = ceil(axis->least / step) * step;
    for (int i = 0; i < 4 * TICKS && first + i * step <= axis->most; i++) {
        double value = first + i * step;
        int at = pixel_of(axis, fabs(value) < step / 1e6 ? 0 : value);
        snprintf(label, sizeof label, "%.5g", fabs(value) < step / 1e6 ? 0 : value);
        int width = (int)strlen(label) * CANVAS_GLYPH;
        if (is_x) {
            canvas_fill(image, at, TOP, at, BOTTOM, CANVAS_GRID);
            canvas_text(image, at - width / 2, BOTTOM + 8, label, CANVAS_INK);
        } else {
            canvas_fill(image, LEFT, at, RIGHT, at, CANVAS_GRID);
            canvas_text(image, LEFT - 8 - width, at - CANVAS_LINE / 2, label, CANVAS_INK);
        }
    }
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* A column of pixels for each x, interpolated between two points. */
static void draw_band(canvas *image, const plot *self, const plot_curve *curve,
                      const struct axis *x, const struct axis *y)
{
    for (size_t i = 0; i + 1 < self->count; i++) {
        int from = pixel_of(x, self->x[i]);
        int to = pixel_of(x, self->x[i + 1]);
        if (!isfinite(curve->low[i] + curve->low[i + 1]) ||
            !isfinite(curve->high[i] + curve->high[i + 1]))
            continue;
        for (int at = from; at <= to; at++) {
            double share = to > from ? (double)(at - from) / (to - from) : 0;
            double low = curve->low[i] + share * (curve->low[i + 1] - curve->low[i]);
            double high = curve->high[i] + share * (curve->high[i + 1] - curve->high[i]);
            canvas_fill(image, at, pixel_of(y, high), at, pixel_of(y, low), CANVAS_BAND);
        }
    }
}

static void draw_curve(canvas *image, const plot *self, const plot_curve *curve,
                       canvas_colour colour, const struct axis *x, const struct axis *y)
{
    for (size_t i = 0; i < self->count; i++) {
        size_t next = i + 1 < self->count ? i + 1 : i;
        if (isfinite(curve->y[i]) && isfinite(curve->y[next]))
            canvas_line(image, pixel_of(x, self->x[i]), pixel_of(y, curve->y[i]),
                        pixel_of(x, self->x[next]), pixel_of(y, curve->y[next]), colour);
    }
}

static void draw_names(canvas *image, const plot *self)
{
    int at = LEFT;

    canvas_text(image, LEFT, 10, self->title, CANVAS_INK);
    for (size_t i = 0; i < self->curve_count; i++) {
        canvas_fill(image, at, 38, at + 20, 42, colours[i]);
        canvas_text(image, at + 28, 33, self->curves[i].name, colours[i]);
        at += 28 + ((int)strlen(self->curves[i].name) + 3) * CANVAS_GLYPH;
    }
    canvas_text(image, (LEFT + RIGHT) / 2 - (int)strlen(self->x_name) * CANVAS_GLYPH / 2,
                CANVAS_HEIGHT - 24, self->x_name, CANVAS_INK);
}

static void find_range(struct axis *y, const plot *self)
{
    for (size_t i = 0; i < self->curve_count; i++) {
        const plot_curve *curve = &self->curves[i];
        for (size_t k = 0; k < self->count; k++) {
            widen(y, curve->y[k]);
            if (curve->low) {
                widen(y, curve->low[k]);
                widen(y, curve->high[k]);
            }
        }
    }
}

mcp_status plot_png(mcp_buf *out, const plot *self, mcp_arena *arena)
{
    struct axis x = { INFINITY, -INFINITY, LEFT, RIGHT };
    struct axis y = { INFINITY, -INFINITY, BOTTOM, TOP };
    canvas *image = canvas_new(arena);

    if (!image)
        return MCP_E_NOMEM;
    for (size_t i = 0; i < self->count; i++)
        widen(&x, self->x[i]);
    find_range(&y, self);
    settle(&x);
    settle(&y);
    for (size_t i = 0; i < self->curve_count; i++)
        if (self->curves[i].low)
            draw_band(image, self, &self->curves[i], &x, &y);
    draw_ticks(image, &x, true);
    draw_ticks(image, &y, false);
    for (size_t i = 0; i < self->curve_count; i++)
        draw_curve(image, self, &self->curves[i], colours[i], &x, &y);
    canvas_fill(image, LEFT, BOTTOM, RIGHT, BOTTOM + 1, CANVAS_INK);
    canvas_fill(image, LEFT - 1, TOP, LEFT, BOTTOM + 1, CANVAS_INK);
    draw_names(image, self);
    return canvas_png(image, out);
}
