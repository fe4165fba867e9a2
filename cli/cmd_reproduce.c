/* cmd_reproduce.c - `tabi reproduce`: the experiments in reproduce/, run and checked. */
#include "common/cli.h"
#include "experiment_report.h"
#include "reproduce.h"

#include <stdlib.h>
#include <string.h>

enum { LIST, QUICK, OUT, JSON };

static int list_experiments(FILE *out) {
  for (int32_t i = 0; i < tbi_nexperiment; ++i) {
    const tbi_experiment *e = tbi_experiments[i];
    (void)fprintf(out, "%-20s %-20s %s\n", e->id, e->paper, e->shows);
  }
  return TBI_EXIT_OK;
}

static int unknown_experiment(const char *id) {
  const char *names[64] = {"all"};
  size_t count = 1;
  for (int32_t i = 0; i < tbi_nexperiment && count < 64; ++i)
    names[count++] = tbi_experiments[i]->id;
  const char *nearest = tabi_nearest_name(id, names, count);
  return tbi_usage_error("reproduce", "no experiment '%s'%s%s%s", id,
                         nearest ? "; did you mean '" : "", nearest ? nearest : "",
                         nearest ? "'?" : "; --list shows them");
}

/* Whether an experiment was asked for: its id, its paper ("p4") or all. */
static bool wants(const tbi_args *args, const tbi_experiment *experiment) {
  for (int i = 0; i < args->nword; ++i) {
    const char *word = args->word[i];
    size_t length = strlen(word);
    if (strcmp(word, "all") == 0 || strcmp(word, experiment->id) == 0) return true;
    if (strncmp(word, experiment->id, length) == 0 && experiment->id[length] == '/') return true;
  }
  return false;
}

static bool is_known(const char *word) {
  tbi_args one = {.word = {word}, .nword = 1};
  for (int32_t i = 0; i < tbi_nexperiment; ++i)
    if (wants(&one, tbi_experiments[i])) return true;
  return false;
}

static int print_all(const tbi_trial *trials, int32_t count, bool json, FILE *out) {
  bool pass = true, no_gnuplot = false;
  for (int32_t i = 0; i < count; ++i) {
    pass = pass && tbi_trial_passes(&trials[i]);
    no_gnuplot = no_gnuplot || trials[i].no_gnuplot;
  }
  if (no_gnuplot) {
    (void)fputs("tabi: note: no figures were drawn, for want of gnuplot (Debian: gnuplot-nox)\n",
                stderr);
  }
  if (json) {
    int code = tbi_json_print(out, tbi_json_trials(trials, count));
    if (code != TBI_EXIT_OK) return code;
  } else {
    for (int32_t i = 0; i < count; ++i)
      tbi_print_trial(&trials[i], out);
    if (count > 1) tbi_print_summary(trials, count, out);
  }
  return pass ? TBI_EXIT_OK : TBI_EXIT_CHECK;
}

static int run_wanted(const tbi_args *args, FILE *out) {
  tbi_trial *trials = calloc((size_t)tbi_nexperiment, sizeof *trials);
  if (!trials) return tbi_out_of_memory();
  const char *folder = args->value[OUT] ? args->value[OUT] : "reproduction";
  int32_t count = 0;
  int code = TBI_EXIT_OK;
  for (int32_t i = 0; i < tbi_nexperiment && code == TBI_EXIT_OK; ++i) {
    if (!wants(args, tbi_experiments[i])) continue;
    tbi_trial *trial = &trials[count++];
    trial->experiment = tbi_experiments[i];
    trial->quick = args->value[QUICK] != NULL;
    trial->folder = folder;
    tabi_error err = {0};
    if (tbi_trial_run(trial, &err) != TABI_OK) code = tbi_print_error(&err);
  }
  if (code == TBI_EXIT_OK) code = print_all(trials, count, args->value[JSON] != NULL, out);
  free(trials);
  return code;
}

static int run_command(const tbi_args *args, FILE *out) {
  for (int i = 0; i < args->nword; ++i)
    if (!is_known(args->word[i])) return unknown_experiment(args->word[i]);
  if (args->value[LIST]) return list_experiments(out);
  if (args->nword == 0) {
    return tbi_usage_error("reproduce", "no experiment is named; --list shows them, all means all");
  }
  return run_wanted(args, out);
}

const tbi_command tbi_cmd_reproduce = {
    .name = "reproduce",
    .usage = "reproduce [--list | ID ... | all] [--quick] [--out DIR] [--json]",
    .summary = "repeat the papers' experiments and check their results",
    .text =
        "Repeats experiments of the papers that the contact methods come from, draws their\n"
        "figures (SVG, needs gnuplot), writes the data (CSV), and prints expected values and\n"
        "those measured under the published algorithm and under tabi's own.  A claim of the paper\n"
        "that one of them misses for a known reason differs; exits with 5 if any other criterion\n"
        "is not met.\n"
        "docs/reproduction.md describes each experiment.\n"
        "\n"
        "examples:\n"
        "  tabi reproduce --list\n"
        "  tabi reproduce p4/slope\n"
        "  tabi reproduce p4                    all experiments of one paper\n"
        "  tabi reproduce all --quick --out /tmp/figures\n",
    .nmore = TBI_MAX_WORDS,
    .word = "ID",
    .options = {[LIST] = {"--list", NULL, "list the experiments and what the papers show", false,
                          NULL},
                [QUICK] = {"--quick", NULL, "shorter runs and fewer points, same criteria", false,
                           NULL},
                [OUT] = {"--out", "DIR", "folder for figures and data; default: reproduction",
                         false, NULL},
                [JSON] = {"--json", NULL, "print one JSON object instead of text", false, NULL}},
    .run = run_command,
};
