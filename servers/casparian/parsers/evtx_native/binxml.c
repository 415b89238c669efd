/*
 * binxml.c - tokens of binary XML: elements, attributes, values, and templates with their values.
 *
 * A template is a fragment that lies somewhere in the chunk; an instance of it gives values, to
 * which the fragment refers by index. A value may be a fragment itself. So fragments are read by
 * recursion, each with the values of its instance. Texts of names and values go to the tree.
 */
#include <string.h>

#include "parsers/evtx_native/binxml.h"
#include "parsers/evtx_native/value.h"

enum {
    END = 0x00,
    OPEN_ELEMENT = 0x01,
    CLOSE_START = 0x02,
    CLOSE_EMPTY = 0x03,
    END_ELEMENT = 0x04,
    VALUE = 0x05,
    ATTRIBUTE = 0x06,
    CDATA = 0x07,
    CHAR_REF = 0x08,
    ENTITY_REF = 0x09,
    PI_TARGET = 0x0A,
    PI_DATA = 0x0B,
    TEMPLATE = 0x0C,
    NORMAL_VALUE = 0x0D,
    OPTIONAL_VALUE = 0x0E,
    FRAGMENT = 0x0F,
    MORE = 0x40
};

enum { NAME_HEAD = 8, DEFINITION_HEAD = 24, DESCRIPTOR = 4 };

static const char cut[] = "the binary XML is cut";
static const char full[] = "the event is too large";
static const char deep[] = "the event is nested deeper than 64";

/* Where a fragment is read: the values of its template's instance, if it is one. */
struct reader {
    struct casparian_tree *tree;
    const uint8_t *chunk;
    size_t size;
    size_t at;
    size_t end;
    size_t values;      /* where their descriptors are */
    size_t value_count; /* 0: there is no instance */
    size_t value_bytes; /* where the first value is */
    size_t values_end;
    int depth;
};

static const char *read_content(struct reader *in, struct casparian_node *parent);

void *casparian_tree_take(struct casparian_tree *tree, size_t size)
{
    size_t begin = (tree->used + 15) & ~(size_t)15;

    if (size > sizeof tree->bytes || begin > sizeof tree->bytes - size)
        return NULL;
    tree->used = begin + size;
    return tree->bytes + begin;
}

const struct casparian_node *casparian_node_find(const struct casparian_node *list,
                                                 const char *name)
{
    size_t length = strlen(name);

    while (list && (list->name.length != length || memcmp(list->name.bytes, name, length) != 0))
        list = list->next;
    return list;
}

static uint32_t u16_at(const struct reader *in, size_t at)
{
    return (uint32_t)(in->chunk[at] | in->chunk[at + 1] << 8);
}

static uint32_t u32_at(const struct reader *in, size_t at)
{
    return u16_at(in, at) | u16_at(in, at + 2) << 16;
}

/* Use that many bytes, if they are there. */
static bool take(struct reader *in, size_t count, size_t *begin)
{
    if (in->end - in->at < count)
        return false;
    *begin = in->at;
    in->at += count;
    return true;
}

/* The name at an offset of the chunk; one that is inline is used. */
static const char *read_name(struct reader *in, uint32_t offset, struct casparian_text *name)
{
    size_t inlined = 0;

    if (offset > in->size || in->size - offset < NAME_HEAD)
        return "a name is outside of the chunk";
    size_t bytes = (size_t)u16_at(in, offset + 6) * 2;
    if (in->size - offset - NAME_HEAD < bytes)
        return "a name is outside of the chunk";
    if (offset == in->at && !take(in, NAME_HEAD + bytes + 2, &inlined))
        return cut;
    return casparian_evtx_utf16(in->tree, name, in->chunk + offset + NAME_HEAD, bytes) ? NULL
                                                                                       : full;
}

static struct casparian_node *new_node(struct reader *in, struct casparian_text name)
{
    struct casparian_node *node = casparian_tree_take(in->tree, sizeof *node);

    if (node)
        *node = (struct casparian_node){ .name = name };
    return node;
}

static const char *add_text(struct reader *in, struct casparian_node *node,
                            struct casparian_text text)
{
    if (node->text.length == 0) {
        node->text = text;
        return NULL;
    }
    char *joined = casparian_tree_take(in->tree, node->text.length + text.length);
    if (!joined)
        return full;
    memcpy(joined, node->text.bytes, node->text.length);
    memcpy(joined + node->text.length, text.bytes, text.length);
    node->text = (struct casparian_text){ joined, node->text.length + text.length };
    return NULL;
}

