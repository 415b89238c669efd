/*
 * kinds.c - the hosts: where their settings are, and the other forms in which they take a server.
 *
 * Sources: the manuals of the hosts. Of VS Code the links are read by the editor itself
 * (mcpWorkbenchService.ts): JSON with `name` and `inputs` among the members of a server.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/host_int.h"
#include "keys/base64.h"

/* ---- Claude Code ----------------------------------------------------------------------------- */

/* `claude mcp add`, with its options before the name: --env takes all words up to the next one. */
static mcp_status print_claude_code(const host_plan *plan, const host_kind *kind, FILE *out,
                                    mcp_error *err)
{
    mcp_buf text;
    (void)kind;
    mcp_buf_init(&text, HOST_TEXT_MAX);
    mcp_buf_puts(&text, "claude mcp add");
    for (size_t i = 0; i < plan->variable_count && !plan->url; i++) {
        const host_variable *variable = &plan->variables[i];
        mcp_buf_printf(&text, " --env %s=", variable->name);
        if (variable->value)
            host_add_shell(&text, variable->value);
        else
            mcp_buf_printf(&text, "\"$%s\"", variable->name);
    }
    mcp_buf_printf(&text, " --transport %s --scope user %s ", plan->url ? "http" : "stdio",
                   plan->name);
    if (plan->url) {
        host_add_shell(&text, plan->url);
        if (plan->bearer)
            mcp_buf_printf(&text, " --header \"Authorization: Bearer $%s\"", plan->bearer);
    } else {
        mcp_buf_puts(&text, "-- ");
        host_add_shell(&text, plan->command);
        for (size_t i = 0; i < plan->word_count; i++) {
            mcp_buf_putc(&text, ' ');
            host_add_shell(&text, plan->words[i]);
        }
    }
    if (text.status == MCP_OK)
        fprintf(out, "\n# or in a shell, for all projects\n%s\n", text.data);
    mcp_status st = text.status;
    mcp_buf_clear(&text);
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "the command for Claude Code");
}

/* ---- links ----------------------------------------------------------------------------------- */

/* The JSON of the server alone, compact. @param named with its name and inputs */
static mcp_status server_json(mcp_buf *out, const host_plan *plan, const host_kind *kind,
                              bool named)
{
    mcp_json_writer json;
    mcp_json_writer_init(&json, out);
    host_write_server(&json, plan, kind, named ? plan->name : NULL);
    return mcp_json_writer_status(&json);
}

static mcp_status print_vscode(const host_plan *plan, const host_kind *kind, FILE *out,
                               mcp_error *err)
{
    mcp_buf named, bare, inputs, text;
    mcp_buf_init(&named, HOST_TEXT_MAX);
    mcp_buf_init(&bare, HOST_TEXT_MAX);
    mcp_buf_init(&inputs, HOST_TEXT_MAX);
    mcp_buf_init(&text, HOST_TEXT_MAX);
    mcp_status st = server_json(&named, plan, kind, true);
    if (st == MCP_OK)
        st = server_json(&bare, plan, kind, false);
    if (st == MCP_OK)
        st = host_inputs(&inputs, plan, kind);
    if (st == MCP_OK) {
        mcp_buf_puts(&text, "\n# or in a shell\ncode --add-mcp ");
        host_add_shell(&text, named.data);
        mcp_buf_puts(&text, "\n\n# or a link\nvscode:mcp/install?");
        host_add_percent(&text, named.data, named.length);
        mcp_buf_puts(&text, "\n\n# or a link of a README, which drops others than https\n"
                            "https://vscode.dev/redirect/mcp/install?name=");
        host_add_percent(&text, plan->name, strlen(plan->name));
        mcp_buf_puts(&text, "&config=");
        host_add_percent(&text, bare.data, bare.length);
        if (inputs.length > 0) {
            mcp_buf_puts(&text, "&inputs=");
            host_add_percent(&text, inputs.data, inputs.length);
        }
        st = text.status;
    }
    if (st == MCP_OK)
        fprintf(out, "%s\n", text.data);
    mcp_buf_clear(&text);
    mcp_buf_clear(&inputs);
    mcp_buf_clear(&bare);
    mcp_buf_clear(&named);
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "the links for VS Code");
}

