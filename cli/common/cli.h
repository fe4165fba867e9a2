/* cli.h - what the commands of `tabi` share.
 *
 * A command writes its result to a stream in memory.  main.c copies it to stdout when the command
 * ends well (or with a failed check), so that an error leaves nothing on stdout. */
#ifndef TBI_CLI_H
#define TBI_CLI_H

#include "tabi/tabi.h"
#include "tabi/tabi_io.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
  TBI_EXIT_OK = 0,
  TBI_EXIT_INTERNAL = 1,
  TBI_EXIT_USAGE = 2,
  TBI_EXIT_INPUT = 3,
  TBI_EXIT_DIVERGED = 4,
  TBI_EXIT_CHECK = 5,
};

enum { TBI_MAX_OPTIONS = 16, TBI_MAX_WORDS = 256, TBI_MAX_MANY = 64 };

/* Options that commands share, behind their own: the first of those that load models or scenes, the
 * others of those that tell what they noticed, too. */
enum {
  TBI_PACKAGE_PATH = TBI_MAX_OPTIONS,
  TBI_STRICT,
  TBI_VERBOSE,
  TBI_QUIET,
  TBI_ALL_OPTIONS,
};

/* Words to choose from, as the library names them. */
typedef struct tbi_names {
  const char *(*name)(int32_t index);
  int32_t count;
} tbi_names;

extern const tbi_names tbi_contact_names, tbi_integrator_names;

enum { TBI_NAMES_SIZE = 320 };
/* "cone, lcp, exact" in the buffer. */
const char *tbi_names_list(const tbi_names *names, char text[TBI_NAMES_SIZE]);

typedef struct tbi_option {
  const char *name;       /* "--base" */
  const char *value;      /* what it takes, "free|fixed"; NULL: it is a switch */
  const char *help;       /* in a line, which is wrapped */
  bool many;              /* may be given several times */
  const tbi_names *names; /* what it may be, listed after the help; NULL: anything */
} tbi_option;

typedef struct tbi_args {
  const char *value[TBI_ALL_OPTIONS]; /* in the order of the options; NULL: not given */
  const char *word[TBI_MAX_WORDS];    /* arguments that are not options */
  int nword;
  const char *many[TBI_MAX_MANY]; /* all values of the option that may be given several times */
  int nmany;
} tbi_args;

typedef struct tbi_command {
  const char *name;
  const char *usage;   /* the line after "usage: tabi " */
  const char *summary; /* one line */
  const char *text;    /* what it does, with examples */
  int nword;           /* how many arguments it needs */
  int nmore;           /* how many more it accepts */
  const char *word;    /* name of the first argument, for messages */
  tbi_option options[TBI_MAX_OPTIONS];
  bool loads; /* models or scenes: has TBI_PACKAGE_PATH, too */
  bool tells; /* what it noticed about them: has TBI_STRICT, TBI_VERBOSE and TBI_QUIET, too */
  int (*run)(const tbi_args *args, FILE *out);
  int (*run_raw)(int argc, char **argv); /* instead of run: reads its arguments itself */
} tbi_command;

extern const tbi_command tbi_cmd_info, tbi_cmd_check, tbi_cmd_dynamics, tbi_cmd_bench, tbi_cmd_run,
    tbi_cmd_solve, tbi_cmd_view, tbi_cmd_reproduce, tbi_cmd_compare, tbi_cmd_plot, tbi_cmd_export,
    tbi_cmd_try, tbi_cmd_walk, tbi_cmd_sweep, tbi_cmd_identify;

/* An option of a command by its number; NULL: it has none there. */
const tbi_option *tbi_command_option(const tbi_command *command, int number);

/* Reads the arguments after the command's name; false after a usage error was printed. */
bool tbi_args_parse(const tbi_command *command, int argc, char **argv, tbi_args *args);

