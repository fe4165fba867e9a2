/* args.c - options and words of a command line, from the command's own table of options. */
#include "common/cli.h"

#include <stdlib.h>
#include <string.h>

#define PACKAGE_LIST "ROS_PACKAGE_PATH"

// clang-format off
static const tbi_option shared_options[] = {
    {"--package-path", "DIR[:DIR]",
     "folders in which package:// is looked for and from which models may read, before those of "
     PACKAGE_LIST, false, NULL},
    {"--strict", NULL, "refuse what would be repaired with a warning", false, NULL},
    {"--verbose", NULL, "print notes, too: what is ignored without consequence", false, NULL},
    {"--quiet", NULL, "print neither warnings nor notes, only errors", false, NULL},
};
// clang-format on

const tbi_option *tbi_command_option(const tbi_command *command, int number) {
  if (number >= TBI_MAX_OPTIONS) {
    bool has = number == TBI_PACKAGE_PATH ? command->loads : command->tells;
    return has ? &shared_options[number - TBI_MAX_OPTIONS] : NULL;
  }
  const tbi_option *option = &command->options[number];
  return option->name ? option : NULL;
}

static bool unknown_option(const tbi_command *command, const char *name) {
  const char *names[TBI_ALL_OPTIONS + 1] = {"--help"};
  size_t count = 1;
  for (int i = 0; i < TBI_ALL_OPTIONS; ++i) {
    const tbi_option *option = tbi_command_option(command, i);
    if (option) names[count++] = option->name;
  }
  const char *nearest = tabi_nearest_name(name, names, count);
  tbi_usage_error(command->name, "unknown option '%s'%s%s%s", name,
                  nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  return false;
}

/* The option an argument names, "--base" or "--base=free", or -1. */
static int find_option(const tbi_command *command, const char *argument, size_t length) {
  for (int i = 0; i < TBI_ALL_OPTIONS; ++i) {
    const tbi_option *option = tbi_command_option(command, i);
    if (!option || strlen(option->name) != length) continue;
    if (memcmp(option->name, argument, length) == 0) return i;
  }
  return -1;
}

/* The value of an option that takes one, "--base free" or "--base=free"; NULL after an error. */
static const char *take_value(const tbi_command *command, const tbi_option *o, int argc,
                              char **argv, int *at) {
  char *equals = strchr(argv[*at], '=');
  if (equals) return equals + 1;
  if (*at + 1 < argc) return argv[++*at];
  tbi_usage_error(command->name, "%s needs a value: %s %s", o->name, o->name, o->value);
  return NULL;
}

/* Every load of the command finds them there, whatever it loads, and however often. */
static bool add_packages(const char *folders) {
  const char *before = getenv(PACKAGE_LIST);
  size_t size = strlen(folders) + (before ? strlen(before) : 0) + 2;
  char *list = malloc(size);
  if (!list) return false;
  (void)snprintf(list, size, "%s%s%s", folders, before ? ":" : "", before ? before : "");
  bool set = setenv(PACKAGE_LIST, list, 1) == 0;
  free(list);
  return set;
}

/* Reads the option at argv[*at] and steps over its value. */
static bool parse_option(const tbi_command *command, int argc, char **argv, int *at,
                         tbi_args *args) {
  char *argument = argv[*at];
  char *equals = strchr(argument, '=');
  size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
  int option = find_option(command, argument, length);
  if (option < 0) {
    if (equals) *equals = '\0';
    return unknown_option(command, argument);
  }

  const tbi_option *o = tbi_command_option(command, option);
  if (args->value[option] && !o->many) {
    tbi_usage_error(command->name, "%s is given twice", o->name);
    return false;
  }
  if (!o->value) {
    if (equals) tbi_usage_error(command->name, "%s takes no value", o->name);
    args->value[option] = "";
    return !equals;
  }
  args->value[option] = take_value(command, o, argc, argv, at);
  if (!args->value[option]) return false;
  if (option == TBI_PACKAGE_PATH && !add_packages(args->value[option])) {
    (void)tbi_out_of_memory();
    return false;
  }
  if (!o->many) return true;
  if (args->nmany == TBI_MAX_MANY) {
    tbi_usage_error(command->name, "%s is given more than %d times", o->name, TBI_MAX_MANY);
    return false;
  }
  args->many[args->nmany++] = args->value[option];
  return true;
}

bool tbi_args_parse(const tbi_command *command, int argc, char **argv, tbi_args *args) {
  *args = (tbi_args){0};
  bool only_words = false;
  for (int i = 0; i < argc; ++i) {
    if (!only_words && strcmp(argv[i], "--") == 0) {
      only_words = true;
    } else if (!only_words && argv[i][0] == '-' && argv[i][1] != '\0') {
      if (!parse_option(command, argc, argv, &i, args)) return false;
    } else if (args->nword == command->nword + command->nmore) {
      tbi_usage_error(command->name, "unexpected '%s'", argv[i]);
      return false;
    } else {
      args->word[args->nword++] = argv[i];
    }
  }
  if (args->nword < command->nword) {
    tbi_usage_error(command->name, "%s is missing", command->word);
    return false;
  }
  if (args->value[TBI_VERBOSE] && args->value[TBI_QUIET]) {
    tbi_usage_error(command->name, "--verbose and --quiet contradict each other");
    return false;
  }
  return true;
}

static const char *contact_name(int32_t i) { return tabi_contact_name((tabi_contact_kind)i); }
static const char *integrator_name(int32_t i) { return tabi_integrator_name((tabi_integrator)i); }

const tbi_names tbi_contact_names = {contact_name, TABI_CONTACT_COUNT};
const tbi_names tbi_integrator_names = {integrator_name, TABI_INTEGRATOR_COUNT};

const char *tbi_names_list(const tbi_names *names, char text[TBI_NAMES_SIZE]) {
  size_t used = 0;
  text[0] = '\0';
  for (int32_t i = 0; i < names->count; ++i) {
    int n = snprintf(text + used, TBI_NAMES_SIZE - used, "%s%s", i > 0 ? ", " : "", names->name(i));
    if (n > 0 && (size_t)n < TBI_NAMES_SIZE - used) used += (size_t)n;
  }
  return text;
}
