/*
 * main.c - the program casparian.
 */
#include <malloc.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "columns/sealed/sealed.h"
#include "serve/serve.h"
#include "shell/commands.h"

/* glibc makes eight arenas a core, and each keeps what its threads have freed. Jobs begin and end
 * on many threads: with two arenas a server that is always busy keeps its size. */
#define ARENAS_MAX 2

static const cli_program program = {
    .name = "casparian",
    .version = CAUSEWAY_VERSION,
    .summary = "turns files into typed tables that a human has approved",
    .notes = casparian_exit_notes,
    .options = casparian_common_options,
    .commands = casparian_commands,
    .usage_record = "{\"error\":{\"code\":\"invalid_arguments\",\"message\":",
    .usage_record_end = ",\"context\":null,\"suggestions\":[]}}",
};

int main(int argc, char **argv)
{
    const struct rlimit none = { 0, 0 };
    /* A core would have values of data in it. */
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)umask(S_IRWXG | S_IRWXO);
#ifdef __GLIBC__
    (void)mallopt(M_ARENA_MAX, ARENAS_MAX);
#endif
    /* A batch of rows: with fresh pages for each, a tenth of the time of a check. */
    serve_keep_memory();
    if (argc > 1 && strcmp(argv[1], COLUMNS_SEALED_COMMAND) == 0)
        return columns_sealed_main();
    return serve_main(&program, argc, argv);
}