static const char *add_value(struct reader *in, struct casparian_node *node, unsigned type,
                             size_t begin, size_t length)
{
    struct casparian_text text;

    if (type == CASPARIAN_EVTX_BINARY) {
        node->binary = in->chunk + begin;
        node->binary_length = length;
    }
    if (!casparian_evtx_text(in->tree, &text, type, in->chunk + begin, length))
        return full;
    return add_text(in, node, text);
}

/* A value of the instance, by its index. */
static const char *substitute(struct reader *in, struct casparian_node *node, bool is_optional)
{
    size_t head = 0, begin = in->value_bytes;

    if (!take(in, 3, &head))
        return cut;
    size_t index = u16_at(in, head);
    if (index >= in->value_count)
        return "a value of a template is missing";
    in->tree->steps += index / 8;
    for (size_t i = 0; i < index; i++)
        begin += u16_at(in, in->values + i * DESCRIPTOR);
    size_t length = u16_at(in, in->values + index * DESCRIPTOR);
    unsigned type = in->chunk[in->values + index * DESCRIPTOR + 2];
    if (begin > in->values_end || in->values_end - begin < length)
        return "a value of a template is outside of its record";
    if (type == CASPARIAN_EVTX_NULL)
        node->is_dropped = node->is_dropped || is_optional;
    if (type != CASPARIAN_EVTX_FRAGMENT)
        return add_value(in, node, type, begin, length);
    struct reader fragment = *in;
    fragment.at = begin;
    fragment.end = begin + length;
    fragment.value_count = 0;
    return read_content(&fragment, node);
}

/* An instance: 10 bytes, the definition if it is inline, the values. */
static const char *read_template(struct reader *in, struct casparian_node *parent)
{
    struct reader body = *in;
    size_t head = 0, skipped = 0;

    if (!take(in, 9, &head))
        return cut;
    size_t definition = u32_at(in, head + 5);
    if (definition > in->size || in->size - definition < DEFINITION_HEAD)
        return "a template is outside of the chunk";
    size_t bytes = u32_at(in, definition + 20);
    if (in->size - definition - DEFINITION_HEAD < bytes)
        return "a template is outside of the chunk";
    if (definition == in->at && !take(in, DEFINITION_HEAD + bytes, &skipped))
        return cut;
    if (!take(in, 4, &head))
        return cut;
    body.value_count = u32_at(in, head);
    if (body.value_count > (in->end - in->at) / DESCRIPTOR)
        return cut;
    body.values = in->at;
    body.value_bytes = in->at + body.value_count * DESCRIPTOR;
    body.values_end = in->end;
    size_t total = 0;
    in->tree->steps += body.value_count / 8;
    for (size_t i = 0; i < body.value_count; i++)
        total += u16_at(in, body.values + i * DESCRIPTOR);
    if (!take(in, body.value_count * DESCRIPTOR, &skipped) || !take(in, total, &skipped))
        return cut;
    body.at = definition + DEFINITION_HEAD;
    body.end = body.at + bytes;
    return read_content(&body, parent);
}

static void append(struct casparian_node **first, struct casparian_node **last,
                   struct casparian_node *node)
{
    if (*last)
        (*last)->next = node;
    else
        *first = node;
    *last = node;
}

/* A token that is text, for an element or an attribute. `*is_text` false: it is another token. */
static const char *read_text(struct reader *in, unsigned token, struct casparian_node *node,
                             bool *is_text)
{
    struct casparian_text text;
    size_t head = 0, begin = 0;
    char *byte = NULL;
    const char *reason = NULL;

    *is_text = true;
    switch (token & ~(unsigned)MORE) {
    case VALUE:
        if (!take(in, 3, &head) || !take(in, (size_t)u16_at(in, head + 1) * 2, &begin))
            return cut;
        return add_value(in, node, in->chunk[head], begin, in->at - begin);
    case CDATA:
        if (!take(in, 2, &head) || !take(in, (size_t)u16_at(in, head) * 2, &begin))
            return cut;
        return add_value(in, node, 1, begin, in->at - begin);
    case CHAR_REF:
        return take(in, 2, &head) ? add_value(in, node, 1, head, 2) : cut;
    case ENTITY_REF:
        if (!take(in, 4, &head))
            return cut;
        reason = read_name(in, u32_at(in, head), &text);
        byte = reason ? NULL : casparian_tree_take(in->tree, 1);
        if (!byte)
            return reason ? reason : full;
        *byte = text.length > 0 && text.bytes[0] == 'l'   ? '<'
                : text.length > 0 && text.bytes[0] == 'g' ? '>'
                : text.length > 0 && text.bytes[0] == 'q' ? '"'
                : text.length > 1 && text.bytes[1] == 'p' ? '\''
                                                          : '&';
        return add_text(in, node, (struct casparian_text){ byte, 1 });
    case NORMAL_VALUE:
    case OPTIONAL_VALUE:
        return substitute(in, node, token == OPTIONAL_VALUE);
    default:
        *is_text = false;
        return NULL;
    }
}

