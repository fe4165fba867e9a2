/* args.c - options and words of a command line, from the command's own table of options. */
#include "common/cli.h"

#include <ctype.h>
#include <string.h>

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Upper and lower case count as the same letter. */
static bool same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

/* Number of letters to insert, delete, replace or swap with a neighbour to get from a to b.
 * Names are short; what is longer than the table is far from everything. */
static size_t edit_distance(const char *a, const char *b) {
  enum { LONGEST = 63 };
  size_t na = strlen(a);
  size_t nb = strlen(b);
  if (na > LONGEST || nb > LONGEST) return LONGEST;
  size_t d[LONGEST + 1][LONGEST + 1];
  for (size_t i = 0; i <= na; ++i)
    d[i][0] = i;
  for (size_t j = 0; j <= nb; ++j)
    d[0][j] = j;
  for (size_t i = 1; i <= na; ++i) {
    for (size_t j = 1; j <= nb; ++j) {
      size_t replace = d[i - 1][j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      d[i][j] = smaller(replace, 1 + smaller(d[i - 1][j], d[i][j - 1]));
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[na][nb];
}

const char *tbi_nearest(const char *name, const char *const *names, size_t count) {
  const char *nearest = NULL;
  /* a third of the letters may be wrong, and one in short names */
  size_t best = strlen(name) / 3 + 2;
  for (size_t i = 0; i < count; ++i) {
    size_t distance = edit_distance(name, names[i]);
    if (distance < best && distance < strlen(names[i])) {
      best = distance;
      nearest = names[i];
    }
  }
  return nearest;
}

static bool unknown_option(const tbi_command *command, const char *name) {
  const char *names[TBI_MAX_OPTIONS + 1] = {"--help"};
  size_t count = 1;
  for (int i = 0; i < TBI_MAX_OPTIONS && command->options[i].name; ++i) {
    names[count++] = command->options[i].name;
  }
  const char *nearest = tbi_nearest(name, names, count);
  tbi_usage_error(command->name, "unknown option '%s'%s%s%s", name,
                  nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  return false;
}

/* The option an argument names, "--base" or "--base=free", or -1. */
static int find_option(const tbi_command *command, const char *argument, size_t length) {
  for (int i = 0; i < TBI_MAX_OPTIONS && command->options[i].name; ++i) {
    const char *name = command->options[i].name;
    if (strlen(name) == length && memcmp(name, argument, length) == 0) return i;
  }
  return -1;
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

  const tbi_option *o = &command->options[option];
  if (args->value[option] && !o->many) {
    tbi_usage_error(command->name, "%s is given twice", o->name);
    return false;
  }
  if (!o->value) {
    if (equals) tbi_usage_error(command->name, "%s takes no value", o->name);
    args->value[option] = "";
    return !equals;
  }
  if (!equals && *at + 1 == argc) {
    tbi_usage_error(command->name, "%s needs a value: %s %s", o->name, o->name, o->value);
    return false;
  }
  args->value[option] = equals ? equals + 1 : argv[++*at];
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
