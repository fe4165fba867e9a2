/* experiment_report.c - see experiment_report.h. */
#include "experiment_report.h"

#include <math.h>
#include <string.h>

static int longer(int a, size_t b) { return (int)b > a ? (int)b : a; }

void tbi_print_trial(const tbi_trial *trial, FILE *out) {
  const tbi_experiment *e = trial->experiment;
  (void)fprintf(out, "%s  (%s%s)\n  The paper: %s\n", e->id, e->paper,
                trial->quick ? ", quick" : "", e->shows);
  int name = (int)strlen("criterion"), expected = (int)strlen("expected");
  int measured = (int)strlen("measured");
  for (int32_t i = 0; i < trial->ncriterion; ++i) {
    name = longer(name, strlen(trial->criterion[i].name));
    expected = longer(expected, strlen(trial->criterion[i].expected));
    measured = longer(measured, strlen(trial->criterion[i].measured));
  }
  (void)fprintf(out, "  %-*s  %-*s  %-*s\n", name, "criterion", expected, "expected", measured,
                "measured");
  for (int32_t i = 0; i < trial->ncriterion; ++i) {
    const tbi_criterion *c = &trial->criterion[i];
    (void)fprintf(out, "  %-*s  %-*s  %-*s  %s\n", name, c->name, expected, c->expected, measured,
                  c->measured, c->pass ? "ok" : "FAILED");
  }
  for (int32_t i = 0; i < trial->nfile; ++i)
    (void)fprintf(out, "  %s %s\n", i == 0 ? "wrote" : "     ", trial->file[i]);
  (void)fprintf(out, "  %s, %.1f s\n\n", tbi_trial_passes(trial) ? "reproduced" : "NOT REPRODUCED",
                trial->seconds);
}

void tbi_print_summary(const tbi_trial *trials, int32_t count, FILE *out) {
  int32_t passed = 0;
  for (int32_t i = 0; i < count; ++i) {
    const tbi_trial *t = &trials[i];
    int32_t met = 0;
    for (int32_t c = 0; c < t->ncriterion; ++c)
      met += t->criterion[c].pass;
    passed += tbi_trial_passes(t);
    (void)fprintf(out, "%-20s %-20s %2d of %2d criteria met %7.1f s  %s\n", t->experiment->id,
                  t->experiment->paper, met, t->ncriterion, t->seconds,
                  tbi_trial_passes(t) ? "reproduced" : "NOT REPRODUCED");
  }
  (void)fprintf(out, "%d of %d experiments reproduced\n", passed, count);
}

static json_t *criterion_object(const tbi_criterion *c) {
  json_t *measured = NULL;
  if (c->is_number) {
    measured = isfinite(c->number) ? json_real(c->number) : json_null();
  } else {
    measured = json_string(c->measured);
  }
  return json_pack("{s:s, s:s, s:s, s:o, s:b}", "name", c->name, "unit", c->unit, "expected",
                   c->expected, "measured", measured, "pass", c->pass);
}

static json_t *trial_object(const tbi_trial *t) {
  json_t *criteria = json_array(), *files = json_array();
  for (int32_t i = 0; i < t->ncriterion; ++i)
    (void)json_array_append_new(criteria, criterion_object(&t->criterion[i]));
  for (int32_t i = 0; i < t->nfile; ++i)
    (void)json_array_append_new(files, json_string(t->file[i]));
  return json_pack("{s:s, s:s, s:s, s:b, s:b, s:f, s:o, s:o}", "id", t->experiment->id, "paper",
                   t->experiment->paper, "shows", t->experiment->shows, "quick", t->quick, "pass",
                   tbi_trial_passes(t), "seconds", t->seconds, "criteria", criteria, "files",
                   files);
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
