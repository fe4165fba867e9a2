/* report.c - diagnostics on stderr, and JSON that a person can read too. */
#include "common/cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tbi_fail(tabi_error *err, tabi_status status, tabi_place place, const char *format, ...) {
  *err = (tabi_error){.status = status, .line = place.line};
  if (place.file) (void)snprintf(err->file, sizeof err->file, "%s", place.file);
  va_list args;
  va_start(args, format);
  (void)vsnprintf(err->message, sizeof err->message, format, args);
  va_end(args);
}

static bool colour_wanted(int file) {
  const char *no_color = getenv("NO_COLOR");
  const char *term = getenv("TERM");
  if (no_color && no_color[0] != '\0') return false;
  return isatty(file) && term && strcmp(term, "dumb") != 0;
}

/* Names come from files: what would move the cursor of a terminal is hidden. */
void tbi_hide_controls(char *text, size_t size, const char *allowed) {
  for (size_t i = 0; i < size; ++i) {
    unsigned char c = (unsigned char)text[i];
    unsigned char next = i + 1 < size ? (unsigned char)text[i + 1] : 0;
    if ((c < ' ' && !(c != '\0' && strchr(allowed, c))) || c == 0x7f) text[i] = '?';
    // the control characters of ISO 8859, in UTF-8
    if (c == 0xc2 && next >= 0x80 && next <= 0x9f) text[i] = text[i + 1] = '?';
  }
}

void tbi_print_diagnostic(const tabi_error *err, const char *word) {
  tabi_error clean = *err;
  tbi_hide_controls(clean.file, strlen(clean.file), "");
  tbi_hide_controls(clean.message, strlen(clean.message), "");
  char coloured[64];
  if (colour_wanted(STDERR_FILENO)) {
    const char *colour = strcmp(word, "error") == 0  ? "31"
                         : strcmp(word, "note") == 0 ? "36"
                                                     : "35";
    (void)snprintf(coloured, sizeof coloured, "\033[1;%sm%s\033[0m", colour, word);
    word = coloured;
  }
  char text[sizeof clean.file + sizeof clean.message + sizeof coloured + 16];
  (void)tabi_error_text(&clean, word, text, sizeof text);
  (void)fprintf(stderr, "%s\n", text);
}

int tbi_print_error(const tabi_error *err) {
  tbi_print_diagnostic(err, "error");
  return err->status == TABI_ERR_MEMORY ? TBI_EXIT_INTERNAL : TBI_EXIT_INPUT;
}

int tbi_out_of_memory(void) {
  tabi_error err;
  tbi_fail(&err, TABI_ERR_MEMORY, (tabi_place){NULL, 0}, "out of memory");
  return tbi_print_error(&err);
}

int tbi_usage_error(const char *command, const char *format, ...) {
  tabi_error err = {.status = TABI_ERR_ARGUMENT};
  va_list args;
  va_start(args, format);
  (void)vsnprintf(err.message, sizeof err.message, format, args);
  va_end(args);
  tbi_print_diagnostic(&err, "error");
  (void)fprintf(stderr, "try: tabi %s%s--help\n", command, command[0] ? " " : "");
  return TBI_EXIT_USAGE;
}

json_t *tbi_json_number(double number) {
  return isfinite(number) ? json_real(number) : json_null();
}

json_t *tbi_json_numbers(const double *number, int32_t count) {
  json_t *array = json_array();
  for (int32_t i = 0; i < count; ++i) {
    if (json_array_append_new(array, tbi_json_number(number[i])) != 0) {
      json_decref(array);
      return NULL;
    }
  }
  return array;
}

json_t *tbi_json_text(const char *text) {
  if (!text) return json_null();
  json_t *string = json_string(text);
  if (string) return string;

  /* a path need not be UTF-8, but JSON must */
  char ascii[sizeof((tabi_error *)0)->message];
  (void)snprintf(ascii, sizeof ascii, "%s", text);
  for (char *c = ascii; *c; ++c) {
    if ((unsigned char)*c > 0x7e) *c = '?';
  }
  return json_string(ascii);
}

enum { FLAGS = JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY };

/* Prints a member's value: an array or object of further ones as one row a line. */
static int print_rows(FILE *out, json_t *value) {
  bool is_array = json_is_array(value);
  int bad = fprintf(out, "%s\n", is_array ? "[" : "{") < 0;
  size_t count = is_array ? json_array_size(value) : json_object_size(value);
  void *iterator = is_array ? NULL : json_object_iter(value);
  for (size_t i = 0; i < count; ++i) {
    json_t *row = is_array ? json_array_get(value, i) : json_object_iter_value(iterator);
    (void)fputs("    ", out);
    if (!is_array) {
      json_t *key = json_string(json_object_iter_key(iterator));
      bad |= json_dumpf(key, out, FLAGS);
      (void)fputs(": ", out);
      json_decref(key);
      iterator = json_object_iter_next(value, iterator);
    }
    bad |= json_dumpf(row, out, FLAGS);
    (void)fputs(i + 1 < count ? ",\n" : "\n", out);
  }
  (void)fputs(is_array ? "  ]" : "  }", out);
  return bad;
}

static bool has_rows(json_t *value) {
  if (json_is_array(value)) {
    json_t *first = json_array_get(value, 0);
    return json_is_array(first) || json_is_object(first);
  }
  void *iterator = json_object_iter(value);
  return iterator && json_is_object(json_object_iter_value(iterator));
}

int tbi_json_print(FILE *out, json_t *object) {
  int bad = !object;
  (void)fputs("{\n", out);
  for (void *i = json_object_iter(object); i;) {
    json_t *value = json_object_iter_value(i);
    bad |= fprintf(out, "  \"%s\": ", json_object_iter_key(i)) < 0;
    bad |= has_rows(value) ? print_rows(out, value) : json_dumpf(value, out, FLAGS);
    i = json_object_iter_next(object, i);
    (void)fputs(i ? ",\n" : "\n", out);
  }
  (void)fputs("}\n", out);
  json_decref(object);
  return bad ? tbi_out_of_memory() : TBI_EXIT_OK;
}
