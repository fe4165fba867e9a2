/* fuzz_friction.c - any bytes as a stored friction problem.  What is accepted is solved with a
 * small budget: impulses of exact stay finite and in their cones, and success is claimed only with
 * the residual that goes with it. */
#include "friction/friction.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdlib.h>

#define MAX_CONTACTS 64

static void check(const tabi_friction_problem *problem, tabi_friction_solver solver) {
  double r[3 * MAX_CONTACTS] = {0};
  tabi_friction_solve_def def = tabi_friction_solve_def_default();
  tabi_friction_result result;
  def.solver = solver;
  def.max_iterations = 20;
  if (tabi_friction_problem_solve(problem, &def, r, &result, NULL) != TABI_OK) abort();
  if (result.converged && !isfinite(result.scaled)) abort();
  if (solver != TABI_FRICTION_EXACT) return;
  for (int32_t i = 0; i < problem->ncontact; ++i) {
    const double *own = r + (ptrdiff_t)3 * i;
    if (!isfinite(own[0]) || !isfinite(own[1]) || !isfinite(own[2])) abort();
    /* squares of less than 1e-150 are zero */
    if (hypot(own[1], own[2]) > problem->friction[i] * own[0] * (1 + 1e-12) + 1e-150) abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  tabi_friction_problem *problem =
      tabi_friction_problem_load_text((const char *)data, size, "x.dat", NULL);
  if (problem && tabi_friction_problem_ncontact(problem) <= MAX_CONTACTS) {
    for (int solver = 0; solver < TABI_FRICTION_COUNT; ++solver)
      check(problem, (tabi_friction_solver)solver);
  }
  tabi_friction_problem_destroy(problem);
  return 0;
}
