/* criteria.c - criteria of an experiment, and the names of its files. */
#include "experiment.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void tbi_may_differ(tbi_trial *trial, const char *published, const char *ours) {
  trial->reason[TBI_PUBLISHED] = published;
  trial->reason[TBI_OURS] = ours;
}

static tbi_criterion *add(tbi_trial *trial, const char *name, const char *unit) {
  assert(trial->ncriterion < TBI_MAX_CRITERIA); /* none may be dropped */
  tbi_criterion *c = &trial->criterion[trial->ncriterion++];
  *c = (tbi_criterion){0};
  (void)snprintf(c->name, sizeof c->name, "%s%s%s", name, trial->method ? ", " : "",
                 trial->method ? trial->method : "");
  (void)snprintf(c->unit, sizeof c->unit, "%s", unit);
  c->variant = trial->variant;
  c->reason = trial->reason[trial->variant];
  return c;
}

static void judge(tbi_criterion *c, bool pass) {
  c->verdict = pass ? TBI_PASS : c->reason ? TBI_DIFFERS : TBI_FAIL;
  if (pass) c->reason = NULL;
}

static void measure(tbi_criterion *c, const char *unit, double measured, bool pass) {
  c->number = measured;
  c->is_number = true;
  judge(c, pass);
  (void)snprintf(c->measured, sizeof c->measured, "%.4g%s%s", measured, unit[0] ? " " : "", unit);
}

void tbi_expect_within(tbi_trial *trial, const char *name, const char *unit, double measured,
                       double low, double high) {
  tbi_criterion *c = add(trial, name, unit);
  (void)snprintf(c->expected, sizeof c->expected, "%.4g to %.4g%s%s", low, high, unit[0] ? " " : "",
                 unit);
  measure(c, unit, measured, measured >= low && measured <= high);
}

void tbi_expect_below(tbi_trial *trial, const char *name, const char *unit, double measured,
                      double limit) {
  tbi_criterion *c = add(trial, name, unit);
  (void)snprintf(c->expected, sizeof c->expected, "< %.4g%s%s", limit, unit[0] ? " " : "", unit);
  measure(c, unit, measured, measured < limit);
}

void tbi_expect_above(tbi_trial *trial, const char *name, const char *unit, double measured,
                      double limit) {
  tbi_criterion *c = add(trial, name, unit);
  (void)snprintf(c->expected, sizeof c->expected, "> %.4g%s%s", limit, unit[0] ? " " : "", unit);
  measure(c, unit, measured, measured > limit);
}

void tbi_expect_word(tbi_trial *trial, const char *name, const char *expected, const char *measured,
                     bool pass) {
  tbi_criterion *c = add(trial, name, "");
  (void)snprintf(c->expected, sizeof c->expected, "%s", expected);
  (void)snprintf(c->measured, sizeof c->measured, "%s", measured);
  judge(c, pass);
}

static int32_t count_of(const tbi_trial *trial, tbi_verdict verdict) {
  int32_t count = 0;
  for (int32_t i = 0; i < trial->ncriterion; ++i)
    count += trial->criterion[i].verdict == verdict;
  return count;
}

bool tbi_trial_passes(const tbi_trial *trial) {
  return trial->ncriterion > 0 && count_of(trial, TBI_FAIL) == 0;
}

int32_t tbi_trial_differs(const tbi_trial *trial) { return count_of(trial, TBI_DIFFERS); }

void tbi_trial_progress(const tbi_trial *trial, const char *what) {
  if (!isatty(STDERR_FILENO)) return;
  if (what[0] == '\0') {
    (void)fputs("\r\033[K", stderr);
  } else {
    (void)fprintf(stderr, "\r\033[K%s: %s", trial->experiment->id, what);
  }
  (void)fflush(stderr);
}

const char *tbi_trial_file(tbi_trial *trial, const char *ending) {
  if (trial->nfile == TBI_MAX_FILES) return NULL;
  char name[64];
  (void)snprintf(name, sizeof name, "%s", trial->experiment->id);
  char *slash = strchr(name, '/');
  if (slash) *slash = '-';
  char *path = trial->file[trial->nfile++];
  (void)snprintf(path, TBI_PATH_SIZE, "%s/%s%s", trial->folder, name, ending);
  return path;
}
