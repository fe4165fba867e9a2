/* experiment_report.c - see experiment_report.h. */
#include "experiment_report.h"

#include <math.h>
#include <string.h>

static int longer(int a, size_t b) { return (int)b > a ? (int)b : a; }

/* One line of the table: a criterion, or two of the same name under both variants. */
typedef struct line {
  const tbi_criterion *of[TBI_VARIANTS]; /* or NULL */
} line;

enum { NAME, EXPECTED, MEASURED, COLUMNS = MEASURED + TBI_VARIANTS };

static const char *const titles[COLUMNS] = {"criterion", "expected", "ours", "published"};

static const tbi_criterion *any_of(const line *l) { return l->of[0] ? l->of[0] : l->of[1]; }

static bool belongs(const line *l, const tbi_criterion *c) {
  const tbi_criterion *other = any_of(l);
  return !l->of[c->variant] && strcmp(other->name, c->name) == 0 &&
         strcmp(other->expected, c->expected) == 0;
}

static int32_t make_lines(const tbi_trial *trial, line *lines) {
  int32_t count = 0;
  for (int32_t i = 0; i < trial->ncriterion; ++i) {
    const tbi_criterion *c = &trial->criterion[i];
    int32_t at = 0;
    while (at < count && !belongs(&lines[at], c))
      ++at;
    if (at == count) lines[count++] = (line){{NULL}};
    lines[at].of[c->variant] = c;
  }
  return count;
}

static const char *cell(const line *l, int column) {
  if (column == NAME) return any_of(l)->name;
  if (column == EXPECTED) return any_of(l)->expected;
  const tbi_criterion *c = l->of[column - MEASURED];
  return c ? c->measured : "";
}

static const char *verdict_of(const line *l) {
  tbi_verdict worst = TBI_PASS;
  for (int i = 0; i < TBI_VARIANTS; ++i)
    if (l->of[i] && l->of[i]->verdict > worst) worst = l->of[i]->verdict;
  return worst == TBI_PASS ? "ok" : worst == TBI_DIFFERS ? "differs" : "FAILED";
}

static void print_lines(const line *lines, int32_t count, FILE *out) {
  int width[COLUMNS];
  for (int k = 0; k < COLUMNS; ++k) {
    width[k] = (int)strlen(titles[k]);
    for (int32_t i = 0; i < count; ++i)
      width[k] = longer(width[k], strlen(cell(&lines[i], k)));
  }
  const int order[COLUMNS] = {NAME, EXPECTED, MEASURED + TBI_PUBLISHED, MEASURED + TBI_OURS};
  for (int32_t i = -1; i < count; ++i) {
    for (int k = 0; k < COLUMNS; ++k)
      (void)fprintf(out, "  %-*s", width[order[k]],
                    i < 0 ? titles[order[k]] : cell(&lines[i], order[k]));
    (void)fprintf(out, "  %s\n", i < 0 ? "" : verdict_of(&lines[i]));
  }
}

static bool is_first(const tbi_trial *trial, int32_t index) {
  const char *reason = trial->criterion[index].reason;
  for (int32_t i = 0; i < index; ++i)
    if (trial->criterion[i].reason && strcmp(trial->criterion[i].reason, reason) == 0) return false;
  return true;
}

/* each reason once */
static void print_reasons(const tbi_trial *trial, FILE *out) {
  for (int32_t i = 0; i < trial->ncriterion; ++i) {
    const char *reason = trial->criterion[i].reason;
    if (reason && is_first(trial, i)) (void)fprintf(out, "  differs: %s\n", reason);
  }
}

static const char *summary_of(const tbi_trial *trial) {
  if (!tbi_trial_passes(trial)) return "NOT REPRODUCED";
  if (trial->experiment->own) return "not in the paper";
  return tbi_trial_differs(trial) > 0 ? "differs" : "reproduced";
}

void tbi_print_trial(const tbi_trial *trial, FILE *out) {
  const tbi_experiment *e = trial->experiment;
  (void)fprintf(out, "%s  (%s%s)\n  The paper: %s\n", e->id, e->paper,
                trial->quick ? ", quick" : "", e->shows);
  line lines[TBI_MAX_CRITERIA];
  print_lines(lines, make_lines(trial, lines), out);
  print_reasons(trial, out);
  for (int32_t i = 0; i < trial->nfile; ++i)
    (void)fprintf(out, "  %s %s\n", i == 0 ? "wrote" : "     ", trial->file[i]);
  (void)fprintf(out, "  %s, %.1f s\n\n", summary_of(trial), trial->seconds);
}

void tbi_print_summary(const tbi_trial *trials, int32_t count, FILE *out) {
  int32_t reproduced = 0, differ = 0, failed = 0;
  for (int32_t i = 0; i < count; ++i) {
    const tbi_trial *t = &trials[i];
    int32_t differs = tbi_trial_differs(t), met = 0;
    for (int32_t c = 0; c < t->ncriterion; ++c)
      met += t->criterion[c].verdict == TBI_PASS;
    failed += !tbi_trial_passes(t);
    differ += tbi_trial_passes(t) && !t->experiment->own && differs > 0;
    reproduced += tbi_trial_passes(t) && !t->experiment->own && differs == 0;
    (void)fprintf(out, "%-20s %-20s %2d of %2d criteria met, %2d differ %7.1f s  %s\n",
                  t->experiment->id, t->experiment->paper, met, t->ncriterion, differs, t->seconds,
                  summary_of(t));
  }
  (void)fprintf(out, "%d reproduced, %d differ, %d failed\n", reproduced, differ, failed);
}

static json_t *criterion_object(const tbi_criterion *c) {
  static const char *const variants[] = {[TBI_OURS] = "ours", [TBI_PUBLISHED] = "published"};
  static const char *const verdicts[] = {
      [TBI_PASS] = "pass", [TBI_DIFFERS] = "differs", [TBI_FAIL] = "fail"};
  json_t *measured = NULL;
  if (c->is_number) {
    measured = isfinite(c->number) ? json_real(c->number) : json_null();
  } else {
    measured = json_string(c->measured);
  }
  return json_pack("{s:s, s:s, s:s, s:s, s:o, s:b, s:s, s:s?}", "name", c->name, "unit", c->unit,
                   "variant", variants[c->variant], "expected", c->expected, "measured", measured,
                   "pass", c->verdict != TBI_FAIL, "verdict", verdicts[c->verdict], "reason",
                   c->reason);
}

static json_t *trial_object(const tbi_trial *t) {
  json_t *criteria = json_array(), *files = json_array();
  for (int32_t i = 0; i < t->ncriterion; ++i)
    (void)json_array_append_new(criteria, criterion_object(&t->criterion[i]));
  for (int32_t i = 0; i < t->nfile; ++i)
    (void)json_array_append_new(files, json_string(t->file[i]));
  const tbi_experiment *e = t->experiment;
  return json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:b, s:i, s:f, s:o, s:o}", "id", e->id, "paper",
                   e->paper, "shows", e->shows, "reconstructed",
                   e->reconstructed ? e->reconstructed : "", "own", e->own, "quick", t->quick,
                   "pass", tbi_trial_passes(t), "differs", (int)tbi_trial_differs(t), "seconds",
                   t->seconds, "criteria", criteria, "files", files);
}

json_t *tbi_json_trials(const tbi_trial *trials, int32_t count) {
  json_t *list = json_array();
  for (int32_t i = 0; i < count; ++i)
    if (json_array_append_new(list, trial_object(&trials[i])) != 0) {
      json_decref(list);
      return NULL;
    }
  return json_pack("{s:o}", "experiments", list);
}
