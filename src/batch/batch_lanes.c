/* batch_lanes.c - groups of worlds go into lanes, step, and come back.
 *
 * Numbers of a world lie side by side in its arrays and W apart in lanes; a group of W worlds is
 * copied in, makes all steps of a call, and is copied out.  Places of the last group that no world
 * fills repeat its first world and do not step. */
#include "batch/batch.h"

#include "base/array.h"
#include "base/layout.h"
#include "base/random.h"
#include "batch/lane_feel.h"
#include "batch/lane_sense.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

/* -- which widths this machine has */

tbi_lane_step_fn *tbi_lanes_step(int32_t lanes) {
  if (lanes == 1) return tbi_lane_step_1;
#ifdef TBI_LANES_X86
  if (lanes == 4 && __builtin_cpu_supports("avx2")) return tbi_lane_step_4;
  bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
  if (lanes == 8 && wide) return tbi_lane_step_8;
#else
  if (lanes == 2) return tbi_lane_step_2;
#endif
  return NULL;
}

int32_t tbi_lanes_best(void) {
  const int32_t widths[] = {8, 4, 2};
  for (size_t i = 0; i < sizeof widths / sizeof *widths; ++i)
    if (tbi_lanes_step(widths[i])) return widths[i];
  return 1;
}

/* -- memory */

static void place_work(tbi_layout *at, tbi_lane_work *w, const tbi_plan *p, int32_t lanes) {
#define PLACE(name, count) w->name = tbi_layout_take(at, (int64_t)(count)*lanes, sizeof *w->name);
  TBI_LANE_ARRAYS(PLACE)
#undef PLACE
  w->near = tbi_layout_take(at, 2 * (int64_t)p->nstand, sizeof *w->near);
  w->active = tbi_layout_take(at, p->nslot, sizeof *w->active);
  w->held = tbi_layout_take(at, p->nslot, sizeof *w->held);
  w->seen = tbi_layout_take(at, p->nslot, sizeof *w->seen);
  w->bundles = tbi_layout_take(at, p->nbundle, sizeof *w->bundles);
  w->bundled = tbi_layout_take(at, p->nslot, sizeof *w->bundled);
  w->rows = tbi_layout_take(at, p->nv, sizeof *w->rows);
  w->limited = tbi_layout_take(at, p->nv, sizeof *w->limited);
  w->row_start = tbi_layout_take(at, p->nv, sizeof *w->row_start);
}

static void splat(double *to, const double *from, int64_t n, int32_t lanes) {
  for (int64_t i = 0; i < n; ++i)
    for (int32_t l = 0; l < lanes; ++l)
      to[i * lanes + l] = from[i];
}

/* what does not differ between worlds */
static void fill_constants(const tabi_batch *b, tbi_lane_work *w) {
  const tbi_plan *p = b->plan;
  const double one = 1;
  int64_t start = 0;
  for (int32_t k = 0; k < p->nv; ++k) {
    w->row_start[k] = start;
    start += p->model->dof_depth[k] + 1;
  }
  splat(w->inertia, p->inertia, 10 * (int64_t)p->nbody, b->lanes);
  splat(w->kp, b->kp, p->nv, b->lanes);
  splat(w->kd, b->kd, p->nv, b->lanes);
  splat(w->effort, b->effort, p->nv, b->lanes);
  splat(w->gravity, b->world_def.gravity, 3, b->lanes);
  splat(w->friction, &one, 1, b->lanes);
  w->push_link = b->def.push_link;
  w->push_body = TABI_NONE;
  if (b->field[TABI_BATCH_PUSH].data) {
    const tbi_link_home *home = &b->model->link_home[b->def.push_link];
    w->push_body = home->body == TABI_WORLD ? TABI_NONE : p->place[home->body];
    v3_store(home->frame.pos, w->push_point);
  }
}

