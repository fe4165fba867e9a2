/* link_pairs.c - which links of a robot can meet.
 *
 * Four sources, in this order: links inside each other in a posture are so by design; links on both
 * sides of a compound joint, a hip of three hinges, are neighbours; for bodies
 * near each other in the tree joint limits may prove that they cannot meet; and random postures
 * show which of the others do. */
#include "base/assertion.h"
#include "base/error.h"
#include "base/random.h"
#include "doctor/compound_joint.h"
#include "doctor/overlap.h"

#include <stdlib.h>
#include <string.h>

/* distances that all proofs together, and each of them, may measure */
#define PROOF_BUDGET 4000
#define PAIR_BUDGET  200
/* m: links nearer than this are drawn flush with each other and would touch all the time */
#define FLUSH 1e-4

typedef struct search {
  tbi_posture_pass pass;
  const double *q;
  int32_t samples;
  tabi_link_pair_fn *report;
  void *user;
  int32_t budget;  /* distances that proofs may still measure */
  double *posture; /* [nq] */
  int64_t *first;  /* where the pairs of a tree start in `met`: [ntree + 1] */
  bool *met;       /* pairs of bodies that need no further search */
} search;

/* bodies of a tree follow one another */
static int32_t tree_size(const tabi_model *model, int32_t tree) {
  int32_t end = tree + 1 < model->ntree ? model->tree_body[tree + 1] : model->nbody;
  return end - model->tree_body[tree];
}

/* Two bodies of one tree. */
static bool *pair_of(const search *s, int32_t a, int32_t b) {
  const tabi_model *model = s->pass.model;
  int32_t tree = model->body[a].tree;
  TBI_ASSERT(tree == model->body[b].tree);
  int32_t root = model->tree_body[tree];
  int64_t low = (a < b ? a : b) - root;
  int64_t high = (a < b ? b : a) - root;
  return &s->met[s->first[tree] + low * tree_size(model, tree) + high];
}

static bool share_tree(const tabi_model *model, int32_t a, int32_t b) {
  return a != TABI_WORLD && b != TABI_WORLD && model->body[a].tree == model->body[b].tree;
}

static int32_t body_of(const tabi_model *model, int32_t shape) {
  int32_t link = model->shape[shape].link;
  return link == TABI_WORLD ? TABI_WORLD : model->link_home[link].body;
}

static void mark_met(const search *s, const tbi_candidate *t) {
  int32_t a = body_of(s->pass.model, t->shape_a);
  int32_t b = body_of(s->pass.model, t->shape_b);
  if (share_tree(s->pass.model, a, b)) *pair_of(s, a, b) = true;
}

static void tell(const search *s, tabi_link_pair_kind kind, int32_t a, int32_t b, double depth) {
  const tabi_link_pair pair = {kind, a, b, depth};
  s->report(s->user, &pair);
}

static tabi_status tell_overlaps(const search *s, tabi_error *err) {
  const tabi_model *model = s->pass.model;
  int32_t count = 0;
  tabi_status status = tbi_overlaps_find(model, s->q, -FLUSH, NULL, 0, &count, err);
  if (status != TABI_OK || count == 0) return status;
  tbi_overlap *overlap = calloc((size_t)count, sizeof *overlap);
  if (!overlap) return tbi_error_memory(err);
  status = tbi_overlaps_find(model, s->q, -FLUSH, overlap, count, &count, err);
  for (int32_t i = 0; i < count && status == TABI_OK; ++i) {
    int32_t a = model->shape[overlap[i].shape_a].link;
    int32_t b = model->shape[overlap[i].shape_b].link;
    bool swap = b == TABI_WORLD;
    tell(s, TABI_PAIR_OVERLAPS, swap ? b : a, swap ? a : b, overlap[i].depth);
  }
  free(overlap);
  return status;
}

/* the first link of a body that has a shape */
static int32_t link_of(const tabi_model *model, int32_t body) {
  for (int32_t i = 0; i < model->nshape; ++i) {
    if (model->shape[i].collides && body_of(model, i) == body) return model->shape[i].link;
  }
  return TABI_NONE;
}

static bool may_meet(const search *s, int32_t a, int32_t b) {
  const tbi_body *body = s->pass.model->body;
  return body[a].collides && body[b].collides && !*pair_of(s, a, b) &&
         tbi_collision_allows(s->pass.collision, a, b);
}