static mcp_status print_cursor(const host_plan *plan, const host_kind *kind, FILE *out,
                               mcp_error *err)
{
    static const char *const forms[][2] = {
        { "or a link", "cursor://anysphere.cursor-deeplink/mcp/install" },
        { "or a link of a README, which drops others than https",
          "https://cursor.com/en/install-mcp" },
    };
    mcp_buf bare, encoded, text;
    mcp_buf_init(&bare, HOST_TEXT_MAX);
    mcp_buf_init(&encoded, HOST_TEXT_MAX);
    mcp_buf_init(&text, HOST_TEXT_MAX);
    mcp_status st = server_json(&bare, plan, kind, false);
    if (st == MCP_OK)
        st = keys_base64(&encoded, bare.data, bare.length);
    for (size_t i = 0; i < 2 && st == MCP_OK; i++) {
        mcp_buf_printf(&text, "\n# %s\n%s?name=", forms[i][0], forms[i][1]);
        host_add_percent(&text, plan->name, strlen(plan->name));
        mcp_buf_puts(&text, "&config=");
        host_add_percent(&text, encoded.data, encoded.length);
        st = mcp_buf_putc(&text, '\n');
    }
    if (st == MCP_OK)
        fputs(text.data, out);
    mcp_buf_clear(&text);
    mcp_buf_clear(&encoded);
    mcp_buf_clear(&bare);
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "the links for Cursor");
}

/* ---- the Inspector --------------------------------------------------------------------------- */

static mcp_status print_inspector(const host_plan *plan, const host_kind *kind, FILE *out,
                                  mcp_error *err)
{
    (void)kind;
    (void)err;
    fprintf(out,
            "\n# then in a shell\n"
            "mcp-inspector --cli --config mcp.json --server %s --method tools/list\n",
            plan->name);
    return MCP_OK;
}

/* ---- other machines -------------------------------------------------------------------------- */

static mcp_status wrap(host_plan *plan, const char *command, const char *const *words, size_t count)
{
    plan->command = command;
    plan->words = words;
    plan->word_count = count;
    return MCP_OK;
}

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the words of the command");
}

/* ssh joins its words with blanks and gives them to a shell there. */
static mcp_status wrap_ssh(host_plan *plan, const host_kind *kind, mcp_error *err)
{
    const char **words = mcp_arena_array(plan->arena, plan->word_count + 3, sizeof *words);
    size_t count = 0;
    (void)kind;
    if (!words)
        return no_memory(err);
    words[count++] = "-T";
    words[count++] = plan->machine;
    for (size_t i = 0; i <= plan->word_count; i++) {
        mcp_buf text;
        mcp_buf_init(&text, HOST_TEXT_MAX);
        host_add_shell(&text, i == 0 ? plan->command : plan->words[i - 1]);
        words[count] = text.data ? mcp_arena_strdup(plan->arena, text.data) : NULL;
        mcp_buf_clear(&text);
        if (!words[count++])
            return no_memory(err);
    }
    return wrap(plan, "ssh", words, count);
}

/* The directory among the arguments, which is the last one. */
static mcp_status mounted_folder(const char **out, const host_plan *plan, mcp_error *err)
{
    const host_image *image = &plan->server->image;
    const char *last = plan->word_count > plan->start_count ? plan->words[plan->word_count - 1]
                                                            : "";
    if (last[0] != '/')
        return mcp_error_set(err, MCP_E_PARAMS,
                             "docker mounts one directory, the last of the arguments: "
                             "-- ARGS /the/directory");
    if (strchr(last, ','))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "docker cannot mount a directory with a comma in its name: %s", last);
    *out = mcp_arena_printf(plan->arena, "type=bind,src=%s,dst=%s%s", last, image->folder,
                            image->folder_is_read_only ? ",readonly" : "");
    return *out ? MCP_OK : no_memory(err);
}

static size_t add_all(const char **words, const char *const *more)
{
    size_t count = 0;
    for (; more && more[count]; count++)
        words[count] = more[count];
    return count;
}