bool tbi_lanes_create(tabi_batch *b) {
  int32_t threads = b->def.threads;
  b->work = calloc((size_t)threads, sizeof *b->work);
  b->work_memory = calloc((size_t)threads, sizeof *b->work_memory);
  if (!b->work || !b->work_memory) return false;
  for (int32_t t = 0; t < threads; ++t) {
    tbi_lane_work *w = &b->work[t];
    tbi_layout at = {NULL, 0};
    w->plan = b->plan;
    w->lanes = b->lanes;
    place_work(&at, w, b->plan, b->lanes);
    b->work_memory[t] = tbi_block_alloc(at.used);
    if (!b->work_memory[t]) return false;
    at = (tbi_layout){b->work_memory[t], 0};
    place_work(&at, w, b->plan, b->lanes);
    fill_constants(b, w);
  }
  return true;
}

void tbi_lanes_destroy(tabi_batch *b) {
  for (int32_t t = 0; b->work_memory && t < b->def.threads; ++t)
    free(b->work_memory[t]);
  free(b->work_memory);
  free(b->work);
}

int32_t tbi_lanes_groups(const tabi_batch *b) { return (b->worlds + b->lanes - 1) / b->lanes; }

/* -- into lanes */

/* A group: its worlds, and which of them step. */
typedef struct group {
  const tabi_batch *b;
  tbi_lane_work *w;
  int32_t world[TBI_MAX_LANES];
  bool real[TBI_MAX_LANES]; /* the place is not filled up by another world */
} group;

static void load_rows(const group *g, tabi_batch_field field, double *to) {
  int32_t lanes = g->w->lanes;
  int32_t n = g->b->field[field].n;
  if (!g->b->field[field].data) return;
  for (int32_t l = 0; l < lanes; ++l) {
    const double *from = tbi_batch_row(g->b, field, g->world[l]);
    for (int32_t i = 0; i < n; ++i)
      to[i * lanes + l] = from[i];
  }
}

/* masses of the user are in the axes of links, those of steps in the axes of bodies */
static void load_inertia(const group *g, int32_t lane, int32_t place) {
  const tabi_batch *b = g->b;
  const tbi_plan *p = b->plan;
  int32_t body = p->body[place].body;
  int32_t world = g->world[lane];
  int32_t link = b->model->joint[b->model->body[body].joint].child;
  const tbi_frame *frame = &b->model->link_home[link].frame;
  double ten[10];
  memcpy(ten, p->inertia + 10 * (ptrdiff_t)place, sizeof ten);
  const double *mass = tbi_batch_row(b, TABI_BATCH_MASS, world);
  const double *com = tbi_batch_row(b, TABI_BATCH_COM, world);
  const double *moment = tbi_batch_row(b, TABI_BATCH_INERTIA, world);
  if (mass) ten[0] = mass[body];
  if (com) {
    v3 local = v3_load(com + 3 * (ptrdiff_t)body);
    v3_store(v3_add(frame->pos, m3_mulv(&frame->rot, local)), ten + 1);
  }
  if (moment) {
    const double *six = moment + 6 * (ptrdiff_t)body;
    s3 own = s3_rotate(&frame->rot, (s3){six[0], six[1], six[2], six[3], six[4], six[5]});
    const double turned[6] = {own.xx, own.yy, own.zz, own.xy, own.xz, own.yz};
    memcpy(ten + 4, turned, sizeof turned);
  }
  for (int i = 0; i < 10; ++i)
    g->w->inertia[(10 * (ptrdiff_t)place + i) * g->w->lanes + lane] = ten[i];
}

static void load_variation(const group *g) {
  const tabi_batch *b = g->b;
  load_rows(g, TABI_BATCH_FRICTION, g->w->friction);
  load_rows(g, TABI_BATCH_KP, g->w->kp);
  load_rows(g, TABI_BATCH_KD, g->w->kd);
  load_rows(g, TABI_BATCH_EFFORT, g->w->effort);
  load_rows(g, TABI_BATCH_GRAVITY, g->w->gravity);
  load_rows(g, TABI_BATCH_PUSH, g->w->push);
  bool heavy = b->field[TABI_BATCH_MASS].data || b->field[TABI_BATCH_COM].data ||
               b->field[TABI_BATCH_INERTIA].data;
  for (int32_t l = 0; heavy && l < g->w->lanes; ++l)
    for (int32_t i = 0; i < b->plan->nbody; ++i)
      load_inertia(g, l, i);
}

