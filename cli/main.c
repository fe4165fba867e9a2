/* main.c - the command `tabi`: finds the command, runs it, and puts its result on stdout. */
#include "common/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tbi_command *const commands[] = {
    &tbi_cmd_run,       &tbi_cmd_view,  &tbi_cmd_compare,  &tbi_cmd_plot,  &tbi_cmd_export,
    &tbi_cmd_info,      &tbi_cmd_check, &tbi_cmd_dynamics, &tbi_cmd_solve, &tbi_cmd_bench,
    &tbi_cmd_reproduce, &tbi_cmd_try,   &tbi_cmd_walk,     &tbi_cmd_sweep, &tbi_cmd_identify};
enum { NCOMMAND = sizeof commands / sizeof commands[0] };

static const tbi_command *find_command(const char *name) {
  for (size_t i = 0; i < NCOMMAND; ++i) {
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  }
  return NULL;
}

static int unknown_command(const char *name) {
  const char *names[NCOMMAND + 1] = {"help"};
  for (size_t i = 0; i < NCOMMAND; ++i)
    names[i + 1] = commands[i]->name;
  const char *nearest = tabi_nearest_name(name, names, NCOMMAND + 1);
  return tbi_usage_error("", "unknown command '%s'%s%s%s", name, nearest ? "; did you mean '" : "",
                         nearest ? nearest : "", nearest ? "'?" : "");
}

static void print_exit_codes(FILE *out) {
  (void)fputs(
      "\nexit codes:\n"
      "  0 success   1 internal error   2 wrong usage   3 error in an input file\n"
      "  4 the simulation diverged   5 a check or criterion failed   130, 143 interrupted\n",
      out);
}

static void print_overview(FILE *out) {
  (void)fputs("tabi simulates the contact dynamics of robots that stand, walk, slip and fall.\n\n"
              "usage: tabi COMMAND [ARGUMENTS]\n\ncommands:\n",
              out);
  for (size_t i = 0; i < NCOMMAND; ++i) {
    (void)fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
  }
  (void)fputs("  help       this text, or the help of a command: tabi help COMMAND\n\n"
              "  tabi --version prints the version.\n"
              "\nexamples:\n"
              "  tabi run scenes/stand.yaml          simulate a standing humanoid\n"
              "  tabi view scenes/walk.yaml          watch a humanoid walk, in the browser\n"
              "  tabi try robot.urdf                 put a robot on a floor; does it stand?\n"
              "  tabi walk robot.urdf                let it walk, and push it\n"
              "  tabi info robot.urdf                print links, joints, masses and limits\n"
              "  tabi check robot.urdf               find mistakes in a model\n"
              "  tabi dynamics robot.urdf > m.json   mass matrix, bias forces, link poses\n",
              out);
  print_exit_codes(out);
}

/* Words from column `left` on, in lines of at most `right` columns. */
static void print_wrapped(const char *text, int left, int right, FILE *out) {
  int column = left;
  while (*text != '\0') {
    int length = (int)strcspn(text, " ");
    if (column > left && column + 1 + length > right) {
      (void)fprintf(out, "\n%*s", left, "");
      column = left;
    }
    column += fprintf(out, "%s%.*s", column > left ? " " : "", length, text);
    text += length;
    text += strspn(text, " ");
  }
  (void)fputc('\n', out);
}

static void print_option(const tbi_option *option, FILE *out) {
  enum { LEFT = 23, RIGHT = 88 };
  char form[64];
  char help[TBI_NAMES_SIZE + 200];
  char names[TBI_NAMES_SIZE];
  const char *list = option->names ? tbi_names_list(option->names, names) : "";
  (void)snprintf(form, sizeof form, "%s%s%s", option->name, option->value ? " " : "",
                 option->value ? option->value : "");
  (void)snprintf(help, sizeof help, "%s%s%s", option->help, list[0] ? " " : "", list);
  int width = fprintf(out, "  %-20s", form);
  (void)fprintf(out, width < LEFT ? " " : "\n%*s", LEFT, "");
  print_wrapped(help, LEFT, RIGHT, out);
}