/* The attributes up to `end`, whose place in the fragment is known. */
static const char *read_attributes(struct reader *in, size_t end, struct casparian_node *element)
{
    struct casparian_node *attribute = NULL;
    size_t head = 0;
    bool is_text = false;

    while (in->at < end) {
        unsigned token = in->chunk[in->at++];
        const char *reason = NULL;
        if ((token & ~(unsigned)MORE) == ATTRIBUTE) {
            struct casparian_text name;
            if (!take(in, 4, &head))
                return cut;
            reason = read_name(in, u32_at(in, head), &name);
            attribute = reason ? NULL : new_node(in, name);
            if (!attribute)
                return reason ? reason : full;
            append(&element->attributes, &element->last_attribute, attribute);
            continue;
        }
        if (!attribute)
            return "a value has no attribute";
        reason = read_text(in, token, attribute, &is_text);
        if (reason || !is_text)
            return reason ? reason : "an attribute has an unknown token";
    }
    return NULL;
}

/* An element from behind its token to behind its end. */
static const char *read_element(struct reader *in, unsigned token, struct casparian_node *parent)
{
    struct casparian_text name;
    size_t head = 0;

    if (!take(in, 10, &head))
        return cut;
    const char *reason = read_name(in, u32_at(in, head + 6), &name);
    struct casparian_node *element = reason ? NULL : new_node(in, name);
    if (!element)
        return reason ? reason : full;
    append(&parent->children, &parent->last_child, element);
    if (token & MORE) {
        if (!take(in, 4, &head))
            return cut;
        size_t bytes = u32_at(in, head);
        if (in->end - in->at < bytes)
            return cut;
        reason = read_attributes(in, in->at + bytes, element);
        if (reason)
            return reason;
    }
    if (!take(in, 1, &head))
        return cut;
    if (in->chunk[head] == CLOSE_EMPTY)
        return NULL;
    return in->chunk[head] == CLOSE_START ? read_content(in, element)
                                          : "an element has no end of its start";
}

/* A token that is neither text nor the end. */
static const char *read_markup(struct reader *in, unsigned token, struct casparian_node *parent)
{
    size_t head = 0, begin = 0;
    struct casparian_text name;

    switch (token & ~(unsigned)MORE) {
    case OPEN_ELEMENT:
        return read_element(in, token, parent);
    case TEMPLATE:
        return read_template(in, parent);
    case FRAGMENT:
        return take(in, 3, &head) ? NULL : cut;
    case PI_TARGET:
        return take(in, 4, &head) ? read_name(in, u32_at(in, head), &name) : cut;
    case PI_DATA:
        return take(in, 2, &head) && take(in, (size_t)u16_at(in, head) * 2, &begin) ? NULL : cut;
    default:
        return "the binary XML has an unknown token";
    }
}

/* Tokens up to the end of the fragment or of the element `parent`. */
static const char *read_content(struct reader *in, struct casparian_node *parent)
{
    const char *reason = in->depth == CASPARIAN_BINXML_DEPTH_MAX ? deep : NULL;
    bool is_text = false;

    in->depth++;
    while (!reason && in->at < in->end) {
        unsigned token = in->chunk[in->at++];
        if (++in->tree->steps > CASPARIAN_BINXML_STEPS_MAX)
            return full;
        if (token == END || token == END_ELEMENT)
            break;
        reason = read_text(in, token, parent, &is_text);
        if (!reason && !is_text)
            reason = read_markup(in, token, parent);
    }
    in->depth--;
    return reason;
}

const char *casparian_binxml_read(struct casparian_node *root, struct casparian_tree *tree,
                                  const uint8_t *chunk, size_t size, size_t begin, size_t end)
{
    struct reader in = { .tree = tree, .chunk = chunk, .size = size, .at = begin, .end = end };

    tree->used = tree->steps = 0;
    *root = (struct casparian_node){ .name = { "", 0 } };
    return read_content(&in, root);
}