static bool is_marked(const tbi_plan *p, int32_t slot) {
  return slot >= p->patch_slot && slot < p->patch_slot + TBI_PATCH_SLOTS * p->npatch;
}

/* impulses of the group before go, those of this one come */
static void load_contacts(const group *g) {
  tbi_lane_work *w = g->w;
  int32_t lanes = w->lanes;
  bool rolls = g->b->plan->nroll > 0;
  for (int32_t i = 0; i < w->nheld; ++i) {
    ptrdiff_t first = 3 * (ptrdiff_t)w->held[i] * lanes;
    memset(w->impulse + first, 0, sizeof(double) * 3 * (size_t)lanes);
    if (rolls) memset(w->roll_impulse + first, 0, sizeof(double) * 3 * (size_t)lanes);
  }
  w->nheld = 0;
  for (int32_t l = 0; l < lanes; ++l) {
    const tbi_warm_world *warm = &g->b->warm[g->world[l]];
    for (int32_t i = 0; i < warm->ncontact; ++i) {
      int32_t slot = warm->slot[i];
      for (int c = 0; c < 3; ++c)
        w->impulse[(3 * (ptrdiff_t)slot + c) * lanes + l] = warm->impulse[3 * i + c];
      for (int c = 0; rolls && c < 3; ++c)
        w->roll_impulse[(3 * (ptrdiff_t)slot + c) * lanes + l] = warm->roll[3 * i + c];
      if (warm->mark && is_marked(g->b->plan, slot))
        w->mark[(ptrdiff_t)(slot - g->b->plan->patch_slot) * lanes + l] = warm->mark[i];
      if (!w->seen[slot]) w->held[w->nheld++] = slot;
      w->seen[slot] = 1;
    }
  }
  for (int32_t i = 0; i < w->nheld; ++i)
    w->seen[w->held[i]] = 0;
}

static void load_warm(const group *g) {
  tbi_lane_work *w = g->w;
  int32_t lanes = w->lanes;
  int32_t nv = g->b->plan->nv;
  for (int32_t l = 0; l < lanes; ++l) {
    const tbi_warm_world *warm = &g->b->warm[g->world[l]];
    for (int32_t i = 0; i < 3 * nv; ++i)
      w->row[i * lanes + l] = warm->row[i];
    for (int32_t i = 0; i < nv; ++i)
      w->saturated[i * lanes + l] = warm->saturated[i];
    for (int32_t i = 0; i < nv; ++i) {
      w->doubt[i * lanes + l] = warm->doubt[i];
      w->change[i * lanes + l] = warm->change[i];
    }
    for (int32_t i = 0; i < g->b->model->nactuator; ++i)
      w->actuator_saturated[i * lanes + l] = warm->saturated[nv + i];
  }
  load_contacts(g);
}

static void set_mask(double *mask, int32_t lane, bool on) {
  int64_t bits = on ? -1 : 0;
  memcpy(mask + lane, &bits, sizeof bits);
}

static bool get_mask(const double *mask, int32_t lane) {
  int64_t bits;
  memcpy(&bits, mask + lane, sizeof bits);
  return bits != 0;
}

/* which worlds step; false: none of them */
static bool choose_alive(const group *g, const uint8_t *active) {
  bool any = false;
  for (int32_t l = 0; l < g->w->lanes; ++l) {
    int32_t world = g->world[l];
    bool steps = g->real[l] && g->b->status[world] == TABI_OK && (!active || active[world]);
    set_mask(g->w->alive, l, steps);
    set_mask(g->w->failed, l, false);
    any = any || steps;
  }
  return any;
}

static void load_inputs(const group *g) {
  load_rows(g, TABI_BATCH_TARGET, g->w->target);
  load_rows(g, TABI_BATCH_TORQUE, g->w->tau);
  load_rows(g, TABI_BATCH_CONTROL, g->w->control);
}

