/* connections.c - connections and couplings as loop constraints (problem/loops.h).
 *
 *   translation  g = e . (x_b - x_a), with e fixed in a
 *   rotation     g = p . s, with p fixed in a and s in b, at right angles when closed
 *   rod, spring  g = |x_b - x_a| - length
 *   coupling     g = q_follower - polynomial(q_leader), or lengths of tendons
 *   tendon       tendons.c
 *
 * A step moves along the new velocity, so that g becomes g + h u + h^2/2 g'', g'' being the drift
 * of u at zero acceleration.  Asking u for -g/h - h/2 g'' closes the loop at the end of the step up
 * to h^3, where u = 0 would leave h^2 and take energy out of every turn.  Forces that rk4 holds
 * over the step accelerate evenly instead, by what takes back g and u. */
#include "base/assertion.h"
#include "dynamics/tendon.h"
#include "model/clusters.h"
#include "problem/half_solve.h"
#include "world/world.h"

/* one end of a connection */
typedef struct side {
  int32_t body;
  v3 origin;   /* of its tree */
  v3 x;        /* origin of the frame, in the world, as all that follows */
  v3 axis[3];  /* of the frame */
  sv vel, acc; /* of the body, about the origin of its tree; acc at zero joint acceleration */
  v3 turn;     /* angular velocity */
} side;

static side side_of(const tabi_world *w, int32_t link, const double *pos, const double *quat) {
  tbi_frame frame = tbi_frame_load(pos, quat);
  side s = {.body = TABI_WORLD};
  if (link != TABI_WORLD) {
    tbi_frame home = tbi_link_frame(w->d, link);
    frame = tbi_frame_mul(&home, &frame);
    s.body = w->model->link_home[link].body;
  }
  s.origin = tbi_tree_origin(w->d, s.body);
  s.x = frame.pos;
  for (int k = 0; k < 3; ++k)
    s.axis[k] = m3_column(&frame.rot, k);
  s.vel = w->d->body[s.body].vel;
  s.acc = w->d->acc[s.body];
  s.turn = v4_to(s.vel.ang);
  return s;
}

/* the velocity (or acceleration) of the point x of a body that moves like that */
static v3 field_at(const side *s, sv motion, v3 x) {
  return v4_to(sv_at(motion, v4_from(v3_sub(x, s->origin))));
}

static sv wrench_at(const side *s, v3 e, v3 x) {
  return (sv){v4_from(e), v4_from(v3_cross(v3_sub(x, s->origin), e))};
}

/* a unit impulse along e: on b at its own point, on a at the point given */
static void set_push(tbi_loop *loop, const side *a, const side *b, v3 e, v3 at_a) {
  loop->wrench_a = wrench_at(a, e, at_a);
  loop->wrench_b = wrench_at(b, e, b->x);
  loop->velocity = sv_dot(loop->wrench_b, b->vel) - sv_dot(loop->wrench_a, a->vel);
}

static void constrain_translation(tbi_loop *loop, const side *a, const side *b, v3 e) {
  set_push(loop, a, b, e, b->x);
  loop->error = v3_dot(e, v3_sub(b->x, a->x));
  v3 speed_b = field_at(b, b->vel, b->x);
  v3 parting = v3_sub(speed_b, field_at(a, a->vel, b->x));
  v3 acc = v3_sub(field_at(b, b->acc, b->x), field_at(a, a->acc, b->x));
  acc = v3_add(acc, v3_cross(v3_sub(b->turn, a->turn), speed_b));
  loop->drift = v3_dot(v3_cross(a->turn, e), parting) + v3_dot(e, acc);
}

static void constrain_rotation(tbi_loop *loop, const side *a, const side *b, v3 p, v3 s) {
  v3 n = v3_cross(s, p);
  v3 relative = v3_sub(b->turn, a->turn);
  loop->wrench_a = loop->wrench_b = (sv){v4_zero(), v4_from(n)};
  loop->error = v3_dot(p, s);
  loop->velocity = v3_dot(n, relative);
  v3 carried = v3_add(v3_cross(v3_cross(b->turn, s), p), v3_cross(s, v3_cross(a->turn, p)));
  v3 acc = v4_to(v4_sub(b->acc.ang, a->acc.ang));
  loop->drift = v3_dot(carried, relative) + v3_dot(n, acc);
}

