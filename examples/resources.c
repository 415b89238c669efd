/*
 * resources.c - a shelf of notes: resources, a URI template, bytes that are no text, and a prompt.
 *
 *     notes://index          all notes, one entry each
 *     notes://note/{id}      one of them; the {id} arrives as an argument
 *     notes://dot            a picture, one grey point large
 *
 * What clients see is in resources.json and in prompts/summarise.md, here written by hand; a
 * larger program has them as files next to its code. `--revision 2025-03-26` makes the server speak
 * that revision alone.
 */
#include <stdio.h>
#include <string.h>

#include "mcp/mcp.h"

static const char resources_json[] =
    "{\"resources\":["
    "{\"uri\":\"notes://index\",\"name\":\"index\",\"title\":\"All notes\","
    "\"mimeType\":\"text/plain\",\"annotations\":{\"priority\":1}},"
    "{\"uri\":\"notes://dot\",\"name\":\"dot\",\"mimeType\":\"image/gif\",\"size\":35}],"
    "\"resourceTemplates\":["
    "{\"uriTemplate\":\"notes://note/{id}\",\"name\":\"note\",\"title\":\"One note\","
    "\"description\":\"A note by its name\",\"mimeType\":\"text/plain\"}]}";

static const char summarise_md[] = "---\n"
                                   "name: notes/summarise\n"
                                   "title: Summarise\n"
                                   "description: Ask for a summary of one note\n"
                                   "argument: id, required, The note's name\n"
                                   "argument: tone, optional, How it shall sound\n"
                                   "---\n"
                                   "Summarise this note in one sentence. Tone: {{tone}}\n"
                                   "\n"
                                   "{{note}}\n"
                                   "--- assistant\n"
                                   "In one sentence:\n";

static const mcp_file files[] = { { "resources.json", resources_json, sizeof resources_json - 1 },
                                  { "prompts/summarise.md", summarise_md, sizeof summarise_md - 1 },
                                  { 0 } };

static const struct note {
    const char *id;
    const char *text;
} notes[] = {
    { "milk", "Two litres of milk, and bread." },
    { "a/b", "Names may hold a slash: it is escaped in the URI." },
    { "caf\303\251", "Opens at eight." },
};

static const size_t note_count = sizeof notes / sizeof notes[0];

static const struct note *find_note(mcp_call *call)
{
    const char *id = mcp_arg_string(call, "id");

    for (size_t i = 0; id && i < note_count; i++) {
        if (strcmp(notes[i].id, id) == 0)
            return &notes[i];
    }
    return NULL;
}

static mcp_status read_index(mcp_call *call, void *data)
{
    mcp_status st = MCP_OK;

    (void)data;
    for (size_t i = 0; i < note_count && st == MCP_OK; i++)
        st = mcp_call_contents_text(call, NULL, NULL, notes[i].id, strlen(notes[i].id));
    return st;
}

static mcp_status read_note(mcp_call *call, void *data)
{
    const struct note *note = find_note(call);

    (void)data;
    if (!note)
        return mcp_error_set(mcp_call_error(call), MCP_E_RESOURCE, "no note of that name");
    return mcp_call_contents_text(call, NULL, NULL, note->text, strlen(note->text));
}

/* GIF89a, one point: the smallest picture that every client shows. */
static mcp_status read_dot(mcp_call *call, void *data)
{
    static const unsigned char dot[35] = { 'G', 'I',  'F',  '8',  '9', 'a', 1, 0,   1, 0, 0x80, 0,
                                           0,   0x80, 0x80, 0x80, 0,   0,   0, ',', 0, 0, 0,    0,
                                           1,   0,    1,    0,    0,   2,   2, 'D', 1, 0, ';' };

    (void)data;
    return mcp_call_contents_blob(call, NULL, NULL, dot, sizeof dot);
}

static mcp_status fill_summarise(mcp_call *call, void *data)
{
    const struct note *note = find_note(call);

    (void)data;
    if (!note)
        return mcp_error_set(mcp_call_error(call), MCP_E_PARAMS, "no note of that name");
    return mcp_call_set_placeholder(call, "note", note->text);
}

/* clang-format off */
static const mcp_resource resources[] = {
    /* uri                  read        flags      timeout_ms */
    { "notes://index",     read_index, MCP_READS, 0 },
    { "notes://dot",       read_dot,   MCP_READS, 0 },
    { "notes://note/{id}", read_note,  MCP_READS, 0 },
    { 0 }
};

static const mcp_prompt prompts[] = {
    /* name               fill            flags      timeout_ms */
    { "notes/summarise", fill_summarise, MCP_READS, 0 },
    { 0 }
};
/* clang-format on */

/* False when the arguments are not "--revision R" or none. */
static bool read_arguments(mcp_server_options *options, int argc, char **argv)
{
    if (argc == 1)
        return true;
    if (argc != 3 || strcmp(argv[1], "--revision") != 0)
        return false;
    options->oldest = options->newest = mcp_revision_find(argv[2]);
    return options->oldest != MCP_REVISION_NONE;
}

int main(int argc, char **argv)
{
    mcp_features features = { .files = files, .resources = resources, .prompts = prompts };
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_server *server = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st;

    options.name = "notes";
    options.version = "1.0.0";
    if (!read_arguments(&options, argc, argv)) {
        fprintf(stderr, "usage: %s [--revision REVISION]\n", argv[0]);
        return 2;
    }
    st = mcp_server_new(&server, &options, &err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, &err);
    if (st == MCP_OK)
        st = mcp_server_stdio(server, &err);
    if (st != MCP_OK)
        fprintf(stderr, "notes: %s\n", err.message);
    mcp_server_free(server);
    return st == MCP_OK ? 0 : 1;
}
