/**
 * cli.h - command lines from tables: options, subcommands, --help, --version.
 *
 * A program is a table of commands, each with a table of options; help texts are made from them.
 * An error in the line is reported on the error stream with a hint, and the program exits with
 * CLI_USAGE.
 *
 *     static const cli_option run_options[] = {
 *         { .name = "output", .type = CLI_STRING, .argument = "DIR", .help = "where results go" },
 *         { .name = "threads", .type = CLI_INT, .argument = "N", .min = 1, .max = 1024,
 *           .env = "COBRE_THREADS", .standard = "1", .help = "worker threads" },
 *         { 0 }
 *     };
 *     static const cli_command commands[] = {
 *         { .name = "run", .arguments = "CASE", .arguments_min = 1, .arguments_max = 1,
 *           .summary = "train and simulate a case", .options = run_options, .run = run },
 *         { 0 }
 *     };
 *     static const cli_program program = {
 *         .name = "cobre", .version = COBRE_VERSION, .summary = "...", .commands = commands,
 *     };
 *     return cli_main(&program, argc, argv, stdout, stderr, &app);
 *
 * Options may stand before or after arguments, as "--name value" or "--name=value"; "--" ends them.
 * A flag is "--name", "--name=true" or "--name=false"; an option with a letter is "-n" too. The
 * program's own options hold for every command and may stand before its name. -h, --help and
 * --version are always there (after the name of a command with an option `version`, --version is
 * that option).
 *
 * The first word of commands of two lists them. Where it is a command itself, the word right after
 * it is the second one if there is such a command; as an argument it is written "./WORD", or
 * behind "--". Likewise
 * a program whose first command has an empty name, which is then the command without a name, may
 * have others: "prog DIR" and "prog version".
 *
 * A value is that of the line, else of the environment, else of the program's file.
 *
 * An argument or a value with "${...}" in it is refused: hosts of MCP servers pass the placeholder
 * of a setting unchanged when the user has not filled in the setting.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "mcp/error.h"

/** The exit status after an invalid command line. */
#define CLI_USAGE 2

typedef enum cli_type {
    CLI_FLAG, /* no value, or true or false after '=' */
    CLI_INT,  /* min to max */
    CLI_STRING,
    CLI_CHOICE, /* one of `choices` */
    CLI_SIZE    /* bytes, min to max: a number, with K, M or G behind it (1024, 1024^2, 1024^3) */
} cli_type;

typedef struct cli_option {
    const char *name;  /* without the dashes; NULL ends a table */
    const char *alias; /* another name for it, not in help; NULL: none */
    cli_type type;
    const char *argument;       /* what help calls the value; NULL for a flag */
    const char *help;           /* one line */
    const char *env;            /* environment variable with the value; NULL: see `env_prefix` */
    const char *standard;       /* default value; NULL: absent */
    const char *const *choices; /* CLI_CHOICE: ended by NULL */
    int64_t min, max;           /* CLI_INT, CLI_SIZE; both 0: no bound */
    bool hidden;                /* not in help */
    const char *key;            /* in the program's file, "serve.port"; NULL: not there */
    char letter;                /* "-f FILE" and "-fFILE" are short for it; 0: none */
    bool many;                  /* may be given several times: cli_item */
    bool required;              /* a command line without it, or with an empty value, is invalid */
} cli_option;

typedef struct cli_line cli_line;

/** Runs a command and gives the exit status. `line` is valid until it returns. */
typedef int cli_command_run(const cli_line *line, void *data);

/** The words that a shell could complete to. */
typedef struct cli_words cli_words;

/**
 * Offers what an argument may be: cli_offer, cli_offer_files.
 *
 * @param line  what is typed before the argument; some of it may be invalid
 * @param index of the argument
 */
typedef void cli_complete(const cli_line *line, size_t index, cli_words *words);

typedef struct cli_command {
    const char *name;      /* of one word or two, "schema export"; NULL ends a table */
    const char *arguments; /* as in usage: "CASE"; NULL: none */
    size_t arguments_min, arguments_max;
    const char *summary;       /* one line */
    const char *notes;         /* text after the options in help; NULL: none */
    const cli_option *options; /* NULL: none */
    /** Begins the variable of each option without `env`: "COBRE_MCP_" gives --allow-write the
     * variable COBRE_MCP_ALLOW_WRITE. NULL: those options have none. */
    const char *env_prefix;
    /** Arguments and values with "${...}" are taken: they are for another program. */
    bool takes_placeholders;
    cli_complete *complete; /* NULL: as the name of the argument says */
    cli_command_run *run;
} cli_command;

typedef struct cli_program cli_program;
typedef struct cli_file cli_file;

/**
 * Reads a file with values of options.
 *
 * @param out      given to the other functions
 * @param program  its options with a `key` may be in the file
 * @param is_named the user has named the file; one that is not named need not exist
 * @return MCP_OK; any other status: the message is printed, and the program exits with CLI_USAGE
 */
typedef mcp_status cli_file_open(void **out, const cli_file *self, const cli_program *program,
                                 const char *path, bool is_named, mcp_error *err);

