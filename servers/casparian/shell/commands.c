/*
 * commands.c - the table of commands.
 */
#include "shell/commands.h"

const char casparian_exit_notes[] =
    "Exit status: 0 done; 1 it failed; 2 the command line; 3 the environment (the home, the\n"
    "state, libduckdb); 4 not found; 5 refused by a rule (a path, trust, an approval).";

/* clang-format off */
const cli_option casparian_common_options[] = {
    { .name = "home", .type = CLI_STRING, .argument = "DIR", .env = "CASPARIAN_HOME",
      .help = "the folder of the state and the settings (default: ~/.casparian_flow)" },
    { .name = "config", .type = CLI_STRING, .argument = "FILE",
      .help = "the settings (default: config.toml of the home)" },
    { .name = "json", .type = CLI_FLAG, .help = "print the result, or the error, as JSON" },
    { .name = "quiet", .letter = 'q', .type = CLI_FLAG, .help = "say nothing but errors" },
    { .name = "verbose", .letter = 'v', .type = CLI_FLAG, .help = "say more" },
    { 0 },
};

#define COMMAND(name_, summary_, options_, run_)                                                   \
    { .name = name_, .summary = summary_, .notes = casparian_exit_notes, .options = options_,      \
      .run = run_ }

const cli_command casparian_commands[] = {
    COMMAND("mcp serve", "serve the tools to an MCP client", casparian_serve_options,
            casparian_command_serve),
    { 0 },
};
/* clang-format on */
