/*
 * glob.c - patterns as programs of a machine that is in many states at once (Thompson, 1968).
 *
 * Backtracking takes exponential time for patterns like "*a*a*a*b". Here each character is shown to
 * all states that are reached, once each, so the time is at most length of the path times length of
 * the program.
 *
 * A hidden component is the one rule that looks at two things: at the beginning of a component, a
 * dot is only taken by a dot that stands at the beginning of a component of the pattern.
 */
#include "files/glob.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"

#define NODES_MAX (6 * CASPARIAN_GLOB_MAX + 16)
#define BRACES_MAX 16 /* nested */

typedef enum node_kind {
    NODE_CHAR,  /* one character */
    NODE_ANY,   /* one character but '/' */
    NODE_CLASS, /* one of a class */
    NODE_STAR,  /* any number of characters but '/' */
    NODE_SPLIT, /* go on at both */
    NODE_JUMP,
    NODE_END
} node_kind;

struct node {
    node_kind kind;
    bool begins;         /* NODE_CHAR: a dot that begins a component */
    uint32_t character;  /* folded */
    uint16_t one, other; /* NODE_SPLIT, NODE_JUMP: nodes. NODE_CLASS: its text in `pattern` */
};

struct casparian_glob {
    char *pattern; /* normalised */
    size_t count;
    struct node nodes[];
};

/* ---- characters ------------------------------------------------------------------------------ */

/* The next character and its length; a byte that is no UTF-8 is one, above all of Unicode. */
static uint32_t next_character(const char *text, size_t *length)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t count = at[0] < 0x80   ? 1
                   : at[0] < 0xC2 ? 0
                   : at[0] < 0xE0 ? 2
                   : at[0] < 0xF0 ? 3
                   : at[0] < 0xF5 ? 4
                                  : 0;
    uint32_t character = count <= 1 ? at[0] : at[0] & (0x7FU >> count);
    for (size_t i = 1; i < count; i++) {
        if ((at[i] & 0xC0) != 0x80)
            count = 0;
        else
            character = (character << 6) | (at[i] & 0x3F);
    }
    *length = count == 0 ? 1 : count;
    return count == 0 ? 0x200000U + at[0] : character;
}

/* Without case: ASCII, Latin-1, Greek and Cyrillic. */
static uint32_t fold(uint32_t character)
{
    bool is_plain = (character >= 'A' && character <= 'Z') ||
                    (character >= 0xC0 && character <= 0xDE && character != 0xD7) ||
                    (character >= 0x391 && character <= 0x3A9 && character != 0x3A2) ||
                    (character >= 0x410 && character <= 0x42F);
    if (is_plain)
        return character + 32;
    return character >= 0x400 && character <= 0x40F ? character + 80 : character;
}

/* ---- compiling ------------------------------------------------------------------------------- */

struct compiler {
    casparian_glob *glob;
    const char *at; /* in its pattern */
    mcp_error *err;
    mcp_status st;
};

static uint16_t add(struct compiler *self, node_kind kind)
{
    casparian_glob *glob = self->glob;
    if (glob->count == NODES_MAX) {
        if (self->st == MCP_OK)
            self->st = mcp_error_set(self->err, MCP_E_PARAMS, "the pattern is too long");
        return NODES_MAX - 1;
    }
    glob->nodes[glob->count] = (struct node){ .kind = kind };
    return (uint16_t)glob->count++;
}

static void refuse(struct compiler *self, const char *why)
{
    if (self->st == MCP_OK)
        self->st = mcp_error_set(self->err, MCP_E_PARAMS, "the pattern '%.100s' %s",
                                 self->glob->pattern, why);
}

static void add_character(struct compiler *self, bool begins)
{
    size_t length = 0;
    uint32_t character = next_character(self->at, &length);
    struct node *last = &self->glob->nodes[add(self, NODE_CHAR)];
    last->character = fold(character);
    last->begins = begins && character == '.';
    self->at += length;
}

/* "[...]": the node has where its text begins and ends. */
static void add_class(struct compiler *self)
{
    const char *start = ++self->at;
    if (*self->at == '!' || *self->at == '^')
        self->at++;
    if (*self->at == ']')
        self->at++;
    while (*self->at && *self->at != ']')
        self->at++;
    if (!*self->at) {
        refuse(self, "has a '[' without ']'");
        return;
    }
    struct node *last = &self->glob->nodes[add(self, NODE_CLASS)];
    last->one = (uint16_t)(start - self->glob->pattern);
    last->other = (uint16_t)(self->at - self->glob->pattern);
    self->at++;
}

