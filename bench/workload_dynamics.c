/* workload_dynamics.c - the workload "dynamics".
 *
 * Every row is a whole call from a new (q, v) to the result, kinematics included; sixteen random
 * states take turns, so that nothing can be kept from the call before.  "alone" is the row less
 * the row "kinematics".  All algorithms of a tree, and those of the peer, are measured in
 * alternating blocks. */
#include "workload_dynamics.h"

#include "algorithm.h"
#include "instruction_count.h"
#include "measure.h"
#include "peer.h"
#include "report.h"
#include "tabi/tabi_io.h"

#include <math.h>

typedef struct subject_tree {
  const char *name;
  tbi_bench_tree_shape shape;
  int32_t links;
} subject_tree;

static const subject_tree trees[] = {
    {"robot",     TBI_BENCH_TREE_ROBOT,  0   },
    {"chain10",   TBI_BENCH_TREE_CHAIN,  10  },
    {"chain20",   TBI_BENCH_TREE_CHAIN,  20  },
    {"chain50",   TBI_BENCH_TREE_CHAIN,  50  },
    {"chain100",  TBI_BENCH_TREE_CHAIN,  100 },
    {"chain200",  TBI_BENCH_TREE_CHAIN,  200 },
    {"chain500",  TBI_BENCH_TREE_CHAIN,  500 },
    {"chain1000", TBI_BENCH_TREE_CHAIN,  1000},
    {"tree10",    TBI_BENCH_TREE_BINARY, 10  },
    {"tree20",    TBI_BENCH_TREE_BINARY, 20  },
    {"tree50",    TBI_BENCH_TREE_BINARY, 50  },
    {"tree100",   TBI_BENCH_TREE_BINARY, 100 },
    {"tree200",   TBI_BENCH_TREE_BINARY, 200 },
    {"tree500",   TBI_BENCH_TREE_BINARY, 500 },
    {"tree1000",  TBI_BENCH_TREE_BINARY, 1000},
};
enum { NTREE = sizeof trees / sizeof trees[0], ROW_NAME = 48 };

static void row_name(char name[ROW_NAME], const subject_tree *which, int32_t algorithm) {
  (void)snprintf(name, ROW_NAME, "dynamics/%s/%s", which->name, tbi_algorithms[algorithm].name);
}

static bool wants_row(const tbi_bench_options *options, const subject_tree *which,
                      int32_t algorithm) {
  char name[ROW_NAME];
  row_name(name, which, algorithm);
  return tbi_bench_wants(options, name);
}

/* Not every algorithm takes every robot. */
static bool fits(const tbi_algorithm *algorithm, const tabi_model *model) {
  return !algorithm->fits || algorithm->fits(model);
}

static bool wants_tree(const tbi_bench_options *options, const subject_tree *which) {
  for (int32_t a = 0; a < TBI_ALGORITHMS; ++a)
    if (wants_row(options, which, a)) return true;
  return false;
}

void tbi_bench_dynamics_list(tbi_bench_visit *visit, void *user) {
  for (size_t t = 0; t < NTREE; ++t)
    for (int32_t a = 0; a < TBI_ALGORITHMS; ++a) {
      char name[ROW_NAME];
      row_name(name, &trees[t], a);
      visit(user, name);
    }
}

static tabi_model *open_model(const tbi_bench_options *options, const subject_tree *which,
                              tabi_error *err) {
  if (which->shape != TBI_BENCH_TREE_ROBOT)
    return tbi_bench_tree_model(which->shape, which->links, err);
  char path[4096];
  if (!options->model) tbi_bench_shipped_robot(path, sizeof path);
  return tabi_model_load(options->model ? options->model : path, NULL, err);
}

/* An algorithm on a tree, here or at the peer. */
typedef struct job {
  const tbi_bench_tree *tree;
  tbi_peer *peer;
  const tbi_algorithm *algorithm;
  int32_t state;
} job;

static double run_here(void *self, int32_t calls) {
  job *j = self;
  if (!fits(j->algorithm, j->tree->model)) return nan("");
  double start = tbi_measure_clock();
  for (int32_t i = 0; i < calls; ++i) {
    j->algorithm->call(j->tree, j->state);
    j->state = (j->state + 1) % TBI_BENCH_TREE_STATES;
  }
  return tbi_measure_clock() - start;
}

static double run_peer(void *self, int32_t calls) {
  job *j = self;
  return tbi_peer_run(j->peer, j->algorithm->name, calls);
}

/* All algorithms here, then all at the peer (if there is one) or nothing. */
static void measure(const tbi_bench_tree *tree, tbi_peer *peer, job jobs[2 * TBI_ALGORITHMS],
                    tbi_subject subjects[2 * TBI_ALGORITHMS]) {
  for (int32_t i = 0; i < 2 * TBI_ALGORITHMS; ++i) {
    jobs[i] = (job){tree, peer, &tbi_algorithms[i % TBI_ALGORITHMS], 0};
    subjects[i] = (tbi_subject){.run = i < TBI_ALGORITHMS ? run_here : run_peer,
                                .self = &jobs[i],
                                .best = nan(""),
                                .median = nan("")};
  }
  tbi_measure_time(subjects, peer ? 2 * TBI_ALGORITHMS : TBI_ALGORITHMS);
}

