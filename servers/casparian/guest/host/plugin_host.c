/*
 * plugin_host.c - the program that loads a plugin that is a shared library, and lets it parse.
 *
 * It runs in the sandbox of a native plugin, so the library's constructors do, too: casparian never
 * loads it. The functions of the SDK are the program's; the library finds them here.
 *
 * usage: plugin_host LIBRARY ID VERSION FILE
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "casparian_plugin.h"

/* Whether the text has the word as a JSON string. Ids and versions have nothing to escape. */
static bool names(const char *json, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = strchr(json, '"'); at; at = strchr(at + 1, '"'))
        if (strncmp(at + 1, word, length) == 0 && at[length + 1] == '"')
            return true;
    return false;
}

static int fail(cf_sink *sink, const char *why, const char *what)
{
    char message[512];

    snprintf(message, sizeof message, "%s%s", why, what ? what : "");
    cf_error(sink, message);
    return cf_finish(sink, 1);
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: plugin_host LIBRARY ID VERSION FILE\n");
        return 2;
    }
    cf_sink *sink = cf_begin(argv[2], argv[3], "cfb");
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fail(sink, "the library cannot be loaded: ", dlerror());
    cf_plugin_parse_function *parse;
    cf_plugin_manifest_function *manifest;
    *(void **)&parse = dlsym(library, CF_PLUGIN_PARSE);
    *(void **)&manifest = dlsym(library, CF_PLUGIN_MANIFEST);
    if (!parse || !manifest)
        return fail(sink, "the library has no function ",
                    parse ? CF_PLUGIN_MANIFEST : CF_PLUGIN_PARSE);
    const char *text = manifest();
    if (!text || !names(text, argv[2]) || !names(text, argv[3]))
        return fail(sink, CF_PLUGIN_MANIFEST " does not name the plugin of casparian.toml: ",
                    text ? text : "it is NULL");
    return cf_finish(sink, parse(argv[4], sink));
}