/* "**" as a component, and what may follow it: no component, or one with a slash and again. */
static void add_components(struct compiler *self)
{
    casparian_glob *glob = self->glob;
    self->at += 2;
    if (*self->at == '/')
        self->at++;
    uint16_t split = add(self, NODE_SPLIT);
    glob->nodes[split].one = add(self, NODE_ANY);
    add(self, NODE_STAR);
    glob->nodes[add(self, NODE_CHAR)].character = '/';
    glob->nodes[add(self, NODE_JUMP)].one = split;
    glob->nodes[split].other = (uint16_t)glob->count;
    if (self->at[-1] != '/') { /* the last component */
        add(self, NODE_ANY);
        add(self, NODE_STAR);
    }
}

static void add_sequence(struct compiler *self, bool begins, int depth);

/* "{a,b}": each alternative but the last begins with a split to the next one. */
static void add_alternatives(struct compiler *self, bool begins, int depth)
{
    casparian_glob *glob = self->glob;
    uint16_t ends[CASPARIAN_GLOB_MAX];
    size_t end_count = 0;
    if (depth == BRACES_MAX) {
        refuse(self, "has too many '{' in one another");
        return;
    }
    do {
        self->at++; /* '{' or ',' */
        uint16_t split = add(self, NODE_SPLIT);
        glob->nodes[split].one = (uint16_t)glob->count;
        add_sequence(self, begins, depth + 1);
        if (end_count < CASPARIAN_GLOB_MAX)
            ends[end_count++] = add(self, NODE_JUMP);
        glob->nodes[split].other = (uint16_t)glob->count;
        if (*self->at == '}') /* the last one has no other */
            glob->nodes[split].other = glob->nodes[split].one;
    } while (self->st == MCP_OK && *self->at == ',');
    if (*self->at != '}') {
        refuse(self, "has a '{' without '}'");
        return;
    }
    self->at++;
    for (size_t i = 0; i < end_count; i++)
        glob->nodes[ends[i]].one = (uint16_t)glob->count;
}

static bool is_components(const char *at, bool begins, int depth)
{
    bool ends = at[0] && at[1] &&
                (at[2] == '/' || at[2] == '\0' || (depth > 0 && (at[2] == ',' || at[2] == '}')));
    return begins && at[0] == '*' && at[1] == '*' && ends;
}

/* Up to the end, or within braces up to ',' or '}'. */
static void add_sequence(struct compiler *self, bool begins, int depth)
{
    while (self->st == MCP_OK && *self->at) {
        char character = *self->at;
        bool is_slash = character == '/';
        if (depth > 0 && (character == ',' || character == '}'))
            return;
        if (is_components(self->at, begins, depth)) {
            add_components(self);
            begins = self->at[-1] == '/';
            continue;
        }
        if (character == '*') {
            add(self, NODE_STAR);
            self->at++;
        } else if (character == '?') {
            add(self, NODE_ANY);
            self->at++;
        } else if (character == '[') {
            add_class(self);
        } else if (character == '{') {
            add_alternatives(self, begins, depth);
        } else if (character == '}') {
            refuse(self, "has a '}' without '{'");
        } else {
            if (character == '\\' && self->at[1])
                self->at++;
            add_character(self, begins);
        }
        begins = is_slash;
    }
}

/* The pattern as it is compiled: see the header. */
static char *normalise(const char *pattern)
{
    char text[CASPARIAN_GLOB_MAX + 8] = "**/";
    pattern = pattern ? pattern : "";
    pattern += strspn(pattern, "/");
    if (!*pattern)
        pattern = "*";
    size_t head = strchr(pattern, '/') || strcmp(pattern, "**") == 0 ? 0 : strlen(text);
    memcpy(text + head, pattern, strlen(pattern) + 1);
    return mcp_alloc_strdup(text);
}

mcp_status casparian_glob_new(casparian_glob **out, const char *pattern, mcp_error *err)
{
    if (pattern && strlen(pattern) > CASPARIAN_GLOB_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "the pattern is longer than %d bytes",
                             CASPARIAN_GLOB_MAX);
    casparian_glob *glob = mcp_alloc_zeroed(1, sizeof *glob + NODES_MAX * sizeof glob->nodes[0]);
    if (glob)
        glob->pattern = normalise(pattern);
    if (!glob || !glob->pattern) {
        casparian_glob_free(glob);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a pattern");
    }
    struct compiler compiler = { .glob = glob, .at = glob->pattern, .err = err };
    add_sequence(&compiler, true, 0);
    add(&compiler, NODE_END);
    if (compiler.st != MCP_OK) {
        casparian_glob_free(glob);
        return compiler.st;
    }
    *out = glob;
    return MCP_OK;
}

void casparian_glob_free(casparian_glob *self)
{
    if (!self)
        return;
    free(self->pattern);
    free(self);
}