static const char *series_of(tbi_bench_tree_shape shape) {
  static const char *const names[] = {[TBI_BENCH_TREE_ROBOT] = NULL,
                                      [TBI_BENCH_TREE_CHAIN] = "chain",
                                      [TBI_BENCH_TREE_BINARY] = "tree"};
  return names[shape];
}

static bool add_rows(const tbi_bench_options *options, const subject_tree *which,
                     const tbi_bench_tree *tree, tbi_subject *subjects, tbi_report *report) {
  double errors[TBI_ALGORITHMS];
  if (tbi_algorithm_errors(tree, errors) != TABI_OK) return false;
  for (int32_t a = 0; a < TBI_ALGORITHMS; ++a) {
    if (!wants_row(options, which, a) || !fits(&tbi_algorithms[a], tree->model)) continue;
    tbi_row *row = tbi_report_add(report);
    if (!row) return false;
    row_name(row->name, which, a);
    row->subject = which->name;
    row->function = tbi_algorithms[a].name;
    row->series = series_of(which->shape);
    row->size = row->links = tabi_model_nlink(tree->model);
    row->dof = tree->nv;
    row->us = 1e6 * subjects[a].best;
    row->us_median = 1e6 * subjects[a].median;
    if (a > 0) row->us_alone = 1e6 * (subjects[a].best - subjects[0].best);
    row->instructions = tbi_measure_instructions(&subjects[a]);
    if (isnan(row->instructions) && options->count)
      row->instructions = tbi_count_instructions(&subjects[a]);
    row->error = errors[a];
    row->peer_us = 1e6 * subjects[TBI_ALGORITHMS + a].best;
    row->peer_us_median = 1e6 * subjects[TBI_ALGORITHMS + a].median;
  }
  return true;
}

/* A peer that cannot take part is left out, with the reason. */
static bool start_peer(tbi_peer *peer, const subject_tree *which, const tbi_bench_tree *tree,
                       tbi_report *report) {
  char trouble[512];
  if (!tbi_peer_start(peer, tree, trouble, sizeof trouble)) {
    (void)fprintf(stderr, "tabi: warning: %s measured without a peer: %s\n", which->name, trouble);
    return false;
  }
  (void)snprintf(report->engine, sizeof report->engine, "%s", peer->engine);
  return true;
}

static void make_calls(const tbi_bench_options *options, const subject_tree *which,
                       const tbi_bench_tree *tree) {
  for (int32_t a = 0; a < TBI_ALGORITHMS; ++a) {
    job j = {.tree = tree, .algorithm = &tbi_algorithms[a]};
    if (wants_row(options, which, a) && fits(j.algorithm, tree->model))
      (void)run_here(&j, options->calls);
  }
}

static bool measure_tree(const tbi_bench_options *options, const subject_tree *which,
                         const tbi_bench_tree *tree, tbi_report *report) {
  job jobs[2 * TBI_ALGORITHMS];
  tbi_subject subjects[2 * TBI_ALGORITHMS];
  tbi_peer peer;
  bool with_peer = options->peers && start_peer(&peer, which, tree, report);
  measure(tree, with_peer ? &peer : NULL, jobs, subjects);
  if (with_peer) tbi_peer_stop(&peer);
  return add_rows(options, which, tree, subjects, report);
}

static int run_tree(const tbi_bench_options *options, const subject_tree *which,
                    tbi_report *report) {
  tabi_error err = {0};
  tbi_bench_tree tree;
  tabi_model *model = open_model(options, which, &err);
  if (!model || tbi_bench_tree_init(&tree, model, &err) != TABI_OK) return tbi_bench_fail(&err);
  int32_t first_row = report->nrow;
  bool ok = true;
  if (options->calls > 0)
    make_calls(options, which, &tree);
  else
    ok = measure_tree(options, which, &tree, report);
  tbi_bench_tree_free(&tree);
  if (!ok)
    return tbi_bench_fail(&(tabi_error){.status = TABI_ERR_MEMORY, .message = "out of memory"});
  if (!options->json && options->calls == 0)
    tbi_report_print_dynamics(report, first_row, first_row == 0);
  return TBI_BENCH_OK;
}

int tbi_bench_dynamics(const tbi_bench_options *options, tbi_report *report) {
  int code = TBI_BENCH_OK;
  int32_t first_row = report->nrow;
  for (size_t t = 0; t < NTREE && code == TBI_BENCH_OK; ++t) {
    if (!wants_tree(options, &trees[t])) continue;
    tbi_bench_progress(options, trees[t].name);
    code = run_tree(options, &trees[t], report);
  }
  if (code == TBI_BENCH_OK && report->nrow > first_row && !options->json)
    tbi_report_print_growth(report, first_row, "links");
  return code;
}