static size_t length_of(const char *const *words)
{
    size_t count = 0;
    while (words && words[count])
        count++;
    return count;
}

/* What follows the image replaces its own command, so it has all of it, or nothing. */
static mcp_status wrap_docker(host_plan *plan, const host_kind *kind, mcp_error *err)
{
    static const char *const begin[] = { "run", "-i", "--rm", NULL };
    const host_image *image = &plan->server->image;
    size_t folders = image->folder ? 1 : 0;
    size_t own = plan->word_count - plan->start_count;
    const char **words = mcp_arena_array(
        plan->arena,
        12 + length_of(image->options) + length_of(image->command) + own + 2 * plan->variable_count,
        sizeof *words);
    const char *mount = NULL, *user = mcp_arena_printf(plan->arena, "%u:%u", (unsigned)getuid(),
                                                       (unsigned)getgid());
    (void)kind;
    if (!words || !user)
        return no_memory(err);
    size_t count = add_all(words, begin);
    count += add_all(words + count, image->options);
    mcp_status st = folders ? mounted_folder(&mount, plan, err) : MCP_OK;
    if (st != MCP_OK)
        return st;
    if (mount) {
        words[count++] = "--mount";
        words[count++] = mount;
    }
    if (mount && !image->folder_is_read_only) { /* what it writes there is the caller's */
        words[count++] = "--user";
        words[count++] = user;
    }
    for (size_t i = 0; i < plan->variable_count; i++) {
        words[count++] = "-e";
        words[count++] = plan->variables[i].name;
    }
    words[count++] = plan->image;
    if (own > folders) {
        count += add_all(words + count, image->command);
        for (size_t i = plan->start_count; i + folders < plan->word_count; i++)
            words[count++] = plan->words[i];
        if (folders)
            words[count++] = image->folder;
    }
    return wrap(plan, "docker", words, count);
}

/* ---- all ------------------------------------------------------------------------------------- */

const host_kind host_kinds[] = {
    { .name = "claude-code",
      .summary = "Claude Code: .mcp.json of a project, or the command claude",
      .file = ".mcp.json of a project",
      .servers = "mcpServers",
      .placeholder = "${",
      .url_type = "http",
      .takes_url = true,
      .takes_variables = true,
      .print = print_claude_code },
    { .name = "claude-desktop",
      .summary = "Claude Desktop: claude_desktop_config.json",
      .file = "claude_desktop_config.json (Settings, Developer, Edit Config)",
      .servers = "mcpServers",
      .placeholder = "<",
      .takes_variables = true },
    { .name = "vscode",
      .summary = "VS Code: mcp.json, the command code, links",
      .file = ".vscode/mcp.json of a project, or the user's (MCP: Open User Configuration)",
      .servers = "servers",
      .placeholder = "${input:",
      .type = "stdio",
      .url_type = "http",
      .takes_url = true,
      .takes_socket = true,
      .takes_variables = true,
      .print = print_vscode },
    { .name = "cursor",
      .summary = "Cursor: mcp.json, links",
      .file = "~/.cursor/mcp.json, or .cursor/mcp.json of a project",
      .servers = "mcpServers",
      .placeholder = "${env:",
      .takes_url = true,
      .takes_variables = true,
      .print = print_cursor },
    { .name = "inspector",
      .summary = "the MCP Inspector, and others that read its form of mcp.json",
      .file = "mcp.json",
      .servers = "mcpServers",
      .placeholder = "<",
      .type = "stdio",
      .url_type = "streamable-http",
      .takes_url = true,
      .takes_variables = true,
      .print = print_inspector },
    { .name = "ssh",
      .summary = "a host on another machine, which starts the program here by ssh",
      .file = "the file of the host there, as claude_desktop_config.json",
      .servers = "mcpServers",
      .placeholder = "<",
      .wrap = wrap_ssh },
    { .name = "docker",
      .summary = "a host that starts the server's container",
      .file = "the file of the host, as claude_desktop_config.json",
      .servers = "mcpServers",
      .placeholder = "<",
      .takes_variables = true,
      .wrap = wrap_docker },
    { 0 },
};