static void load(const group *g) {
  load_rows(g, TABI_BATCH_Q, g->w->q);
  load_rows(g, TABI_BATCH_V, g->w->v);
  load_inputs(g);
  load_variation(g);
  load_warm(g);
}

/* -- back */

static void store_row(const group *g, tabi_batch_field field, const double *from, int32_t lane) {
  double *to = tbi_batch_row(g->b, field, g->world[lane]);
  int32_t lanes = g->w->lanes;
  for (int32_t i = 0; to && i < g->b->field[field].n; ++i)
    to[i] = from[i * lanes + lane];
}

static void store_warm(const group *g, int32_t l) {
  const tbi_lane_work *w = g->w;
  int32_t lanes = w->lanes;
  int32_t nv = g->b->plan->nv;
  tbi_warm_world *warm = &g->b->warm[g->world[l]];
  for (int32_t i = 0; i < 3 * nv; ++i)
    warm->row[i] = w->row[i * lanes + l];
  for (int32_t i = 0; i < nv; ++i)
    warm->saturated[i] = (int8_t)w->saturated[i * lanes + l];
  for (int32_t i = 0; i < nv; ++i) {
    warm->doubt[i] = (int8_t)w->doubt[i * lanes + l];
    warm->change[i] = w->change[i * lanes + l];
  }
  for (int32_t i = 0; i < g->b->model->nactuator; ++i)
    warm->saturated[nv + i] = (int8_t)w->actuator_saturated[i * lanes + l];
  warm->ncontact = 0;
  for (int32_t i = 0; i < w->nheld && warm->ncontact < g->b->kept; ++i) {
    ptrdiff_t first = 3 * (ptrdiff_t)w->held[i] * lanes + l;
    const double *impulse = w->impulse + first;
    if (!(impulse[0] > 0)) continue;
    for (int c = 0; c < 3; ++c)
      warm->impulse[3 * (ptrdiff_t)warm->ncontact + c] = impulse[(ptrdiff_t)c * lanes];
    for (int c = 0; g->b->plan->nroll > 0 && c < 3; ++c)
      warm->roll[3 * (ptrdiff_t)warm->ncontact + c] = w->roll_impulse[first + (ptrdiff_t)c * lanes];
    if (warm->mark && is_marked(g->b->plan, w->held[i]))
      warm->mark[warm->ncontact] =
          (uint32_t)w->mark[(ptrdiff_t)(w->held[i] - g->b->plan->patch_slot) * lanes + l];
    warm->slot[warm->ncontact++] = (uint16_t)w->held[i];
  }
}

/* contacts on a link, as forces about its origin */
static void store_feet(const group *g, int32_t l) {
  double *to = tbi_batch_row(g->b, TABI_BATCH_FOOT, g->world[l]);
  for (int32_t i = 0; to && i < g->b->def.nfoot; ++i)
    tbi_lane_foot(g->w, g->b->foot[i], l, to + 6 * (ptrdiff_t)i);
}

/* of the noise of a world's sensors after so many steps */
static uint64_t seed_of(const tabi_batch *b, int32_t world, int64_t steps) {
  uint64_t seed = b->world_def.seed;
  seed = tbi_random_next(&seed) ^ (uint64_t)world;
  return tbi_random_next(&seed) ^ (uint64_t)steps;
}

/* of one world, so many steps into a call */
static void read_sensors(const group *g, int32_t l, int32_t steps) {
  const tabi_batch *b = g->b;
  int32_t world = g->world[l];
  int64_t step = b->steps[world] + steps;
  double *value = tbi_batch_row(b, TABI_BATCH_SENSOR, world);
  if (!value) return;
  tbi_lane_sensors(g->w, l, seed_of(b, world, step), steps > 0, value);
  if (b->late) tbi_lane_delay(b->plan, step, b->late + world * b->nlate, value);
}

/* delays need the readings of every step, and to begin with those of the state */
static void read_all_sensors(const group *g, int32_t steps) {
  for (int32_t l = 0; l < g->w->lanes; ++l) {
    bool begins = g->b->steps[g->world[l]] == 0;
    if (!g->real[l] || !get_mask(g->w->alive, l) || (steps == 0 && !begins)) continue;
    read_sensors(g, l, steps);
  }
}