/* Fills an error as the library does. */
void tbi_fail(tabi_error *err, tabi_status status, tabi_place place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Replaces control characters but those allowed by question marks. */
void tbi_hide_controls(char *text, size_t size, const char *allowed);

/* Prints "file:line: word: message" on stderr, the word in colour on a terminal. */
void tbi_print_diagnostic(const tabi_error *err, const char *word);
/* Prints an error and returns the exit code that goes with its status. */
int tbi_print_error(const tabi_error *err);
/* Says so and returns the exit code for it. */
int tbi_out_of_memory(void);
/* Prints "tabi: error: ..." and where to get help; returns the exit code for it. */
int tbi_usage_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Warnings of a load or findings of a check, each once. */
typedef struct tbi_findings {
  tabi_error *item;
  int32_t count, capacity;
  bool no_memory;
} tbi_findings;

void tbi_findings_add(void *findings, const tabi_error *finding); /* a tabi_warning_fn */
/* A finding of the command's own; the status is TABI_OK unless it makes a check fail. */
void tbi_findings_tell(tbi_findings *findings, tabi_severity severity, tabi_place place,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));
int32_t tbi_findings_count(const tbi_findings *findings, tabi_severity severity);
/* By severity, file and line. */
void tbi_findings_sort(tbi_findings *findings);
void tbi_findings_free(tbi_findings *findings);
/* On stderr: warnings in full, notes as their number; --verbose and --quiet ask for more and less.
 */
void tbi_print_warnings(const tbi_findings *warnings, const tbi_args *args);
/* "12 notes; --verbose shows them", "" where none is hidden. */
enum { TBI_HIDDEN_SIZE = 64 };
const char *tbi_hidden_notes(const tbi_findings *findings, const tbi_args *args,
                             char text[TBI_HIDDEN_SIZE]);

json_t *tbi_json_number(double number); /* null when it is not finite */
json_t *tbi_json_numbers(const double *number, int32_t count);
json_t *tbi_json_text(const char *text); /* NULL gives null */
/* [{severity, file, line, message}] */
json_t *tbi_json_findings(const tbi_findings *findings);
/* [{item, what, size, file, line}], of the findings that are repairs */
json_t *tbi_json_repairs(const tbi_findings *findings);

/* Prints an object, one member or one row a line, and releases it.  Returns an exit code; NULL
 * stands for memory that ran out while the object was made. */
int tbi_json_print(FILE *out, json_t *object);

/* The word after --base; false after a usage error was printed.  NULL: as the file says. */
bool tbi_base_parse(const char *command, const char *word, tabi_base *base);

/* How the options ask to load a model. */
tabi_load_def tbi_args_load_def(const tbi_args *args);
/* Loads a model; its warnings are kept.  On an error it prints that and nothing else. */
tabi_model *tbi_model_open(const char *path, tabi_load_def *def, tbi_findings *warnings, int *code);

/* Pose, and velocity if wanted, of every link that has a name: {name: {pos, quat, lin, ang}}; NULL:
 * out of memory. */
json_t *tbi_json_links(const tabi_model *model, const tabi_dynamics *dynamics, bool velocity);

/* The free joint on which the first moving tree hangs, called "base"; or TABI_NONE. */
int32_t tbi_base_joint(const tabi_model *model);
/* How a joint is called in states and results: "base", the body that floats, or its name. */
enum { TBI_KEY_SIZE = 32 };
const char *tbi_joint_key(const tabi_model *model, int32_t joint, char buffer[TBI_KEY_SIZE]);
/* What is put behind a joint's key for one of its DOF, ".rx"; "" for a joint with one. */
const char *tbi_dof_suffix(tabi_joint_type type, int32_t dof);
const char *tbi_joint_type_name(tabi_joint_type type);
const char *tbi_connection_type_name(tabi_connection_type type);
/* The parent link; TABI_WORLD: a root. */
int32_t tbi_parent_link(const tabi_model *model, int32_t link);

#endif