static void print_help(const tbi_command *command, FILE *out) {
  (void)fprintf(out, "usage: tabi %s\n\n%s", command->usage, command->text);
  if (command->options[0].name) (void)fputs("\noptions:\n", out);
  for (int i = 0; i < TBI_ALL_OPTIONS; ++i) {
    const tbi_option *option = tbi_command_option(command, i);
    if (option) print_option(option, out);
  }
  print_exit_codes(out);
}

static bool wants_help(int argc, char **argv) {
  for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; ++i) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
  }
  return false;
}

static int run_help(int argc, char **argv, FILE *out) {
  if (argc > 1) return tbi_usage_error("", "unexpected '%s'", argv[1]);
  if (argc == 0) {
    print_overview(out);
    return TBI_EXIT_OK;
  }
  const tbi_command *command = find_command(argv[0]);
  if (!command) return unknown_command(argv[0]);
  print_help(command, out);
  return TBI_EXIT_OK;
}

static int run(int argc, char **argv, FILE *out) {
  if (argc < 2) {
    print_overview(stderr);
    return TBI_EXIT_USAGE;
  }
  const char *name = argv[1];
  if (strcmp(name, "--version") == 0) {
    (void)fprintf(out, "tabi %d.%d.%d\n", TABI_VERSION / 10000, TABI_VERSION / 100 % 100,
                  TABI_VERSION % 100);
    return TBI_EXIT_OK;
  }
  bool help = strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
  if (help) return run_help(argc - 2, argv + 2, out);
  if (name[0] == '-') return tbi_usage_error("", "unknown option '%s'", name);
  const tbi_command *command = find_command(name);
  if (!command) return unknown_command(name);
  if (wants_help(argc - 2, argv + 2)) {
    print_help(command, out);
    return TBI_EXIT_OK;
  }
  if (command->run_raw) return command->run_raw(argc - 2, argv + 2);
  tbi_args args;
  if (!tbi_args_parse(command, argc - 2, argv + 2, &args)) return TBI_EXIT_USAGE;
  return command->run(&args, out);
}

static int cannot_write(void) {
  tabi_error err;
  tbi_fail(&err, TABI_ERR_FILE, (tabi_place){NULL, 0}, "cannot write the result: %s",
           strerror(errno));
  tbi_print_diagnostic(&err, "error");
  return TBI_EXIT_INTERNAL;
}

/* A failed assertion is a bug: one line that can be reported; the library then aborts. */
static void print_assertion(void *user, const char *condition, const char *file, int32_t line) {
  (void)user;
  (void)fprintf(stderr,
                "tabi: internal error: %s:%d: %s; please report this bug with the command line "
                "and its files\n",
                file, (int)line, condition);
}

static void leave(int number) { _exit(128 + number); }

static void watch_signals(void) {
  (void)signal(SIGINT, leave);
  (void)signal(SIGTERM, leave);
  /* a reader that goes away, or a file that may grow no more, is a failed write: it is reported */
  (void)signal(SIGPIPE, SIG_IGN);
  (void)signal(SIGXFSZ, SIG_IGN);
}

int main(int argc, char **argv) {
  static const tabi_assert_handler handler = {print_assertion, NULL};
  (void)tabi_set_assert_handler(&handler);
  watch_signals();
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return tbi_out_of_memory();
  int code = run(argc, argv, out);
  if (fclose(out) != 0) code = tbi_out_of_memory();

  if (code == TBI_EXIT_OK || code == TBI_EXIT_CHECK) {
    // names and paths come from others
    tbi_hide_controls(text, size, "\n\t");
    bool written = fwrite(text, 1, size, stdout) == size;
    if (fflush(stdout) != 0 || !written) code = cannot_write();
  }
  free(text);
  return code;
}
