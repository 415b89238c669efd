/*
 * frames.c - frames of the plugin protocol.
 */
#include "plugins/run/frames.h"

#include <string.h>

#include "plugins/outcome.h"

enum {
    SIGNAL_SIZE = 4,
    READ_SIZE = 64 << 10,
    HEAD_MAX = 9, /* signal, level, length */
};

/* What follows a signal. */
enum form { INDEX, JSON, LEVEL };

struct signal {
    uint32_t number;
    casparian_frame_kind kind;
    enum form form;
    const char *name;
};

static const struct signal signals[] = {
#define SIGNAL(name, number, form) { number, CASPARIAN_FRAME_##name, form, #name },
    CASPARIAN_FRAME_MAP(SIGNAL)
#undef SIGNAL
};

enum { SIGNALS = sizeof signals / sizeof *signals };

void casparian_frames_init(casparian_frames *self)
{
    *self = (casparian_frames){ .begin = 0 };
    mcp_buf_init(&self->held, (size_t)CASPARIAN_PAYLOAD_MAX + HEAD_MAX + READ_SIZE);
}

void casparian_frames_clear(casparian_frames *self)
{
    mcp_buf_clear(&self->held);
    casparian_frames_init(self);
}

/* Moves the rest to the front: what was taken makes room. */
static void compact(casparian_frames *self)
{
    size_t rest = casparian_frames_rest(self);
    if (self->begin == 0)
        return;
    memmove(self->held.data, self->held.data + self->begin, rest);
    self->held.length = rest;
    self->begin = 0;
}

char *casparian_frames_space(casparian_frames *self, size_t *size)
{
    compact(self);
    size_t room = READ_SIZE;
    if (self->wanted > self->held.length + room)
        room = self->wanted - self->held.length;
    char *at = mcp_buf_reserve(&self->held, room);
    *size = at ? room : 0;
    return at;
}

void casparian_frames_filled(casparian_frames *self, size_t length)
{
    mcp_buf_commit(&self->held, length);
}

size_t casparian_frames_rest(const casparian_frames *self)
{
    return self->held.length - self->begin;
}

const char *casparian_frame_text(casparian_frame_kind kind)
{
    for (size_t i = 0; i < SIGNALS; i++) {
        if (signals[i].kind == kind)
            return signals[i].name;
    }
    return kind == CASPARIAN_FRAME_DATA ? "a payload" : "END";
}

static uint32_t number_at(const char *bytes)
{
    const uint8_t *at = (const uint8_t *)bytes;
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static const struct signal *signal_of(uint32_t number)
{
    for (size_t i = 0; i < SIGNALS; i++) {
        if (signals[i].number == number)
            return &signals[i];
    }
    return NULL;
}

/* Takes a frame of so many bytes before its text, once all is there. */
static mcp_status take(casparian_frame *out, casparian_frames *self, size_t head, size_t length)
{
    self->wanted = head + length;
    if (casparian_frames_rest(self) < self->wanted) {
        *out = (casparian_frame){ .kind = CASPARIAN_FRAME_NONE };
        return MCP_OK;
    }
    out->bytes = self->held.data + self->begin + head;
    out->length = length;
    self->begin += self->wanted;
    self->wanted = 0;
    return MCP_OK;
}

static mcp_status take_signal(casparian_frame *out, casparian_frames *self,
                              const struct signal *signal, mcp_error *err)
{
    size_t at = self->begin + SIGNAL_SIZE;
    size_t head = SIGNAL_SIZE + (signal->form == LEVEL) + SIGNAL_SIZE;
    uint32_t most = signal->form == LEVEL ? CASPARIAN_LOG_LINE_MAX : CASPARIAN_FRAME_JSON_MAX;

    out->kind = signal->kind;
    if (casparian_frames_rest(self) < head)
        return take(out, self, head, 0);
    if (signal->form == INDEX) {
        out->number = number_at(self->held.data + at);
        return take(out, self, head, 0);
    }
    if (signal->form == LEVEL)
        out->number = (uint8_t)self->held.data[at++];
    if (out->number > CASPARIAN_LOG_ERROR)
        return mcp_error_set(err, MCP_E_PARSE, "a LOG frame of level %u; there are 0 to %d",
                             (unsigned)out->number, CASPARIAN_LOG_ERROR);
    uint32_t length = number_at(self->held.data + at);
    if (length > most)
        return mcp_error_set(err, MCP_E_LIMIT, "a %s frame of %u bytes; at most %u are allowed",
                             signal->name, (unsigned)length, (unsigned)most);
    return take(out, self, head, length);
}

mcp_status casparian_frames_next(casparian_frame *out, casparian_frames *self, mcp_error *err)
{
    *out = (casparian_frame){ .kind = CASPARIAN_FRAME_NONE };
    if (casparian_frames_rest(self) < SIGNAL_SIZE)
        return MCP_OK;
    uint32_t number = number_at(self->held.data + self->begin);
    const struct signal *signal = signal_of(number);
    if (signal)
        return take_signal(out, self, signal, err);
    if (number > CASPARIAN_PAYLOAD_MAX)
        return mcp_error_set(err, MCP_E_LIMIT,
                             "0x%08X is no signal, and as a length above the %u bytes of a payload",
                             (unsigned)number, (unsigned)CASPARIAN_PAYLOAD_MAX);
    out->kind = number == 0 ? CASPARIAN_FRAME_END : CASPARIAN_FRAME_DATA;
    return take(out, self, SIGNAL_SIZE, number);
}

mcp_status casparian_frames_next_block(casparian_frame *out, casparian_frames *self, uint32_t most,
                                       mcp_error *err)
{
    *out = (casparian_frame){ .kind = CASPARIAN_FRAME_NONE };
    if (casparian_frames_rest(self) < SIGNAL_SIZE)
        return MCP_OK;
    uint32_t length = number_at(self->held.data + self->begin);
    if (length > most)
        return mcp_error_set(err, MCP_E_LIMIT, "a block of %u bytes; at most %u are allowed",
                             (unsigned)length, (unsigned)most);
    out->kind = length == 0 ? CASPARIAN_FRAME_END : CASPARIAN_FRAME_DATA;
    return take(out, self, SIGNAL_SIZE, length);
}
