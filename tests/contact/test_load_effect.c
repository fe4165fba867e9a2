/* test_load_effect.c - what is said of the effect of other load shares holds for one of them: where
 * there is none, equal springs move the bodies as any other solution does. */
#include "contact/exact_island.h"
#include "contact/load_effect.h"

#include "base/array.h"
#include "support/make_problem.h"
#include "support/near.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define MODELS 300
#define MOST   400 /* unknowns */

enum { CORNERS = 4, POINTS = 3 * CORNERS };

typedef struct counts {
  int32_t known, idle, moving; /* islands: no effect and one solution, none, some */
} counts;

/* Four corners of a face under each of some bodies, which the world meets with one friction. */
static tabi_model *make_faces(made_problem *made, uint64_t seed) {
  tbi_candidate candidate[POINTS];
  rng r = rng_make(~seed);
  tabi_model *model = made_open_random(made, seed, RANDOM_FLOATING, 1e-3);
  for (int32_t i = 0; i < POINTS; ++i) {
    int32_t body = i / CORNERS % model->nbody;
    v3 at = v3_add(tbi_tree_origin(made->d, body), v4_to(made->d->body[body].pos));
    v3 corner = v3_make(i % 2 ? 0.1 : -0.1, i / 2 % 2 ? 0.05 : -0.05, -0.1);
    candidate[i] = (tbi_candidate){
        .shape_a = model->nbody,
        .shape_b = body,
        .feature = (uint32_t)i,
        .point = v3_add(at, corner),
        .normal = {0, 0, 1}
    };
  }
  made_fill(made, candidate, POINTS, NULL, 0);
  double friction[POINTS];
  for (int32_t i = 0; i < POINTS; ++i)
    friction[i] = rng_between(&r, 0.05, 0.5);
  for (int32_t i = 0; i < made->p->npoint; ++i) {
    made->p->point[i].friction = friction[made->p->point[i].port_b % POINTS];
    made->p->point[i].target = 0;
  }
  return model;
}

static void velocity(const tbi_delassus *w, const double *r, double *u) {
  w->multiply(w->self, r, u);
  for (int32_t i = 0; i < w->nunknown; ++i)
    u[i] += w->q[i];
}

static double apart(const double *a, const double *b, int32_t n) {
  double most = 0;
  for (int32_t i = 0; i < n; ++i)
    most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

static void check_island(const tbi_island *island, const tbi_load_memory *memory, counts *seen) {
  const tbi_delassus *w = &island->w;
  double r[MOST] = {0};
  double shared[MOST];
  double u[MOST];
  double moved[MOST];
  assert_true(w->nunknown <= MOST);
  void *scratch = malloc(tbi_newton_memsize(w->nlaw, w->nunknown));
  assert_non_null(scratch);
  bool solved = tbi_newton_solve(w, 1e-12, 400, r, scratch).converged;
  memcpy(shared, r, sizeof r);
  solved = solved && tbi_newton_share_load(w, 1e-12, 200, shared, scratch).converged;
  free(scratch);
  if (!solved) return;
  tbi_island_write(island, r);
  velocity(w, r, u);
  velocity(w, shared, moved);
  double effect = tbi_load_effect(memory, island, u, 1e-9);
  if (effect > 1e-9) {
    ++seen->moving;
    return;
  }
  /* both solutions are right to 1e-12, along what mobility hardly feels less so */
  assert_true(apart(u, moved, w->nunknown) < 1e-8);
  if (apart(r, shared, w->nunknown) > 1e-6) {
    ++seen->idle;
  } else {
    ++seen->known;
  }
}

static void random_islands(void **state) {
  (void)state;
  counts seen = {0};
  for (uint64_t seed = 1; seed <= MODELS; ++seed) {
    made_problem made;
    tabi_model *model =
        seed % 2 ? make_faces(&made, seed) : made_random(&made, seed, RANDOM_ANY, POINTS, 3);
    tbi_factored f = {0};
    tbi_load_memory memory;
    tbi_layout at = {NULL, 0};
    tbi_factored_place(&at, model, made.p->npoint, made.p->nrow, &f);
    tbi_load_memory_place(&at, made.p->nsum, &memory);
    at = (tbi_layout){tbi_block_alloc(at.used + 1), 0};
    assert_non_null(at.base);
    tbi_factored_place(&at, model, made.p->npoint, made.p->nrow, &f);
    tbi_load_memory_place(&at, made.p->nsum, &memory);
    tbi_factored_begin(&f, made.p);
    for (int32_t k = 0; k < f.nisland; ++k)
      check_island(&f.island[k], &memory, &seen);
    free(at.base);
    made_close(&made);
    tabi_model_destroy(model);
  }
  print_message("one solution %d, several with one motion %d, several motions %d\n", seen.known,
                seen.idle, seen.moving);
  assert_true(seen.known > 0 && seen.idle > 0 && seen.moving > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_islands)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