static void constrain_distance(tbi_loop *loop, const side *a, const side *b, double length) {
  v3 way = v3_sub(b->x, a->x);
  double distance = v3_norm(way);
  v3 e = distance > 1e-12 ? v3_scale(1 / distance, way) : a->axis[2];
  set_push(loop, a, b, e, a->x);
  loop->error = distance - length;
  v3 speed_a = field_at(a, a->vel, a->x);
  v3 speed_b = field_at(b, b->vel, b->x);
  v3 acc_a = v3_add(field_at(a, a->acc, a->x), v3_cross(a->turn, speed_a));
  v3 acc_b = v3_add(field_at(b, b->acc, b->x), v3_cross(b->turn, speed_b));
  v3 across = v3_sub(speed_b, speed_a);
  across = v3_axpy(across, -v3_dot(across, e), e);
  loop->drift = v3_dot(e, v3_sub(acc_b, acc_a));
  if (distance > 1e-12) loop->drift += v3_dot(across, across) / distance;
}

static uint32_t constrained_axes(const tabi_connection_def *def) {
  const uint32_t point = TABI_MOVE_X | TABI_MOVE_Y | TABI_MOVE_Z;
  switch (def->type) {
  case TABI_CONNECTION_BALL:
    return point;
  case TABI_CONNECTION_HINGE:
    return point | TABI_TURN_X | TABI_TURN_Y;
  case TABI_CONNECTION_FIXED:
    return point | TABI_TURN_X | TABI_TURN_Y | TABI_TURN_Z;
  default:
    return def->axes;
  }
}

/* three rotations: all axes at right angles in turn; two: a hinge about the third; one: Hooke's
 * joint */
static int32_t constrain_rotations(tbi_loop *loop, const side *a, const side *b, uint32_t axes) {
  bool constrained[3] = {(axes & TABI_TURN_X) != 0, (axes & TABI_TURN_Y) != 0,
                         (axes & TABI_TURN_Z) != 0};
  int count = constrained[0] + constrained[1] + constrained[2];
  int32_t made = 0;
  for (int k = 0; k < 3; ++k) {
    if (!constrained[k]) continue;
    int i = (k + 1) % 3;
    int j = (k + 2) % 3;
    /* with two, the free axis of b is kept at right angles to the other two of a */
    bool i_free = count == 2 && !constrained[i];
    constrain_rotation(&loop[made++], a, b, a->axis[i_free ? j : i], b->axis[i_free ? i : j]);
  }
  return made;
}

/* the loop constraints of a connection at the present posture; their number */
static int32_t measure(const tabi_world *w, int32_t index, tbi_loop loop[6]) {
  const tabi_connection_def *def = &w->model->connection[index];
  side a = side_of(w, def->a, def->pos_a, def->quat_a);
  side b = side_of(w, def->b, def->pos_b, def->quat_b);
  for (int i = 0; i < 6; ++i) {
    loop[i] = (tbi_loop){.cluster = tbi_connection_cluster(w->model, index),
                         .owner = index,
                         .body_a = a.body,
                         .body_b = b.body,
                         .dof = TABI_NONE,
                         .leader = TABI_NONE};
  }
  if (def->type == TABI_CONNECTION_ROD || def->type == TABI_CONNECTION_SPRING) {
    constrain_distance(loop, &a, &b, def->length);
    return 1;
  }
  uint32_t axes = constrained_axes(def);
  int32_t made = 0;
  for (int k = 0; k < 3; ++k) {
    if (axes & ((uint32_t)TABI_MOVE_X << k))
      constrain_translation(&loop[made++], &a, &b, a.axis[k]);
  }
  return made + constrain_rotations(loop + made, &a, &b, axes);
}

static bool is_explicit_spring(const tabi_world *w, const tabi_connection_def *def) {
  return def->type == TABI_CONNECTION_SPRING && tbi_world_is_explicit(w);
}

static void add_connection(tabi_world *w, int32_t index) {
  TBI_ASSERT(index >= 0 && index < w->model->nconnection);
  const tabi_connection_def *def = &w->model->connection[index];
  tbi_loops *loops = &w->setup.loops;
  tbi_loop made[6];
  if (is_explicit_spring(w, def)) return;
  int32_t count = measure(w, index, made);
  for (int32_t i = 0; i < count; ++i) {
    if (def->type == TABI_CONNECTION_SPRING) {
      made[i].stiffness = def->stiffness;
      made[i].damping = def->damping;
    }
    loops->loop[loops->count++] = made[i];
  }
}

/* value, slope and curvature of a polynomial by Horner's rule */
static void evaluate(const double coef[5], double x, double value[3]) {
  value[0] = value[1] = value[2] = 0;
  for (int k = 4; k >= 0; --k) {
    value[2] = value[2] * x + 2 * value[1];
    value[1] = value[1] * x + value[0];
    value[0] = value[0] * x + coef[k];
  }
}

