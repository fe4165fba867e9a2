/* cmd_solve.c - `tabi solve`: solves contact problems from files, one in detail or several as a
 * table. */
#include "common/cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SOLVER, TOLERANCE, MAX_ITERATIONS, JSON };

typedef struct solved {
  const char *path;
  int32_t contacts;
  tabi_friction_result result;
  double seconds;
  double *r;
} solved;

/* CPU time, so that other processes do not count. */
static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool read_solver(const char *word, tabi_friction_solve_def *def) {
  if (!word) return true;
  int32_t solver = tabi_friction_solver_find(word);
  if (solver == TABI_NONE) {
    tbi_usage_error("solve", "unknown solver '%s'; give 'cone', 'lcp' or 'exact'", word);
    return false;
  }
  def->solver = (tabi_friction_solver)solver;
  return true;
}

static bool read_numbers(const tbi_args *args, tabi_friction_solve_def *def) {
  const char *text = args->value[TOLERANCE];
  char *end = NULL;
  if (text) {
    def->tolerance = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(def->tolerance) || !(def->tolerance > 0)) {
      tbi_usage_error("solve", "--tolerance needs a number > 0, not '%s'", text);
      return false;
    }
  }
  text = args->value[MAX_ITERATIONS];
  if (text) {
    errno = 0;
    long count = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || count < 1 || count > INT32_MAX) {
      tbi_usage_error("solve", "--max-iterations needs a whole number > 0, not '%s'", text);
      return false;
    }
    def->max_iterations = (int32_t)count;
  }
  return true;
}

/* Loads and solves one file; the clock runs while it solves. */
static bool solve_file(solved *s, const tabi_friction_solve_def *def, tabi_error *err) {
  tabi_friction_problem *problem = tabi_friction_problem_load(s->path, err);
  if (!problem) return false;
  s->contacts = tabi_friction_problem_ncontact(problem);
  s->r = calloc(3 * (size_t)s->contacts + 1, sizeof *s->r);
  bool good = s->r != NULL;
  if (good) {
    double start = now();
    good = tabi_friction_problem_solve(problem, def, s->r, &s->result, err) == TABI_OK;
    s->seconds = now() - start;
  } else {
    tbi_fail(err, TABI_ERR_MEMORY, (tabi_place){NULL, 0}, "out of memory");
  }
  tabi_friction_problem_destroy(problem);
  return good;
}

static json_t *json_of(const solved *s, bool named) {
  json_t *object = json_object();
  int bad = named ? json_object_set_new(object, "file", tbi_json_text(s->path)) : 0;
  bad |= json_object_set_new(object, "contacts", json_integer(s->contacts));
  bad |= json_object_set_new(object, "iterations", json_integer(s->result.iterations));
  bad |= json_object_set_new(object, "residual", tbi_json_number(s->result.residual));
  bad |= json_object_set_new(object, "scaled", tbi_json_number(s->result.scaled));
  bad |= json_object_set_new(object, "converged", json_boolean(s->result.converged));
  bad |= json_object_set_new(object, "seconds", tbi_json_number(s->seconds));
  bad |= json_object_set_new(object, "r", tbi_json_numbers(s->r, 3 * s->contacts));
  if (!bad) return object;
  json_decref(object);
  return NULL;
}

static int print_json(FILE *out, const solved *list, int count) {
  if (count == 1) return tbi_json_print(out, json_of(&list[0], false));
  json_t *object = json_object();
  json_t *problems = json_array();
  int bad = 0;
  for (int i = 0; i < count; ++i)
    bad |= json_array_append_new(problems, json_of(&list[i], true));
  bad |= json_object_set_new(object, "problems", problems);
  if (bad) {
    json_decref(object);
    object = NULL;
  }
  return tbi_json_print(out, object);
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] != '\0' ? slash + 1 : path;
}

static void print_table(FILE *out, const solved *list, int count) {
  int width = (int)strlen("problem");
  for (int i = 0; i < count; ++i) {
    int length = (int)strlen(base_name(list[i].path));
    if (length > width) width = length;
  }
  (void)fprintf(out, "%-*s %8s %10s %9s %9s %9s\n", width, "problem", "contacts", "iterations",
                "residual", "scaled", "ms");
  for (int i = 0; i < count; ++i) {
    const solved *s = &list[i];
    (void)fprintf(out, "%-*s %8d %10d %9.2e %9.2e %9.3f%s\n", width, base_name(s->path),
                  s->contacts, s->result.iterations, s->result.residual, s->result.scaled,
                  1e3 * s->seconds, s->result.converged ? "" : "  not converged");
  }
}

