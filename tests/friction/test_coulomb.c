/* test_coulomb.c - one contact alone against Coulomb's law, on random responses. */
#include "friction/coulomb.h"

#include "support/make_problem.h"
#include "support/near.h"
#include "support/rng.h"

#include <string.h>

#define CASES 20000

typedef struct contact {
  double w[3][3];
  v3 b;
  double mu;
} contact;

/* w = C diag C' + floor, from nearly round to nearly flat */
static contact random_contact(rng *r) {
  static const double friction[] = {0.0, 0.01, 0.3, 0.5, 1.0, 3.0};
  contact c = {.mu = friction[rng_below(r, 6)]};
  double part[3][3];
  rng_fill(r, 1.0, &part[0][0], 9);
  double size[3];
  double min = rng_between(r, -6.0, 0.0);
  for (int k = 0; k < 3; ++k)
    size[k] = pow(10.0, rng_between(r, min, 0.0));
  double scale = pow(10.0, rng_between(r, -3.0, 3.0));
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      c.w[i][j] = i == j ? scale * 1e-6 : 0.0;
      for (int k = 0; k < 3; ++k)
        c.w[i][j] += scale * part[i][k] * size[k] * part[j][k];
    }
  }
  double b[3];
  rng_fill(r, pow(10.0, rng_between(r, -3.0, 1.0)), b, 3);
  c.b = v3_load(b);
  return c;
}

static v3 velocity(const contact *c, v3 p) {
  return v3_make(c->w[0][0] * p.x + c->w[0][1] * p.y + c->w[0][2] * p.z + c->b.x,
                 c->w[1][0] * p.x + c->w[1][1] * p.y + c->w[1][2] * p.z + c->b.y,
                 c->w[2][0] * p.x + c->w[2][1] * p.y + c->w[2][2] * p.z + c->b.z);
}

typedef enum outcome { OPEN, STICK, SLIP } outcome;

/* fails unless the law holds; says which branch of it */
static outcome judge(const contact *c, v3 p, uint64_t seed) {
  v3 u = velocity(c, p);
  /* rounding of w p: what the sum was made of */
  double noise = v3_norm(c->b);
  for (int i = 0; i < 3; ++i)
    noise += fabs(c->w[i][0] * p.x) + fabs(c->w[i][1] * p.y) + fabs(c->w[i][2] * p.z);
  noise *= 1e-12;
  double tangent = sqrt(p.y * p.y + p.z * p.z);
  double slip = sqrt(u.y * u.y + u.z * u.z);
  bool good = p.x >= 0.0 && tangent <= c->mu * p.x * (1.0 + 1e-12);
  outcome result = OPEN;
  if (p.x == 0.0) {
    good = good && u.x >= -noise;
  } else {
    good = good && fabs(u.x) <= noise;
    result = slip <= noise ? STICK : SLIP;
    if (result == SLIP) {
      /* at full strength, and against the slip: p_t . u_t = -|p_t| |u_t| */
      double along = p.y * u.y + p.z * u.z;
      double across = p.y * u.z - p.z * u.y;
      good = good && tangent >= c->mu * p.x * (1.0 - 1e-9) && along <= 0.0 &&
             fabs(across) <= tangent * (1e-7 * slip + noise);
    }
  }
  if (!good) {
    fail_msg("seed %llu: mu %g p %g %g %g u %g %g %g (noise %g)", (unsigned long long)seed, c->mu,
             p.x, p.y, p.z, u.x, u.y, u.z, noise);
  }
  return result;
}

static void obeys_coulomb(void **state) {
  (void)state;
  int seen[3] = {0};
  for (uint64_t seed = 1; seed <= CASES; ++seed) {
    rng r = rng_make(seed);
    contact c = random_contact(&r);
    ++seen[judge(&c, tbi_coulomb((const double(*)[3])c.w, c.b, c.mu), seed)];
  }
  /* each branch has had its share */
  for (int i = 0; i < 3; ++i)
    assert_true(seen[i] > CASES / 20);
}

/* a point of mass 1: stick, slip and open by hand */
static void known_answers(void **state) {
  (void)state;
  const double w[3][3] = {
      {1, 0, 0},
      {0, 1, 0},
      {0, 0, 1}
  };
  v3 open = tbi_coulomb(w, v3_make(0.1, 1, 0), 0.5);
  assert_near(open.x, 0, 0);
  assert_near(open.y, 0, 0);
  v3 stick = tbi_coulomb(w, v3_make(-1, 0.3, -0.4), 0.5);
  assert_near(stick.x, 1, 1e-15);
  assert_near(stick.y, -0.3, 1e-15);
  assert_near(stick.z, 0.4, 1e-15);
  v3 slip = tbi_coulomb(w, v3_make(-1, 3, -4), 0.5);
  assert_near(slip.x, 1, 1e-15);
  assert_near(slip.y, -0.3, 1e-12);
  assert_near(slip.z, 0.4, 1e-12);
}