static tbi_arms arms_of(const tabi_world *w, int32_t tendon, double share) {
  const tabi_model *model = w->model;
  return (tbi_arms){tbi_tendon_ndof(model, tendon), tbi_tendon_dofs(model, tendon),
                    w->tendons.arm + model->tendon_first[tendon], share};
}

/* the same of the lengths of tendons, which are measured already */
static void couple_tendons(tabi_world *w, int32_t index) {
  const tabi_model *model = w->model;
  const tabi_coupling_def *def = &model->coupling[index];
  const tbi_tendon *follower = &w->tendons.tendon[def->tendon];
  bool led = def->tendon_leader != TABI_NONE;
  const tbi_tendon still = {0};
  const tbi_tendon *leader = led ? &w->tendons.tendon[def->tendon_leader] : &still;
  double p[3];
  evaluate(def->coef, leader->length, p);
  tbi_loop loop = {.cluster = tbi_coupling_cluster(model, index),
                   .owner = model->nconnection + index,
                   .body_a = TABI_WORLD,
                   .body_b = TABI_WORLD,
                   .dof = TABI_NONE,
                   .leader = TABI_NONE,
                   .error = follower->length - p[0],
                   .velocity = follower->rate - p[1] * leader->rate,
                   .drift =
                       tbi_tendon_drift(w->d, def->tendon) - p[2] * leader->rate * leader->rate};
  loop.tendon[0] = arms_of(w, def->tendon, 1);
  if (led) {
    loop.tendon[1] = arms_of(w, def->tendon_leader, -p[1]);
    loop.drift -= p[1] * tbi_tendon_drift(w->d, def->tendon_leader);
  }
  w->setup.loops.loop[w->setup.loops.count++] = loop;
}

static void couple_joints(tabi_world *w, int32_t index) {
  const tabi_model *model = w->model;
  const tabi_coupling_def *def = &model->coupling[index];
  const tabi_dynamics *d = w->d;
  const tbi_body *follower = &model->body[model->joint_body[def->joint]];
  int32_t lead = def->leader == TABI_NONE ? TABI_NONE : model->joint_body[def->leader];
  const tbi_body *leader = lead == TABI_NONE ? NULL : &model->body[lead];
  double p[3];
  evaluate(def->coef, leader ? d->q[leader->q] : 0, p);
  double rate = leader ? d->v[leader->v] : 0;
  tbi_loop loop = {.cluster = tbi_coupling_cluster(model, index),
                   .owner = model->nconnection + index,
                   .body_a = TABI_WORLD,
                   .body_b = TABI_WORLD,
                   .dof = follower->v,
                   .leader = leader ? leader->v : TABI_NONE,
                   .slope = p[1],
                   .error = d->q[follower->q] - p[0],
                   .velocity = d->v[follower->v] - p[1] * rate,
                   .drift = -p[2] * rate * rate};
  w->setup.loops.loop[w->setup.loops.count++] = loop;
}

static void add_loop(tabi_world *w, int32_t owner) {
  const tabi_model *model = w->model;
  TBI_ASSERT(owner >= 0 && owner < model->nowner);
  int32_t coupling = owner - model->nconnection;
  if (owner < model->nconnection) {
    add_connection(w, owner);
  } else if (coupling >= model->ncoupling) {
    tbi_loops *loops = &w->setup.loops;
    int32_t tendon = coupling - model->ncoupling;
    if (tbi_world_tendon_loop(w, tendon, &loops->loop[loops->count])) ++loops->count;
  } else if (model->coupling[coupling].tendon != TABI_NONE) {
    couple_tendons(w, coupling);
  } else {
    couple_joints(w, coupling);
  }
}

static int32_t last_dof(const tabi_model *model, int32_t link) {
  int32_t body = link == TABI_WORLD ? TABI_WORLD : model->link_home[link].body;
  return body == TABI_WORLD ? TABI_NONE : tbi_last_dof(&model->body[body]);
}

/* what a connection pushes: all between its ends, without what carries both */
static void note_connection(tabi_world *w, const tabi_connection_def *def) {
  const int32_t *parent = w->model->dof_parent;
  int32_t a = last_dof(w->model, def->a);
  int32_t b = last_dof(w->model, def->b);
  while (a != b) {
    int32_t *farther = a > b ? &a : &b;
    w->constants.looped[*farther] = true;
    *farther = parent[*farther];
  }
}