/** The value of a key as it would stand on the line, or where it stands ("a.toml:3:8: "). @return
 *  NULL: it is absent */
typedef const char *cli_file_find(const void *opened, const char *key);

/** Where values of options come from that neither the line nor the environment has; kit/config has
 *  one. */
struct cli_file {
    cli_file_open *open;
    cli_file_find *text;
    cli_file_find *place;
    void (*close)(void *opened);
};

struct cli_program {
    const char *name;
    const char *version;
    const char *summary;         /* one line */
    const char *notes;           /* text at the end of help; NULL: none */
    const cli_option *options;   /* for every command; NULL: none */
    const cli_command *commands; /* when the first has an empty name, it needs no name */
    /** Reads the file that the option `config` names, of commands that have one. NULL: nothing. */
    const cli_file *file;
    /** Printed as a line of `out` when a line with --json is invalid. NULL: nothing. */
    const char *usage_record;
    /** What follows the reason in that record, which then ends before the reason, a JSON string.
     *  NULL: the record has no reason. */
    const char *usage_record_end;
    /** The same for a line with --output-format json or json-lines. NULL: nothing. */
    const char *usage_envelope;
};

/**
 * Read the command line and run the command.
 *
 * @param out help, version, the usage record
 * @param err errors of the line
 * @return the command's exit status; 0 after help or version; CLI_USAGE; 1 when memory is out
 */
int cli_main(const cli_program *program, int argc, char **argv, FILE *out, FILE *err, void *data);

/* ---- values of the line ---------------------------------------------------------------------- */

/** The name of the command: "run", or of two words, "schema export". */
const char *cli_command_name(const cli_line *line);

/** The i-th argument; NULL past the last. */
const char *cli_argument(const cli_line *line, size_t index);
size_t cli_argument_count(const cli_line *line);

/** The value as text: of the line, else of the environment, else of the file, else the default;
 *  NULL when absent. */
const char *cli_string(const cli_line *line, const char *name);

/** Whether a flag is set: the line or its variable has true, yes or 1, not false, no or 0. */
bool cli_flag(const cli_line *line, const char *name);

/** The i-th value of an option with `many`. Without one on the line there is one value, that of
 *  the environment, the file or the default, where a list has commas. @return NULL past the last */
const char *cli_item(const cli_line *line, const char *name, size_t index);

/** A number or size that was checked against its bounds; `fallback` when absent. */
int64_t cli_int(const cli_line *line, const char *name, int64_t fallback);

/** Whether the line itself has the option (not the environment, not the default). */
bool cli_given(const cli_line *line, const char *name);

/** Whether the command or its program has an option of that name. */
bool cli_has(const cli_line *line, const char *name);

/** What the program's `file` has opened; NULL: nothing. */
const void *cli_opened_file(const cli_line *line);

/** The streams given to cli_main. */
FILE *cli_out(const cli_line *line);
FILE *cli_err(const cli_line *line);

/* ---- completion ------------------------------------------------------------------------------ */

/* clang-format off */
/** The row of the command `completion` in a table of cli_command: it prints a script for a shell,
 * which asks the program what the word under the cursor may be. That is made from the tables: names
 * of commands and options, choices; files where the name of an argument or a value has FILE, PATH
 * or INPUT in it, directories for DIR, CASE and OUTPUT. */
#define CLI_COMPLETION_COMMAND                                                                     \
    { .name = "completion", .arguments = "bash|zsh|fish", .arguments_min = 1,                      \
      .arguments_max = CLI_WORDS_MAX, .summary = "print the completion of this program for a shell", \
      .notes = cli_completion_notes, .takes_placeholders = true, .run = cli_completion }
/* clang-format on */

/** How many words of a line are completed. */
#define CLI_WORDS_MAX 1000

extern const char cli_completion_notes[];
cli_command_run cli_completion;

/** Offer a word where it begins with what is typed. One that a shell would not take as it is, or
 *  that begins with "-", is left out. @param about its first line is used; NULL: nothing */
void cli_offer(cli_words *words, const char *word, const char *about);

/** Offer files, or only directories. */
void cli_offer_files(cli_words *words, bool only_directories);

/* ---- hints ----------------------------------------------------------------------------------- */

/** Make `name` the best when it is nearer to the typed name than the best so far: fewer than
 *  *best_distance letters differ. Names of up to 63 bytes. */
void cli_nearer(const char **best, size_t *best_distance, const char *typed, const char *name);

/* ---- colours --------------------------------------------------------------------------------- */

typedef enum cli_color {
    CLI_PLAIN,
    CLI_BOLD,
    CLI_DIM,
    CLI_RED,
    CLI_GREEN,
    CLI_YELLOW,
    CLI_CYAN
} cli_color;

/**
 * Whether to colour what goes to `stream`.
 *
 * @param choice "always", "never", or anything else to let the environment decide: NO_COLOR, then
 *               FORCE_COLOR, then whether the stream is a terminal that is not "dumb"
 */
bool cli_use_color(const char *choice, FILE *stream);

/** The escape sequence of a colour, or "" when `use` is false; CLI_PLAIN ends any. Constant. */
const char *cli_paint(bool use, cli_color color);

#endif
