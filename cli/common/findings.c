/* findings.c - what was noticed while a file was read or a model checked: kept, sorted, printed. */
#include "common/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static bool same_finding(const tabi_error *a, const tabi_error *b) {
  return a->line == b->line && strcmp(a->message, b->message) == 0 && strcmp(a->file, b->file) == 0;
}

void tbi_findings_add(void *findings, const tabi_error *finding) {
  tbi_findings *f = findings;
  for (int32_t i = 0; i < f->count; ++i) {
    if (same_finding(&f->item[i], finding)) return;
  }
  if (f->count == f->capacity) {
    int32_t capacity = f->capacity ? 2 * f->capacity : 16;
    tabi_error *item = realloc(f->item, (size_t)capacity * sizeof *item);
    if (!item) {
      f->no_memory = true;
      return;
    }
    f->item = item;
    f->capacity = capacity;
  }
  f->item[f->count++] = *finding;
}

void tbi_findings_tell(tbi_findings *findings, tabi_severity severity, tabi_place place,
                       const char *format, ...) {
  tabi_error told = {.status = TABI_OK, .severity = severity, .line = place.line};
  if (place.file) (void)snprintf(told.file, sizeof told.file, "%s", place.file);
  va_list args;
  va_start(args, format);
  (void)vsnprintf(told.message, sizeof told.message, format, args);
  va_end(args);
  tbi_findings_add(findings, &told);
}

int32_t tbi_findings_count(const tbi_findings *findings, tabi_severity severity) {
  int32_t count = 0;
  for (int32_t i = 0; i < findings->count; ++i)
    count += findings->item[i].severity == severity;
  return count;
}

static int compare(const void *a, const void *b) {
  const tabi_error *x = a;
  const tabi_error *y = b;
  if (x->severity != y->severity) return x->severity < y->severity ? -1 : 1;
  int file = strcmp(x->file, y->file);
  if (file != 0) return file;
  if (x->line != y->line) return x->line < y->line ? -1 : 1;
  return strcmp(x->message, y->message);
}

void tbi_findings_sort(tbi_findings *findings) {
  if (findings->count > 0)
    qsort(findings->item, (size_t)findings->count, sizeof *findings->item, compare);
}

const char *tbi_hidden_notes(const tbi_findings *findings, const tbi_args *args,
                             char text[TBI_HIDDEN_SIZE]) {
  int32_t notes = tbi_findings_count(findings, TABI_SEVERITY_NOTE);
  text[0] = '\0';
  if (notes > 0 && !args->value[TBI_VERBOSE] && !args->value[TBI_QUIET]) {
    (void)snprintf(text, TBI_HIDDEN_SIZE, "%d note%s; --verbose shows %s", notes,
                   notes == 1 ? "" : "s", notes == 1 ? "it" : "them");
  }
  return text;
}

void tbi_print_warnings(const tbi_findings *warnings, const tbi_args *args) {
  if (args->value[TBI_QUIET]) return;
  for (int32_t i = 0; i < warnings->count; ++i) {
    const tabi_error *w = &warnings->item[i];
    if (w->severity != TABI_SEVERITY_NOTE || args->value[TBI_VERBOSE])
      tbi_print_diagnostic(w, tabi_severity_text(w->severity));
  }
  char hidden[TBI_HIDDEN_SIZE];
  if (tbi_hidden_notes(warnings, args, hidden)[0] != '\0')
    (void)fprintf(stderr, "tabi: %s\n", hidden);
}

void tbi_findings_free(tbi_findings *findings) {
  free(findings->item);
  *findings = (tbi_findings){0};
}

/* Adds file and line to an object and the object to an array; false: out of memory. */
static bool append_placed(json_t *array, json_t *object, const tabi_error *finding) {
  int bad = json_object_set_new(object, "file", tbi_json_text(finding->file));
  bad |= json_object_set_new(object, "line", json_integer(finding->line));
  bad |= json_array_append_new(array, object);
  return bad == 0;
}

json_t *tbi_json_findings(const tbi_findings *findings) {
  json_t *array = json_array();
  for (int32_t i = 0; i < findings->count; ++i) {
    const tabi_error *f = &findings->item[i];
    json_t *object = json_object();
    const char *severity = tabi_severity_text(f->severity);
    int bad = json_object_set_new(object, "severity", json_string(severity));
    bad |= json_object_set_new(object, "message", tbi_json_text(f->message));
    if (append_placed(array, object, f) && bad == 0) continue;
    json_decref(array);
    return NULL;
  }
  return array;
}

json_t *tbi_json_repairs(const tbi_findings *findings) {
  json_t *array = json_array();
  for (int32_t i = 0; i < findings->count; ++i) {
    const tabi_error *f = &findings->item[i];
    if (f->repair.item[0] == '\0') continue;
    json_t *object = json_object();
    int bad = json_object_set_new(object, "item", tbi_json_text(f->repair.item));
    bad |= json_object_set_new(object, "what", tbi_json_text(f->repair.what));
    bad |= json_object_set_new(object, "size", tbi_json_number(f->repair.size));
    if (append_placed(array, object, f) && bad == 0) continue;
    json_decref(array);
    return NULL;
  }
  return array;
}
