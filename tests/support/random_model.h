/* random_model.h - seeded random forests for the property tests.
 *
 * A plan holds defs and a state joint by joint, so that a test can turn, join, reorder or merge
 * robots and compare what belongs together by name. */
#ifndef TEST_RANDOM_MODEL_H
#define TEST_RANDOM_MODEL_H

#include "support/rng.h"
#include "tabi/tabi.h"

#include <stdbool.h>
#include <stdint.h>

#define RANDOM_LINKS     60  /* at most in a random plan */
#define RANDOM_MAX_LINKS 120 /* room for two plans in one */

/* A plain random link; and where a joint may be, with its axis. */
int32_t random_add_link(tabi_builder *builder, rng *r);
void random_place(rng *r, tabi_joint_def *joint);

/* A link and the joint above it; parents stand before their children. */
typedef struct random_link {
  char name[24], joint_name[24];
  bool jointed; /* false: stands in the world */
  tabi_link_def link;
  tabi_joint_def joint;      /* parent and child are indices of the plan */
  double q[7], v[6], tau[6]; /* the state, as long as the joint has them */
} random_link;

typedef struct random_plan {
  int32_t nlink;
  double gravity[3];
  random_link links[RANDOM_MAX_LINKS];
} random_plan;

typedef enum random_kind {
  RANDOM_ANY,      /* every joint type, several trees, links fixed to the world */
  RANDOM_FLOATING, /* every tree hangs on an unactuated free joint; nothing stands in the world */
} random_kind;

void random_plan_make(random_plan *plan, uint64_t seed, random_kind kind);

/* Adds the links of another plan; their names get the letter in front. */
void random_plan_append(random_plan *plan, const random_plan *other, char letter);

/* Links are added in the given order (NULL: as they stand), joints in the reverse.  Fails the
 * test if the builder refuses. */
tabi_model *random_plan_build(const random_plan *plan, const int32_t *order);

/* The state in the model's own numbering; each of the three may be NULL. */
void random_plan_state(const random_plan *plan, const tabi_model *model, double *q, double *v,
                       double *tau);

/* Numbers of a joint type in q and v. */
int32_t random_joint_nq(tabi_joint_type type);
int32_t random_joint_nv(tabi_joint_type type);

#endif
