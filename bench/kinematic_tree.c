/* kinematic_tree.c - chains, binary trees and their random states, the same on every machine. */
#include "kinematic_tree.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>

/* Uniform in -1 to 1: the high bits of a linear congruential generator, Knuth's for MMIX. */
static double draw(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * 0x1p-52 - 1;
}

/* A slender link along z, lopsided so that no product of inertia is zero. */
static int32_t add_link(tabi_builder *builder, int32_t index) {
  char name[32];
  (void)snprintf(name, sizeof name, "link%d", (int)index);
  tabi_link_def def = tabi_link_def_default();
  def.name = name;
  def.mass = 1;
  const double com[3] = {0.01, -0.02, 0.1};
  const double inertia[6] = {4e-3, 5e-3, 2e-3, 3e-4, -2e-4, 1e-4};
  for (int k = 0; k < 3; ++k)
    def.com[k] = com[k];
  for (int k = 0; k < 6; ++k)
    def.inertia[k] = inertia[k];
  return tabi_builder_add_link(builder, &def);
}

static void add_joint(tabi_builder *builder, tbi_bench_tree_shape shape, int32_t index) {
  char name[32];
  (void)snprintf(name, sizeof name, "joint%d", (int)index);
  tabi_joint_def def = tabi_joint_def_default();
  def.name = name;
  def.type = TABI_JOINT_CONTINUOUS;
  def.child = index;
  def.parent = shape == TBI_BENCH_TREE_CHAIN ? index - 1 : (index + 1) / 2 - 1;
  // children of a binary tree stand left and right of the parent's tip
  if (shape == TBI_BENCH_TREE_BINARY && index > 0) def.pos[0] = index % 2 ? -0.05 : 0.05;
  def.pos[2] = index > 0 ? 0.2 : 0;
  for (int k = 0; k < 3; ++k)
    def.axis[k] = k == index % 3;
  def.rotor_inertia = 1e-3;
  (void)tabi_builder_add_joint(builder, &def);
}

tabi_model *tbi_bench_tree_model(tbi_bench_tree_shape shape, int32_t links, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  for (int32_t i = 0; i < links; ++i)
    (void)add_link(builder, i);
  for (int32_t i = 0; i < links; ++i)
    add_joint(builder, shape, i);
  tabi_model *model = tabi_builder_build(builder, err);
  tabi_builder_destroy(builder);
  return model;
}

static void draw_states(tbi_bench_tree *tree) {
  uint64_t seed = 20;
  size_t nq = (size_t)tree->nq, nv = (size_t)tree->nv;
  for (size_t i = 0; i < TBI_BENCH_TREE_STATES * nv; ++i) {
    tree->v[i] = draw(&seed);
    tree->tau[i] = 10 * draw(&seed);
    tree->qdd[i] = draw(&seed);
  }
  // a unit of time along a random velocity is a random posture, whatever the joints are
  for (size_t state = 0; state < TBI_BENCH_TREE_STATES; ++state) {
    double *q = tree->q + state * nq;
    for (size_t i = 0; i < nv; ++i)
      tree->out[i] = draw(&seed);
    tabi_model_initial_q(tree->model, q);
    tabi_model_integrate(tree->model, q, tree->out, 1, q);
  }
}

tabi_status tbi_bench_tree_init(tbi_bench_tree *tree, tabi_model *model, tabi_error *err) {
  *tree = (tbi_bench_tree){.model = model, .nq = tabi_model_nq(model), .nv = tabi_model_nv(model)};
  size_t nq = (size_t)tree->nq, nv = (size_t)tree->nv;
  tree->q = malloc((TBI_BENCH_TREE_STATES * nq + 1) * sizeof(double));
  tree->v = malloc((TBI_BENCH_TREE_STATES * nv + 1) * sizeof(double));
  tree->tau = malloc((TBI_BENCH_TREE_STATES * nv + 1) * sizeof(double));
  tree->qdd = malloc((TBI_BENCH_TREE_STATES * nv + 1) * sizeof(double));
  tree->out = malloc((nv + 1) * sizeof(double));
  tree->load = malloc(((size_t)model->nbody + 1) * sizeof *tree->load);
  tree->dynamics = tabi_dynamics_create(model, err);
  bool ok = tree->q && tree->v && tree->tau && tree->qdd && tree->out && tree->load;
  if (!ok) (void)tbi_error_memory(err);
  if (!ok || !tree->dynamics) {
    tbi_bench_tree_free(tree);
    return TABI_ERR_MEMORY;
  }
  draw_states(tree);
  return TABI_OK;
}

void tbi_bench_tree_free(tbi_bench_tree *tree) {
  tabi_dynamics_destroy(tree->dynamics);
  tabi_model_destroy(tree->model);
  free(tree->q);
  free(tree->v);
  free(tree->tau);
  free(tree->qdd);
  free(tree->out);
  free(tree->load);
  *tree = (tbi_bench_tree){0};
}