static void note_tendon(tabi_world *w, int32_t tendon) {
  if (tendon == TABI_NONE) return;
  const int32_t *dof = tbi_tendon_dofs(w->model, tendon);
  for (int32_t k = 0; k < tbi_tendon_ndof(w->model, tendon); ++k)
    w->constants.looped[dof[k]] = true;
}

static void note_coupling(tabi_world *w, const tabi_coupling_def *def) {
  const tabi_model *model = w->model;
  note_tendon(w, def->tendon);
  note_tendon(w, def->tendon_leader);
  if (def->joint == TABI_NONE) return;
  w->constants.looped[model->body[model->joint_body[def->joint]].v] = true;
  if (def->leader == TABI_NONE) return;
  w->constants.looped[model->body[model->joint_body[def->leader]].v] = true;
}

static void note_looped(tabi_world *w, int32_t owner) {
  const tabi_model *model = w->model;
  if (owner < model->nconnection) {
    note_connection(w, &model->connection[owner]);
  } else if (owner < model->nconnection + model->ncoupling) {
    note_coupling(w, &model->coupling[owner - model->nconnection]);
  } else {
    note_tendon(w, owner - model->nconnection - model->ncoupling);
  }
}

void tbi_world_order_loops(tabi_world *w) {
  const tabi_model *model = w->model;
  w->constants.nloop = 0;
  memset(w->constants.looped, 0, sizeof *w->constants.looped * (size_t)model->nv);
  for (int32_t i = 0; i < model->nowner; ++i) {
    int32_t owner = model->owner_named[i];
    int32_t cluster = tbi_owner_cluster(model, owner);
    if (cluster == TABI_NONE) continue;
    note_looped(w, owner);
    int32_t at = w->constants.nloop++;
    for (; at > 0 && tbi_owner_cluster(model, w->constants.loops[at - 1]) > cluster; --at)
      w->constants.loops[at] = w->constants.loops[at - 1];
    w->constants.loops[at] = owner;
  }
}

/* At the middle of the step (middle.c): with u the velocity there before the solution, the loop had
 * u - h/2 g'' at the start of the step, and its error is beside the chord by h^2/8 g''.  Asking for
 * -h/2 g'' makes the velocity zero at the end.  A share of the error is taken back, or all that the
 * correction speed lets.  A spring is as long as at the middle: tbi_loop_pull_spring adds h/4 (u+ -
 * u) to it, which makes its force that of the mean of both ends. */
static void target_at_middle(tbi_loop *loop, double h, double share) {
  if (tbi_loop_is_spring(loop)) return;
  double velocity = loop->velocity - 0.5 * h * loop->drift;
  double error = loop->correction - 0.125 * h * h * loop->drift;
  loop->target = -0.5 * h * loop->drift - 0.5 * velocity - share * error / h;
}

int32_t tbi_loop_tree(const tabi_model *model, const tbi_loop *loop) {
  int32_t dof = model->dof_order[model->cluster_dof[loop->cluster]];
  return model->body[model->dof_body[dof]].tree;
}

static bool closes(const tbi_loop *loop) { return !tbi_loop_is_spring(loop) && !loop->is_given; }

/* all loops of a connection are open if one of them is: it is one part that does not fit */
static void note_open(tbi_loop *loop, int32_t count, double widest) {
  for (int32_t first = 0, end = 0; first < count; first = end) {
    bool open = false;
    for (; end < count && loop[end].owner == loop[first].owner; ++end)
      open = open || (closes(&loop[end]) && fabs(loop[end].error) > widest);
    for (int32_t i = first; i < end; ++i)
      loop[i].open = open;
  }
}

/* Errors are corrected in one step, or all of a cluster by the same share if the largest would be
 * corrected faster than the correction speed: so loop constraints that contradict each other are
 * met in the middle. */
static void close_gaps(const tabi_world *w, tbi_loop *loop, int32_t count) {
  double h = w->def.timestep;
  double widest = h * w->def.correction_speed;
  bool held = w->setup.sweeps_loops && w->def.integrator == TABI_RK4;
  bool middle = tbi_tree_is_middle(w, tbi_loop_tree(w->model, loop));
  double share = 1;
  for (int32_t i = 0; i < count; ++i) {
    if (closes(&loop[i]) && fabs(loop[i].error) * share > widest)
      share = widest / fabs(loop[i].error);
  }
  note_open(loop, count, widest);
  for (int32_t i = 0; i < count; ++i) {
    loop[i].correction = share * loop[i].error;
    if (loop[i].is_given) loop[i].correction = fmin(fmax(loop[i].error, -widest), widest);
    if (loop[i].is_given && !held) continue;
    loop[i].target = held ? loop[i].velocity + h * (tbi_loop_regain(&loop[i], h) - loop[i].drift)
                          : -loop[i].correction / h - 0.5 * h * loop[i].drift;
    if (middle) target_at_middle(&loop[i], h, share < 1 ? 1 : 0.4);
  }
}