static void print_one(FILE *out, const solved *s, const tabi_friction_solve_def *def) {
  const tabi_friction_result *r = &s->result;
  (void)fprintf(out, "%s: %d contact%s in %d island%s\n", s->path, s->contacts,
                s->contacts == 1 ? "" : "s", r->islands, r->islands == 1 ? "" : "s");
  (void)fprintf(out, "  solver      %s, tolerance %g\n", tabi_friction_solver_name(def->solver),
                def->tolerance);
  (void)fprintf(out, "  iterations  %d", r->iterations);
  if (def->solver == TABI_FRICTION_EXACT) {
    (void)fprintf(out, " in the hardest island; %d factorisations in all", r->factorisations);
  }
  (void)fprintf(out, "\n  residual    %.3e\n  scaled      %.3e, %s\n", r->residual, r->scaled,
                r->converged ? "converged" : "not converged");
  (void)fprintf(out, "  time        %.3f ms\n", 1e3 * s->seconds);
}

static int run(const tbi_args *args, FILE *out) {
  tabi_friction_solve_def def = tabi_friction_solve_def_default();
  if (!read_solver(args->value[SOLVER], &def) || !read_numbers(args, &def)) return TBI_EXIT_USAGE;
  solved list[TBI_MAX_WORDS] = {0};
  tabi_error err;
  int code = TBI_EXIT_OK;
  bool converged = true;
  for (int i = 0; i < args->nword && code == TBI_EXIT_OK; ++i) {
    list[i].path = args->word[i];
    if (!solve_file(&list[i], &def, &err)) code = tbi_print_error(&err);
    converged = converged && list[i].result.converged;
  }
  if (code == TBI_EXIT_OK) {
    if (args->value[JSON]) {
      code = print_json(out, list, args->nword);
    } else if (args->nword == 1) {
      print_one(out, &list[0], &def);
    } else {
      print_table(out, list, args->nword);
    }
  }
  for (int i = 0; i < args->nword; ++i)
    free(list[i].r);
  return code == TBI_EXIT_OK && !converged ? TBI_EXIT_CHECK : code;
}

const tbi_command tbi_cmd_solve = {
    .name = "solve",
    .usage = "solve PROBLEM.dat ... [--solver cone|lcp|exact] [--tolerance T]\n"
             "                  [--max-iterations N] [--json]",
    .summary = "solve contact problems from files: u = W r + q with Coulomb friction",
    .text =
        "Reads frictional contact problems (format in docs/solve.md), finds the contact\n"
        "impulses r for which u = W r + q obeys Signorini's condition and Coulomb's law, and "
        "prints\n"
        "their residuals.  Several files give a table.\n"
        "\n"
        "  residual  |r - P(r - u~)| / |q|, P the projection on the friction cone and\n"
        "            u~ = u + (mu |u_t|, 0, 0)\n"
        "  scaled    the same with u~ / w and times w, w a third of the trace of the contact's\n"
        "            diagonal block of W: independent of units, tested by the solvers\n"
        "\n"
        "Times are CPU times of the solver alone.\n"
        "Exits with 5 if a problem does not reach the tolerance.\n"
        "\n"
        "examples:\n"
        "  tabi solve Capsules-i101-404.dat\n"
        "  tabi solve --solver cone --tolerance 1e-8 *.dat\n"
        "  tabi solve Rover1039.dat --json | jq .r\n",
    .nword = 1,
    .nmore = TBI_MAX_WORDS - 1,
    .word = "PROBLEM.dat",
    .options =
        {[SOLVER] = {"--solver", "NAME", "solver: cone, lcp or exact; default: exact", false, NULL},
                  [TOLERANCE] = {"--tolerance", "T", "of the scaled residual; default: 1e-10", false, NULL},
                  [MAX_ITERATIONS] = {"--max-iterations", "N",
                             "max sweeps (cone, lcp; default: 10000) or factorisations (exact; "
                             "default: 2000)",
                             false, NULL},
                  [JSON] = {"--json", NULL, "print one JSON object; for several files {\"problems\": [...]}",
                   false, NULL}},
    .run = run,
};