/* friction is as strong in every direction */
static void isotropic(void **state) {
  (void)state;
  const double w[3][3] = {
      {2, 0, 0},
      {0, 1, 0},
      {0, 0, 1}
  };
  for (int i = 0; i < 36; ++i) {
    double angle = 3.14159265358979324 * i / 18.0;
    v3 p = tbi_coulomb(w, v3_make(-2, 5 * cos(angle), 5 * sin(angle)), 0.7);
    assert_near(sqrt(p.y * p.y + p.z * p.z), 0.7, 1e-12);
    assert_near(p.y, -0.7 * cos(angle), 1e-11);
    assert_near(p.z, -0.7 * sin(angle), 1e-11);
  }
}

/* turning the tangents turns the answer with them */
static void turns_with_the_frame(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    rng r = rng_make(seed);
    contact c = random_contact(&r);
    if (c.mu > 0.5) continue; /* with strong friction there may be several answers */
    v3 p = tbi_coulomb((const double(*)[3])c.w, c.b, c.mu);
    contact t = c;
    /* by a right angle: (y, z) to (z, -y) */
    t.b = v3_make(c.b.x, c.b.z, -c.b.y);
    const int from[3] = {0, 2, 1};
    const double sign[3] = {1, 1, -1};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j)
        t.w[i][j] = sign[i] * sign[j] * c.w[from[i]][from[j]];
    }
    v3 turned = tbi_coulomb((const double(*)[3])t.w, t.b, t.mu);
    double size = v3_norm(p);
    assert_near(turned.x, p.x, 1e-6 * size);
    assert_near(turned.y, p.z, 1e-6 * size);
    assert_near(turned.z, -p.y, 1e-6 * size);
  }
}

/* a chain of hinges that hangs from the world */
static tabi_model *make_chain(rng *r, int32_t hinges) {
  tabi_builder *builder = tabi_builder_create();
  int32_t parent = TABI_WORLD;
  for (int32_t i = 0; i < hinges; ++i) {
    tabi_link_def link = tabi_link_def_default();
    link.mass = rng_between(r, 0.5, 2.0);
    link.inertia[0] = link.inertia[1] = link.inertia[2] = 0.02;
    rng_fill(r, 0.3, link.com, 3);
    tabi_joint_def joint = tabi_joint_def_default();
    joint.type = TABI_JOINT_CONTINUOUS;
    joint.parent = parent;
    joint.child = parent = tabi_builder_add_link(builder, &link);
    rng_direction(r, joint.axis, 3);
    rng_fill(r, 0.5, joint.pos, 3);
    tabi_builder_add_joint(builder, &joint);
  }
  tabi_error err;
  tabi_model *model = tabi_builder_build(builder, &err);
  assert_non_null(model);
  tabi_builder_destroy(builder);
  return model;
}

/* With one or two hinges a contact cannot move in every direction and its response has no inverse;
 * the law holds all the same. */
static void few_freedoms(void **state) {
  (void)state;
  int seen[3] = {0};
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    rng r = rng_make(seed);
    tabi_model *model = make_chain(&r, 1 + (int32_t)(seed % 3));
    double q[3];
    double v[3];
    rng_fill(&r, 1.0, q, 3);
    rng_fill(&r, 1.0, v, 3);
    made_problem made;
    tbi_candidate candidate;
    made_open(&made, model, q, v, 1e-3);
    made_random_candidates(&made, &r, &candidate, 1);
    candidate.shape_a = model->nbody;
    candidate.shape_b = model->nbody - 1;
    made_fill(&made, &candidate, 1, NULL, 0);
    tbi_point *point = &made.p->point[0];
    point->friction = 0.5;
    point->target = 0.0;
    tabi_world_def def = made_def(1);
    assert_true(made_solve(&made, &def, tbi_cone.memsize, tbi_cone.solve).converged);

    contact c = {.mu = point->friction};
    memcpy(c.w, point->w, sizeof c.w);
    v3 p = v3_load(point->impulse);
    v3 u = made_point_velocity(&made, 0);
    v3 none = velocity(&c, p);
    c.b = v3_sub(u, none); /* the ports' own velocity, not what w makes of p */
    ++seen[judge(&c, p, seed)];
    made_close(&made);
    tabi_model_destroy(model);
  }
  for (int i = 0; i < 3; ++i)
    assert_true(seen[i] > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(obeys_coulomb), cmocka_unit_test(known_answers),
      cmocka_unit_test(isotropic),     cmocka_unit_test(turns_with_the_frame),
      cmocka_unit_test(few_freedoms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
