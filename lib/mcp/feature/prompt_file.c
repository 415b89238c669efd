/*
 * prompt_file.c - reads a prompt's Markdown file once, so that filling it is copying.
 *
 * The head is lines "key: value" between two lines of three dashes; what follows is the text of the
 * messages. A line "--- user" or "--- assistant" begins a message; blank lines around a message do
 * not belong to it. Each message becomes a row of parts, texts and places in turn. Because places
 * are found here, in our own file, and never in what is put into them, a client's argument cannot
 * smuggle a place in.
 *
 * Whatever looks like a mistake stops the server at its start, with file and line: an unknown key,
 * an argument that is neither required nor optional, a "{{" that opens no place. An odd prompt
 * would otherwise be found by a model.
 */
#include "mcp/feature/prompt_file.h"

#include <string.h>

#include "base/utf8.h"
#include "mcp/feature/list.h"

struct text {
    const char *at;
    size_t length;
};

struct prompt_reader {
    mcp__prompt_file *prompt;
    mcp_arena *arena;
    const char *at;
    const char *end;
    int line; /* of the line read last, from 1 */
    mcp_error *err;
};

static mcp_status fault(const struct prompt_reader *r, const char *why)
{
    return mcp_error_set(r->err, MCP_E_PARAMS, "%s: line %d: %s", r->prompt->path, r->line, why);
}

static mcp_status no_memory(const struct prompt_reader *r)
{
    return mcp_error_set(r->err, MCP_E_NOMEM, "no memory for a prompt");
}