/* Hands each pair of bodies of one tree that may still meet to a function. */
static void visit(search *s, bool (*done)(search *s, int32_t a, int32_t b)) {
  const tabi_model *model = s->pass.model;
  for (int32_t a = 0; a < model->nbody; ++a) {
    int32_t tree = model->body[a].tree;
    int32_t end = model->tree_body[tree] + tree_size(model, tree);
    for (int32_t b = a + 1; b < end; ++b)
      if (may_meet(s, a, b)) *pair_of(s, a, b) = done(s, a, b);
  }
}

static bool are_neighbours(search *s, int32_t a, int32_t b) {
  const tabi_model *model = s->pass.model;
  bool joined = tbi_compound_joint_joins(model, a, b);
  if (joined) tell(s, TABI_PAIR_NEIGHBOURS, link_of(model, a), link_of(model, b), 0);
  return joined;
}

static bool never_meets(search *s, int32_t a, int32_t b) {
  int32_t budget = s->budget < PAIR_BUDGET ? s->budget : PAIR_BUDGET;
  int32_t left = budget;
  if (budget <= 0) return false;
  bool never = tbi_collision_never_meet(s->pass.collision, a, b, &left);
  s->budget -= budget - left;
  const tabi_model *model = s->pass.model;
  if (never) tell(s, TABI_PAIR_NEVER_MEETS, link_of(model, a), link_of(model, b), 0);
  return never;
}

static bool tell_unseen(search *s, int32_t a, int32_t b) {
  const tabi_model *model = s->pass.model;
  tell(s, TABI_PAIR_UNSEEN, link_of(model, a), link_of(model, b), 0);
  return true;
}

/* Joints with one coordinate anywhere within their limits, the others as they are. */
static void draw_posture(const search *s, uint64_t *random) {
  const tabi_model *model = s->pass.model;
  const double turn = 3.14159265358979323846;
  memcpy(s->posture, s->q, (size_t)model->nq * sizeof *s->q);
  for (int32_t i = 0; i < model->nv; ++i) {
    if (model->dof_q[i] == TABI_NONE) continue;
    double low = isfinite(model->dof_lower[i]) ? model->dof_lower[i] : -turn;
    double high = isfinite(model->dof_upper[i]) ? model->dof_upper[i] : turn;
    s->posture[model->dof_q[i]] = low + (high - low) * tbi_random_unit(random);
  }
}

static tabi_status sample(search *s, tabi_error *err) {
  uint64_t random = 1;
  tabi_status status = TABI_OK;
  for (int32_t i = 0; i < s->samples && status == TABI_OK; ++i) {
    draw_posture(s, &random);
    status = tbi_posture_pass_run(&s->pass, s->posture, err);
    for (int32_t k = 0; k < s->pass.count; ++k)
      mark_met(s, &s->pass.candidate[k]);
  }
  return status;
}

static tabi_status make(search *s, tabi_error *err) {
  const tabi_model *model = s->pass.model;
  s->posture = calloc((size_t)model->nq + 1, sizeof *s->posture);
  s->first = calloc((size_t)model->ntree + 1, sizeof *s->first);
  if (!s->posture || !s->first) return tbi_error_memory(err);
  for (int32_t i = 0; i < model->ntree; ++i) {
    int64_t size = tree_size(model, i);
    s->first[i + 1] = s->first[i] + size * size;
  }
  s->met = calloc((size_t)s->first[model->ntree] + 1, sizeof *s->met);
  return s->met ? tbi_posture_pass_make(&s->pass, err) : tbi_error_memory(err);
}

static tabi_status search_all(search *s, tabi_error *err) {
  tabi_status status = make(s, err);
  if (status == TABI_OK) status = tell_overlaps(s, err);
  if (status == TABI_OK) status = tbi_posture_pass_run(&s->pass, s->q, err);
  if (status != TABI_OK) return status;
  for (int32_t k = 0; k < s->pass.count; ++k)
    mark_met(s, &s->pass.candidate[k]);
  visit(s, are_neighbours);
  visit(s, never_meets);
  if (s->samples > 0) status = sample(s, err);
  if (status == TABI_OK && s->samples > 0) visit(s, tell_unseen);
  return status;
}

tabi_status tabi_model_link_pairs(const tabi_model *model, const double *q, int32_t samples,
                                  tabi_link_pair_fn *report, void *user, tabi_error *err) {
  TBI_ASSERT(model && q && report && samples >= 0);
  search s = {.pass = {.model = model},
              .q = q,
              .samples = samples,
              .report = report,
              .user = user,
              .budget = PROOF_BUDGET};
  tabi_error why = {0};
  tabi_status status = search_all(&s, &why);
  tbi_posture_pass_free(&s.pass);
  free(s.posture);
  free(s.first);
  free(s.met);
  if (status != TABI_OK && err) *err = why;
  return status;
}