static void store_lane(const group *g, int32_t l, int32_t steps) {
  int32_t world = g->world[l];
  bool failed = get_mask(g->w->failed, l);
  if (!failed && !get_mask(g->w->alive, l)) return;
  store_row(g, TABI_BATCH_Q, g->w->q, l);
  store_row(g, TABI_BATCH_V, g->w->v, l);
  store_row(g, TABI_BATCH_CERTIFICATE, g->w->told, l);
  if (failed) {
    g->b->status[world] = TABI_ERR_DIVERGED;
    return;
  }
  store_warm(g, l);
  store_feet(g, l);
  if (!g->b->late) read_sensors(g, l, steps);
  g->b->steps[world] += steps;
}

/* -- steps */

/* targets act as many steps later as the world's delay says */
static void delay_targets(const group *g, int32_t step) {
  const tabi_batch *b = g->b;
  int32_t nv = b->plan->nv;
  int32_t room = b->delay_steps;
  for (int32_t l = 0; l < g->w->lanes; ++l) {
    int32_t world = g->world[l];
    if (!g->real[l] || !get_mask(g->w->alive, l)) continue;
    double *ring = b->delayed + (ptrdiff_t)world * room * nv;
    const double *now = tbi_batch_row(b, TABI_BATCH_TARGET, world);
    int64_t at = b->steps[world] + step;
    for (int32_t i = 0; at == 0 && i < room; ++i)
      memcpy(ring + (ptrdiff_t)i * nv, now, sizeof *now * (size_t)nv);
    memcpy(ring + at % room * nv, now, sizeof *now * (size_t)nv);
    double wanted = tbi_batch_row(b, TABI_BATCH_DELAY, world)[0] / b->plan->h + 0.5;
    int32_t late = wanted > 0 ? (int32_t)fmin(wanted, room - 1) : 0;
    const double *then = ring + (at + room - late) % room * nv;
    for (int32_t i = 0; i < nv; ++i)
      g->w->target[i * g->w->lanes + l] = then[i];
  }
}

static void begin_rollout_step(const tbi_batch_job *job, const group *g, int32_t step) {
  for (int32_t l = 0; l < g->w->lanes; ++l)
    if (g->real[l]) tbi_batch_take_inputs(job, g->world[l], job->first + step);
  load_inputs(g);
}

static void end_rollout_step(const tbi_batch_job *job, const group *g, int32_t step) {
  const tbi_plan *p = g->b->plan;
  for (int32_t l = 0; l < g->w->lanes; ++l) {
    if (!g->real[l]) continue;
    ptrdiff_t row = (ptrdiff_t)g->world[l] * job->count + job->first + step;
    for (int32_t i = 0; job->q && i < p->nq; ++i)
      job->q[row * p->nq + i] = g->w->q[i * g->w->lanes + l];
    for (int32_t i = 0; job->v && i < p->nv; ++i)
      job->v[row * p->nv + i] = g->w->v[i * g->w->lanes + l];
  }
}

void tbi_lanes_run(const tbi_batch_job *job, int32_t thread, int32_t index) {
  tabi_batch *b = job->batch;
  group g = {.b = b, .w = &b->work[thread]};
  int32_t first = index * b->lanes;
  for (int32_t l = 0; l < b->lanes; ++l) {
    g.real[l] = first + l < b->worlds;
    g.world[l] = b->order[g.real[l] ? first + l : first];
  }
  if (!choose_alive(&g, job->active) && !job->rollout) return;
  load(&g);
  if (b->late) read_all_sensors(&g, 0);
  for (int32_t step = 0; step < job->steps; ++step) {
    if (job->rollout) begin_rollout_step(job, &g, step);
    if (b->delayed) delay_targets(&g, step);
    b->step(g.w);
    if (b->late) read_all_sensors(&g, step + 1);
    if (job->rollout) end_rollout_step(job, &g, step);
  }
  for (int32_t l = 0; l < b->lanes; ++l)
    if (g.real[l]) store_lane(&g, l, job->steps);
}