/* Copy a text that is not empty. */
static mcp_status copy(const struct prompt_reader *r, const char **out, struct text text)
{
    *out = mcp_arena_strndup(r->arena, text.at, text.length);
    return *out ? MCP_OK : no_memory(r);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct text trimmed(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    while (end > at && is_blank(end[-1]))
        end--;
    return (struct text){ at, (size_t)(end - at) };
}

static bool text_is(struct text text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

/* The next line without its end; false at the end of the file. */
static bool next_line(struct prompt_reader *r, struct text *line)
{
    const char *newline;

    if (r->at == r->end)
        return false;
    newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    *line = (struct text){ r->at, (size_t)((newline ? newline : r->end) - r->at) };
    if (line->length > 0 && line->at[line->length - 1] == '\r')
        line->length--;
    r->at = newline ? newline + 1 : r->end;
    r->line++;
    return true;
}

/* ---- the head ------------------------------------------------------------------------------- */

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static bool is_name(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (!is_name_byte(text.at[i]))
            return false;
    }
    return text.length > 0;
}

mcp__prompt_argument *mcp__prompt_argument_find(const mcp__prompt_file *prompt, const char *name,
                                                size_t length)
{
    for (size_t i = 0; i < prompt->argument_count; i++) {
        mcp__prompt_argument *argument = &prompt->arguments[i];
        if (strlen(argument->name) == length && memcmp(argument->name, name, length) == 0)
            return argument;
    }
    return NULL;
}

static struct text before_comma(struct text *rest)
{
    const char *end = rest->at + rest->length;
    const char *comma = memchr(rest->at, ',', rest->length);
    struct text piece = trimmed(rest->at, comma ? comma : end);

    *rest = trimmed(comma ? comma + 1 : end, end);
    return piece;
}

/* "metric, optional, What to look at" */
static mcp_status read_argument(struct prompt_reader *r, struct text value)
{
    mcp__prompt_file *prompt = r->prompt;
    struct text name = before_comma(&value);
    struct text need = before_comma(&value);
    mcp__prompt_argument *argument = &prompt->arguments[prompt->argument_count];

    if (!is_name(name))
        return fault(r, "an argument's name has letters, digits, '_', '-' and '.' only");
    if (!text_is(need, "required") && !text_is(need, "optional"))
        return fault(r, "an argument is 'required' or 'optional'");
    if (mcp__prompt_argument_find(prompt, name.at, name.length))
        return fault(r, "duplicate argument");
    if (prompt->argument_count == MCP__PROMPT_ARGUMENTS_MAX)
        return fault(r, "too many arguments");
    argument->is_required = text_is(need, "required");
    mcp_status st = copy(r, &argument->name, name);
    if (st == MCP_OK && value.length > 0)
        st = copy(r, &argument->description, value);
    prompt->argument_count += st == MCP_OK;
    return st;
}

/* "metric, What to look at": the title of an argument above. */
static mcp_status read_argument_title(struct prompt_reader *r, struct text value)
{
    struct text name = before_comma(&value);
    mcp__prompt_argument *argument = mcp__prompt_argument_find(r->prompt, name.at, name.length);

    if (!argument)
        return fault(r, "no argument of that name above");
    if (argument->title)
        return fault(r, "duplicate title");
    if (value.length == 0)
        return fault(r, "missing title after ','");
    return copy(r, &argument->title, value);
}

static mcp_status read_single(struct prompt_reader *r, const char **out, struct text value)
{
    if (*out)
        return fault(r, "duplicate line");
    if (value.length == 0)
        return fault(r, "missing value after ':'");
    return copy(r, out, value);
}

static mcp_status read_scopes(struct prompt_reader *r, struct text value)
{
    mcp_status st = read_single(r, &r->prompt->scopes, value);

    if (st == MCP_OK && !mcp__list_are_scopes(r->prompt->scopes))
        st = fault(r, "scopes are words between single spaces");
    return st;
}

/* A value of JSON on one line. */
static mcp_status read_json(struct prompt_reader *r, const mcp_json **out, struct text value,
                            mcp_json_type type, const char *words)
{
    const mcp_json *read = NULL;
    mcp_status st;

    if (*out)
        return fault(r, "duplicate line");
    st = mcp_json_read(&read, r->arena, value.at, value.length, NULL);
    if (st == MCP_E_NOMEM)
        return no_memory(r);
    if (st != MCP_OK || mcp_json_type_of(read) != type)
        return fault(r, words);
    *out = read;
    return MCP_OK;
}

static mcp_status read_head_line(struct prompt_reader *r, struct text line)
{
    mcp__prompt_file *prompt = r->prompt;
    const char *colon = memchr(line.at, ':', line.length);
    struct text key, value;

    if (!colon)
        return fault(r, "a line of the head is 'key: value'");
    key = trimmed(line.at, colon);
    value = trimmed(colon + 1, line.at + line.length);
    if (text_is(key, "name"))
        return read_single(r, &prompt->name, value);
    if (text_is(key, "title"))
        return read_single(r, &prompt->title, value);
    if (text_is(key, "description"))
        return read_single(r, &prompt->description, value);
    if (text_is(key, "argument"))
        return read_argument(r, value);
    if (text_is(key, "argument-title"))
        return read_argument_title(r, value);
    if (text_is(key, "scopes"))
        return read_scopes(r, value);
    if (text_is(key, "icons"))
        return read_json(r, &prompt->icons, value, MCP_JSON_ARRAY, "icons are a JSON array");
    if (text_is(key, "meta"))
        return read_json(r, &prompt->meta, value, MCP_JSON_OBJECT, "meta is a JSON object");
    return fault(r,
                 "the head knows name, title, description, argument, argument-title, scopes, icons "
                 "and meta");
}

static mcp_status read_head(struct prompt_reader *r)
{
    struct text line;
    mcp_status st = MCP_OK;

    if (!next_line(r, &line) || !text_is(line, "---"))
        return fault(r, "a prompt begins with a line of three dashes");
    for (;;) {
        if (!next_line(r, &line))
            return fault(r, "the head has no second line of three dashes");
        if (text_is(line, "---"))
            break;
        if (trimmed(line.at, line.at + line.length).length == 0)
            continue;
        st = read_head_line(r, line);
        if (st != MCP_OK)
            return st;
    }
    return r->prompt->name ? MCP_OK : fault(r, "the head has no name");
}

/* ---- the messages --------------------------------------------------------------------------- */

static size_t count_openings(struct text text)
{
    size_t count = 0;

    for (size_t i = 0; i + 1 < text.length; i++) {
        if (text.at[i] == '{' && text.at[i + 1] == '{') {
            count++;
            i++;
        }
    }
    return count;
}

/* The place that opens at `at`; where it closes, or NULL when it is none. */
static const char *read_place(struct text *name, const char *at, const char *end)
{
    const char *close = memmem(at, (size_t)(end - at), "}}", 2);

    if (!close)
        return NULL;
    *name = trimmed(at + 2, close);
    return is_name(*name) ? close + 2 : NULL;
}

static void add_part(mcp__prompt_message *message, const char *at, size_t length, bool is_place)
{
    if (length > 0)
        message->parts[message->part_count++] = (mcp__prompt_part){ at, length, is_place };
}

static mcp_status read_parts(struct prompt_reader *r, mcp__prompt_message *message,
                             struct text text)
{
    const char *at = text.at;
    const char *end = text.at + text.length;

    message->parts = mcp_arena_array(r->arena, 2 * count_openings(text) + 1,
                                     sizeof *message->parts);
    if (!message->parts)
        return no_memory(r);
    for (;;) {
        const char *open = memmem(at, (size_t)(end - at), "{{", 2);
        struct text name;
        const char *next;
        add_part(message, at, (size_t)((open ? open : end) - at), false);
        if (!open)
            return MCP_OK;
        next = read_place(&name, open, end);
        if (!next)
            return fault(r, "the message that ends here has a '{{' that opens no place");
        add_part(message, name.at, name.length, true);
        at = next;
    }
}

static mcp_status add_message(struct prompt_reader *r, const char *role, struct text text,
                              bool may_miss)
{
    mcp__prompt_file *prompt = r->prompt;

    if (text.length == 0 && may_miss)
        return MCP_OK;
    if (text.length == 0)
        return fault(r, "the message that ends here is empty");
    if (prompt->message_count == MCP__PROMPT_MESSAGES_MAX)
        return fault(r, "too many messages");
    prompt->messages[prompt->message_count].role = role;
    return read_parts(r, &prompt->messages[prompt->message_count++], text);
}

/* The role that a line begins a message of; NULL when it is a line of text. */
static const char *role_of(struct text line)
{
    struct text word;

    if (line.length < 4 || memcmp(line.at, "--- ", 4) != 0)
        return NULL;
    word = trimmed(line.at + 4, line.at + line.length);
    return text_is(word, "user") ? "user" : text_is(word, "assistant") ? "assistant" : NULL;
}

static mcp_status read_messages(struct prompt_reader *r)
{
    const char *role = "user";
    const char *begin = r->at;
    bool is_first = true;
    struct text line;

    while (next_line(r, &line)) {
        const char *next = role_of(line);
        mcp_status st;
        if (!next)
            continue;
        st = add_message(r, role, trimmed(begin, line.at), is_first);
        if (st != MCP_OK)
            return st;
        role = next;
        begin = r->at;
        is_first = false;
    }
    return add_message(r, role, trimmed(begin, r->end), false);
}

mcp_status mcp__prompt_file_read(const mcp__prompt_file **out, mcp_arena *arena,
                                 const mcp_file *file, mcp_error *err)
{
    mcp__prompt_file *prompt = mcp_arena_alloc(arena, sizeof *prompt);
    struct prompt_reader r = { .prompt = prompt,
                               .arena = arena,
                               .at = file->bytes,
                               .end = file->bytes + file->length,
                               .err = err };
    mcp_status st;

    if (!prompt)
        return no_memory(&r);
    prompt->path = file->path;
    prompt->arguments = mcp_arena_array(arena, MCP__PROMPT_ARGUMENTS_MAX,
                                        sizeof *prompt->arguments);
    prompt->messages = mcp_arena_array(arena, MCP__PROMPT_MESSAGES_MAX, sizeof *prompt->messages);
    if (!prompt->arguments || !prompt->messages)
        return no_memory(&r);
    if (memchr(file->bytes, '\0', file->length) ||
        !mcp__utf8_valid(file->bytes, file->length, NULL))
        return fault(&r, "the file is not UTF-8 text");
    st = read_head(&r);
    if (st == MCP_OK)
        st = read_messages(&r);
    if (st == MCP_OK)
        *out = prompt;
    return st;
}
