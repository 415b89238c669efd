/*
 * message_scan.c - a second look at a message that mcp_json_read refused.
 *
 * JavaScript sends one half of a surrogate pair as an escape when it cuts a text inside of it, and
 * a client that gets no answer with its id waits for its own time limit. So the id is found by the
 * structure alone: strings, brackets, and the names of the two upper levels. Nothing recurses, so
 * any depth is fine.
 */
#include "mcp/core/message/message_scan.h"

#include <stdint.h>
#include <string.h>

/* One of the two upper levels. */
struct level {
    bool is_object;
    bool expects_name;
    size_t name, name_length; /* the member that is being read; where in the text */
};

struct scan {
    mcp__message_scan *out;
    char *text;
    size_t length;
    size_t at;
    size_t depth;
    bool is_over;           /* the value of the message has ended */
    struct level levels[3]; /* [0]: unused */
};

static bool is_name(const struct scan *in, const struct level *level, const char *name)
{
    return level->is_object && !level->expects_name && level->name_length == strlen(name) &&
           memcmp(in->text + level->name, name, level->name_length) == 0;
}

/* Whether a person wrote the string that is being read. */
static bool is_written(const struct scan *in)
{
    static const char *const members[] = { "arguments", "argument", "inputResponses" };

    if (in->depth < 2)
        return false;
    if (is_name(in, &in->levels[1], "result"))
        return true;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (is_name(in, &in->levels[1], "params") && is_name(in, &in->levels[2], members[i]))
            return true;
    return false;
}

/* The unit of an escape \uXXXX at `at`; 0: there is none. */
static unsigned unit_at(const struct scan *in, size_t at)
{
    unsigned unit = 0;

    if (at + 6 > in->length || in->text[at] != '\\' || in->text[at + 1] != 'u')
        return 0;
    for (size_t i = at + 2; i < at + 6; i++) {
        unsigned char digit = (unsigned char)in->text[i];
        unsigned char letter = digit | 0x20;
        if (digit >= '0' && digit <= '9')
            unit = unit * 16 + (digit - '0');
        else if (letter >= 'a' && letter <= 'f')
            unit = unit * 16 + (letter - 'a' + 10u);
        else
            return 0;
    }
    return unit;
}

/* At a backslash in a string. */
static void scan_escape(struct scan *in)
{
    unsigned unit = unit_at(in, in->at);
    unsigned next = unit >= 0xD800 && unit <= 0xDBFF ? unit_at(in, in->at + 6) : 0;

    if (next >= 0xDC00 && next <= 0xDFFF) {
        in->at += 12;
        return;
    }
    if (unit >= 0xD800 && unit <= 0xDFFF && is_written(in)) {
        memcpy(in->text + in->at + 2, "FFFD", 4);
        in->out->repaired++;
    }
    in->at += unit != 0 ? 6 : 2;
}

static void scan_string(struct scan *in)
{
    size_t begin = ++in->at;

    while (in->at < in->length && in->text[in->at] != '"') {
        if (in->text[in->at] == '\\')
            scan_escape(in);
        else
            in->at++;
    }
    struct level *level = in->depth == 1 || in->depth == 2 ? &in->levels[in->depth] : NULL;
    if (level && level->is_object && level->expects_name) {
        level->name = begin;
        level->name_length = in->at < in->length ? in->at - begin : 0;
    }
    in->at++;
}

/* The first byte of a value at the top, which may be that of the id. */
static void scan_scalar(struct scan *in)
{
    size_t begin = in->at;
    bool is_id = in->depth == 1 && is_name(in, &in->levels[1], "id");

    if (in->text[in->at] == '"')
        scan_string(in);
    else
        while (++in->at < in->length && !strchr(" \t\r\n,:]}[{\"", in->text[in->at])) {
        }
    if (is_id && !in->out->id && in->at <= in->length) {
        in->out->id = in->text + begin;
        in->out->id_length = in->at - begin;
    }
}

static void scan_byte(struct scan *in)
{
    char byte = in->text[in->at];
    struct level *level = in->depth == 1 || in->depth == 2 ? &in->levels[in->depth] : NULL;

    if (byte == '\0' || !strchr(" \t\r\n,:]}[{", byte)) {
        scan_scalar(in);
        return;
    }
    in->at++;
    if (byte == '{' || byte == '[') {
        in->depth++;
        if (in->depth <= 2)
            in->levels[in->depth] = (struct level){ byte == '{', byte == '{', 0, 0 };
    } else if (byte == '}' || byte == ']') {
        in->depth--;
        in->is_over = in->depth == 0;
    } else if (level && (byte == ':' || byte == ',')) {
        level->expects_name = byte == ',' && level->is_object;
    }
}

void mcp__message_scan_text(mcp__message_scan *out, char *text, size_t length)
{
    struct scan in = { .out = out, .text = text, .length = length };

    *out = (mcp__message_scan){ .id = NULL };
    while (in.at < length && text[in.at] != '{' && strchr(" \t\r\n", text[in.at]))
        in.at++;
    if (in.at == length || text[in.at] != '{')
        return;
    while (in.at < length && !in.is_over)
        scan_byte(&in);
    if (!in.is_over)
        out->id = NULL; /* a message that has no end has no id */
}