/* ---- matching -------------------------------------------------------------------------------- */

/* The states that are reached, each once. */
struct states {
    size_t count;
    uint16_t list[NODES_MAX];
};

struct machine {
    const casparian_glob *glob;
    struct states now, next;
    uint32_t seen[NODES_MAX]; /* the step in which a state was last added */
    uint32_t step;
};

/* Add a state, or those that it leads to without a character. Nodes lead forward, but for the jump
 * of "**", whose split was seen. */
static void reach(struct machine *self, struct states *to, uint16_t first)
{
    uint16_t open[2 * NODES_MAX]; /* each node is looked at once, and adds two at most */
    size_t count = 0;
    open[count++] = first;
    while (count > 0) {
        uint16_t state = open[--count];
        const struct node *node = &self->glob->nodes[state];
        if (self->seen[state] == self->step)
            continue;
        self->seen[state] = self->step;
        if (node->kind == NODE_JUMP) {
            open[count++] = node->one;
        } else if (node->kind == NODE_SPLIT) {
            open[count++] = node->one;
            open[count++] = node->other;
        } else {
            to->list[to->count++] = state;
            if (node->kind == NODE_STAR) /* none of its characters */
                open[count++] = (uint16_t)(state + 1);
        }
    }
}

/* Whether a character is in a range in either case. */
static bool is_within(uint32_t low, uint32_t high, uint32_t character)
{
    static const uint32_t distances[] = { 32, 80 };
    uint32_t small = fold(character);
    if ((character >= low && character <= high) || (small >= low && small <= high))
        return true;
    for (size_t i = 0; i < 2; i++) {
        uint32_t large = character - distances[i];
        if (character > distances[i] && fold(large) == character && large != character &&
            large >= low && large <= high)
            return true;
    }
    return false;
}

static bool is_in_class(const casparian_glob *glob, const struct node *node, uint32_t character)
{
    const char *at = glob->pattern + node->one, *end = glob->pattern + node->other;
    bool is_negated = *at == '!' || *at == '^', is_in = false;
    at += is_negated;
    while (at < end) {
        size_t length = 0;
        uint32_t low = next_character(at, &length), high = low;
        at += length;
        if (at + 1 < end && *at == '-') {
            high = next_character(at + 1, &length);
            at += 1 + length;
        }
        is_in = is_in || is_within(low, high, character);
    }
    return is_in != is_negated;
}

static bool takes(const casparian_glob *glob, const struct node *node, uint32_t character,
                  bool begins)
{
    bool is_hidden = begins && character == '.';
    switch (node->kind) {
    case NODE_CHAR:
        return node->character == fold(character) && (!is_hidden || node->begins);
    case NODE_ANY:
    case NODE_STAR:
        return character != '/' && !is_hidden;
    case NODE_CLASS:
        return character != '/' && !is_hidden && is_in_class(glob, node, character);
    case NODE_SPLIT:
    case NODE_JUMP:
    case NODE_END:
        break;
    }
    return false;
}

static void show(struct machine *self, uint32_t character, bool begins)
{
    self->step++;
    self->next.count = 0;
    for (size_t i = 0; i < self->now.count; i++) {
        uint16_t state = self->now.list[i];
        const struct node *node = &self->glob->nodes[state];
        if (takes(self->glob, node, character, begins))
            reach(self, &self->next, node->kind == NODE_STAR ? state : (uint16_t)(state + 1));
    }
    self->now.count = self->next.count;
    memcpy(self->now.list, self->next.list, self->next.count * sizeof self->next.list[0]);
}

/* Show a text to the machine. */
static void run(struct machine *self, const char *text, bool *begins)
{
    while (*text && self->now.count > 0) {
        size_t length = 0;
        uint32_t character = next_character(text, &length);
        show(self, character, *begins);
        *begins = character == '/';
        text += length;
    }
}

static void start(struct machine *self, const casparian_glob *glob)
{
    self->glob = glob;
    self->step = 1;
    self->now.count = 0;
    memset(self->seen, 0, glob->count * sizeof self->seen[0]);
    reach(self, &self->now, 0);
}

bool casparian_glob_matches(const casparian_glob *self, const char *path)
{
    struct machine machine;
    bool begins = true;
    start(&machine, self);
    run(&machine, path, &begins);
    for (size_t i = 0; i < machine.now.count; i++)
        if (self->nodes[machine.now.list[i]].kind == NODE_END)
            return true;
    return false;
}

bool casparian_glob_enters(const casparian_glob *self, const char *folder)
{
    struct machine machine;
    bool begins = true;
    start(&machine, self);
    run(&machine, folder, &begins);
    if (machine.now.count > 0)
        show(&machine, '/', begins);
    return machine.now.count > 0;
}