void tbi_world_loops(tabi_world *w) {
  w->setup.loops.count = 0;
  w->setup.loops.timestep = w->def.timestep;
  w->setup.loops.contradiction = TBI_CONTRADICTION;
  for (int32_t i = 0; i < w->constants.nloop; ++i)
    add_loop(w, w->constants.loops[i]);
  tbi_loop *loop = w->setup.loops.loop;
  for (int32_t first = 0, end = 0; first < w->setup.loops.count; first = end) {
    while (end < w->setup.loops.count && loop[end].cluster == loop[first].cluster)
      ++end;
    close_gaps(w, loop + first, end - first);
  }
}

/* of a spring along its length */
static double spring_force(const tabi_connection_def *def, const tbi_loop *loop) {
  return -def->stiffness * loop->error - def->damping * loop->velocity;
}

void tbi_world_pull_springs(tabi_world *w) {
  for (int32_t i = 0; i < w->model->nconnection; ++i) {
    const tabi_connection_def *def = &w->model->connection[i];
    if (!is_explicit_spring(w, def)) continue;
    tbi_loop loop[6];
    measure(w, i, loop);
    double force = spring_force(def, loop);
    sv *on_a = &w->d->force[loop->body_a];
    sv *on_b = &w->d->force[loop->body_b];
    *on_a = sv_axpy(*on_a, force, loop->wrench_a);
    *on_b = sv_axpy(*on_b, -force, loop->wrench_b);
  }
}

double tbi_world_connection_energy(const tabi_world *w) {
  double energy = 0;
  for (int32_t i = 0; i < w->model->nconnection; ++i) {
    const tabi_connection_def *def = &w->model->connection[i];
    if (def->type != TABI_CONNECTION_SPRING) continue;
    tbi_loop loop[6];
    measure(w, i, loop);
    energy += 0.5 * def->stiffness * loop->error * loop->error;
  }
  return energy;
}

/* the force of an explicit spring at the start of the step */
static void keep_spring(tabi_world *w, int32_t index) {
  const tabi_connection_def *def = &w->model->connection[index];
  if (!is_explicit_spring(w, def)) return;
  tbi_loop loop[6];
  measure(w, index, loop);
  v3_store(v3_scale(spring_force(def, loop), v4_to(loop->wrench_b.lin)),
           w->solution.connection[index].force);
}

void tbi_world_keep_loops(tabi_world *w) {
  double rate = 1 / w->def.timestep;
  w->solution.certificate.connection = 0;
  for (int32_t i = 0; i < w->model->nconnection; ++i) {
    w->solution.connection[i] = (tabi_connection_state){0};
    keep_spring(w, i);
  }
  for (int32_t i = 0; i < w->setup.loops.count; ++i) {
    const tbi_loop *loop = &w->setup.loops.loop[i];
    w->solution.certificate.connection =
        fmax(w->solution.certificate.connection, fabs(loop->missed));
    if (loop->owner >= w->model->nconnection) continue;
    tabi_connection_state *state = &w->solution.connection[loop->owner];
    state->missed = fmax(state->missed, fabs(loop->missed));
    state->redundant = state->redundant || loop->redundant;
    v3 along = v4_to(loop->wrench_b.lin);
    bool pushes = v3_dot(along, along) > 0;
    double *sum = pushes ? state->force : state->torque;
    v3 e = pushes ? along : v4_to(loop->wrench_b.ang);
    v3_store(v3_axpy(v3_load(sum), rate * loop->impulse, e), sum);
  }
}

tabi_connection_state tabi_world_connection(tabi_world *world, int32_t connection) {
  TBI_ASSERT(world && connection >= 0 && connection < world->model->nconnection);
  (void)tbi_world_dynamics(world);
  tbi_loop loop[6];
  int32_t count = measure(world, connection, loop);
  tabi_connection_state state = world->solution.connection[connection];
  for (int32_t i = 0; i < count; ++i) {
    v3 along = v4_to(loop[i].wrench_b.lin);
    double *worst = v3_dot(along, along) > 0 ? &state.gap : &state.turn;
    *worst = fmax(*worst, fabs(loop[i].error));
  }
  return state;
}
