/*
 * words.c - a native plugin for casparian: the words of a text file, one row each.
 *
 * Compile it where the SDK is installed, and it is a plugin together with casparian.toml:
 *
 *     cc -std=c17 -O2 words.c -lcasparian_plugin -o words
 *
 * or, with `entrypoint = "words.so"` in casparian.toml:
 *
 *     cc -std=c17 -O2 -shared -fPIC words.c -o words.so
 */
#include <casparian_plugin.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const cf_column columns[] = { { "line", CF_INT64, 0, 0, NULL },
                                     { "word", CF_STRING, 0, 0, NULL } };
static const cf_schema schema = { columns, 2, NULL, false };

/* The words of one line; false: nobody reads any more. */
static bool emit_words(cf_output *words, int64_t line, const char *text)
{
    for (text += strspn(text, " \t\r\n"); *text; text += strspn(text, " \t\r\n")) {
        size_t length = strcspn(text, " \t\r\n");
        cf_row_new(words);
        cf_set_i64(words, 0, line);
        cf_set_str(words, 1, text, length);
        if (cf_row_commit(words) != CF_OK)
            return false;
        text += length;
    }
    return true;
}

int cf_plugin_parse(const char *path, cf_sink *sink)
{
    FILE *file = fopen(path, "r");
    char text[4096];

    if (!file) {
        cf_error(sink, strerror(errno));
        return 1;
    }
    cf_output *words = cf_output_open(sink, "words", &schema);
    for (int64_t line = 1; fgets(text, sizeof text, file); line++)
        if (!emit_words(words, line, text))
            break;
    bool has_failed = ferror(file) != 0;
    if (has_failed)
        cf_error(sink, "the file cannot be read");
    fclose(file);
    return has_failed ? 1 : 0;
}

const char *cf_plugin_manifest(void)
{
    return "{\"name\": \"words\", \"version\": \"1.0.0\"}";
}

/* A shared library does not need it. */
int main(int argc, char **argv)
{
    cf_sink *sink = cf_begin("words", "1.0.0", "cfb");

    if (argc == 2)
        return cf_finish(sink, cf_plugin_parse(argv[1], sink));
    cf_error(sink, "usage: words FILE");
    return cf_finish(sink, 1);
}
