/*
 * json.c - events as JSON, written at the end of their own tree.
 */
#include <string.h>

#include "parsers/evtx_native/json.h"

struct writer {
    char *bytes;
    size_t length;
    size_t room;
    bool is_full;
};

static void put(struct writer *out, const char *bytes, size_t length)
{
    if (out->is_full || length > out->room - out->length) {
        out->is_full = true;
        return;
    }
    memcpy(out->bytes + out->length, bytes, length);
    out->length += length;
}

static void put_text(struct writer *out, struct casparian_text text)
{
    static const char digits[] = "0123456789abcdef";

    put(out, "\"", 1);
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.bytes[i];
        char escape[6] = { '\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15] };
        if (byte == '"' || byte == '\\')
            put(out, "\\", 1);
        if (byte < 0x20)
            put(out, escape, sizeof escape);
        else
            put(out, text.bytes + i, 1);
    }
    put(out, "\"", 1);
}

static bool has_same_name(const struct casparian_node *one, const struct casparian_node *other)
{
    return one->name.length == other->name.length &&
           memcmp(one->name.bytes, other->name.bytes, one->name.length) == 0;
}

static void put_node(struct writer *out, const struct casparian_node *node);

/* A child with those of its name that follow it, if it is the first of them. */
static void put_child(struct writer *out, const struct casparian_node *first,
                      const struct casparian_node *child, const char **between)
{
    const struct casparian_node *one = first, *next = child->next;

    while (one != child && (one->is_dropped || !has_same_name(one, child)))
        one = one->next;
    if (one != child || child->is_dropped || out->is_full)
        return;
    put(out, *between, strlen(*between));
    *between = ",";
    put_text(out, child->name);
    put(out, ":", 1);
    while (next && (next->is_dropped || !has_same_name(next, child)))
        next = next->next;
    if (!next) {
        put_node(out, child);
        return;
    }
    put(out, "[", 1);
    put_node(out, child);
    for (; next && !out->is_full; next = next->next) {
        if (next->is_dropped || !has_same_name(next, child))
            continue;
        put(out, ",", 1);
        put_node(out, next);
    }
    put(out, "]", 1);
}

static void put_attributes(struct writer *out, const struct casparian_node *first)
{
    const char *between = "\"#attributes\":{";

    for (const struct casparian_node *one = first; one; one = one->next) {
        if (one->is_dropped)
            continue;
        put(out, between, strlen(between));
        between = ",";
        put_text(out, one->name);
        put(out, ":", 1);
        put_text(out, one->text);
    }
    if (*between == ',')
        put(out, "}", 1);
}

static void put_node(struct writer *out, const struct casparian_node *node)
{
    const char *between = "";

    if (!node->attributes && !node->children) {
        if (node->text.length > 0)
            put_text(out, node->text);
        else
            put(out, "null", 4);
        return;
    }
    put(out, "{", 1);
    size_t begin = out->length;
    put_attributes(out, node->attributes);
    between = out->length > begin ? "," : "";
    if (node->text.length > 0) {
        put(out, between, strlen(between));
        put(out, "\"#text\":", 8);
        put_text(out, node->text);
        between = ",";
    }
    for (const struct casparian_node *one = node->children; one; one = one->next)
        put_child(out, node->children, one, &between);
    put(out, "}", 1);
}

struct casparian_text casparian_json_of(struct casparian_tree *tree,
                                        const struct casparian_node *node)
{
    struct writer out = { tree->bytes + tree->used, 0, sizeof tree->bytes - tree->used, false };

    put_node(&out, node);
    if (out.is_full)
        return (struct casparian_text){ "", 0 };
    tree->used += out.length;
    return (struct casparian_text){ out.bytes, out.length };
}
