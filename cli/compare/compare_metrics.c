/* compare_metrics.c - metrics of one run.
 *
 * The first sample is the start, which no step led to: forces and certificates count from the
 * second one on.  The noise of the zero-moment point p is that of white noise with the same mean
 * square of p(k) - (p(k-1) + p(k+1)) / 2, which is 3/2 of its own and knows nothing of slow motion.
 */
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int residuals[4] = {TBI_GAP, TBI_COMPLEMENTARITY, TBI_CONE, TBI_DISSIPATION};

bool tbi_run_metrics_begin(tbi_run_metrics *a, const tabi_scene *scene, tabi_error *err) {
  const tabi_model *model = tabi_scene_model(scene);
  size_t nrobot = (size_t)tabi_scene_nrobot(scene);
  *a = (tbi_run_metrics){.scene = scene};
  for (int i = 0; i < TBI_NMETRIC; ++i)
    a->value[i] = (double)NAN;
  a->dynamics = tabi_dynamics_create(model, err);
  a->ledger = a->dynamics ? tabi_ledger_create(model, err) : NULL;
  if (!a->ledger) return false;
  a->zmp = calloc(nrobot + 1, sizeof *a->zmp);
  a->zmp_known = calloc(nrobot + 1, sizeof *a->zmp_known);
  if (a->zmp && a->zmp_known) return true;
  tbi_fail(err, TABI_ERR_MEMORY, (tabi_place){NULL, 0}, "out of memory");
  return false;
}

void tbi_run_metrics_free(tbi_run_metrics *metrics) {
  tabi_dynamics_destroy(metrics->dynamics);
  tabi_ledger_destroy(metrics->ledger);
  tabi_fall_destroy(metrics->fall);
  free(metrics->residual);
  free(metrics->contact);
  free(metrics->zmp);
  free(metrics->zmp_known);
  free(metrics->link);
  *metrics = (tbi_run_metrics){0};
}

/* -- samples */

static double total(const tabi_energy *e) { return e->kinetic + e->potential + e->spring; }

static void raise_to(tbi_run_metrics *a, tbi_metric metric, double value) {
  a->value[metric] = fmax(a->value[metric], value);
}

static tabi_status begin(tbi_run_metrics *a, const tabi_sample *sample, tabi_error *err) {
  static const int zero[] = {TBI_FORCE_PEAK,  TBI_FORCE_JUMP,  TBI_CONTACT_PEAK, TBI_SLIP_ENERGY,
                             TBI_PENETRATION, TBI_ENERGY_GAIN, TBI_STALLED};
  for (size_t i = 0; i < sizeof zero / sizeof *zero; ++i)
    a->value[zero[i]] = 0;
  a->first = a->last = sample->time;
  a->energy = total(&sample->energy) - sample->energy.work;
  a->value[TBI_ENERGY_START] = total(&sample->energy);
  a->value[TBI_ENERGY_END] = total(&sample->energy);
  a->fall = tabi_fall_create(a->scene, sample->q, sample->v, err);
  return a->fall ? TABI_OK : err->status;
}

static bool stands(const tabi_model *model, int32_t link) {
  return link == TABI_WORLD || tabi_model_link_body(model, link) == TABI_WORLD;
}

static int by_links(const void *one, const void *other) {
  const tabi_sample_contact *const *a = one;
  const tabi_sample_contact *const *b = other;
  int32_t first = (*a)->link_a - (*b)->link_a;
  return first != 0 ? first : (*a)->link_b - (*b)->link_b;
}

/* Contacts come in the order of shapes, of which a link may have several. */
static bool add_pairs(tbi_run_metrics *a, const tabi_sample *sample) {
  if (sample->ncontact > a->contact_capacity) {
    size_t size = 2 * (size_t)sample->ncontact * sizeof(tabi_sample_contact *);
    const tabi_sample_contact **more = realloc(a->contact, size);
    if (!more) return false;
    a->contact = more;
    a->contact_capacity = 2 * sample->ncontact;
  }
  for (int32_t i = 0; i < sample->ncontact; ++i)
    a->contact[i] = &sample->contact[i];
  if (sample->ncontact > 0)
    qsort(a->contact, (size_t)sample->ncontact, sizeof(tabi_sample_contact *), by_links);
  double force[3] = {0};
  for (int32_t i = 0; i < sample->ncontact; ++i) {
    bool same = i > 0 && by_links(&a->contact[i - 1], &a->contact[i]) == 0;
    for (int k = 0; k < 3; ++k)
      force[k] = (same ? force[k] : 0) + (double)a->contact[i]->force[k];
    bool whole = i + 1 == sample->ncontact || by_links(&a->contact[i], &a->contact[i + 1]) != 0;
    double size = sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2]);
    if (whole) raise_to(a, TBI_CONTACT_PEAK, size);
  }
  return true;
}

static void add_contacts(tbi_run_metrics *a, const tabi_sample *sample) {
  const tabi_model *model = tabi_scene_model(a->scene);
  double ground = 0;
  for (int32_t i = 0; i < sample->ncontact; ++i) {
    const tabi_sample_contact *c = &sample->contact[i];
    double up = (double)c->force[2];
    if (stands(model, c->link_a)) ground += up;
    if (stands(model, c->link_b)) ground -= up;
    if (sample->step > 1) raise_to(a, TBI_PENETRATION, -(double)c->gap);
    a->value[TBI_SLIP_ENERGY] += (double)c->power * (sample->time - a->last);
  }
  raise_to(a, TBI_FORCE_PEAK, ground);
  if (a->samples > 1) raise_to(a, TBI_FORCE_JUMP, fabs(ground - a->force));
  a->force_sum += ground;
  a->force = ground;
}

static void add_zmp(tbi_run_metrics *a, int32_t robot, const tabi_balance *balance) {
  double(*before)[2] = a->zmp[robot];
  if (!(balance->force[2] > 0)) {
    a->zmp_known[robot] = 0;
    return;
  }
  for (int k = 0; k < 2 && a->zmp_known[robot] == 2; ++k) {
    double off = before[1][k] - (before[0][k] + balance->zmp[k]) / 2;
    a->zmp_square += off * off / 1.5;
  }
  if (a->zmp_known[robot] == 2) ++a->zmp_count;
  if (a->zmp_known[robot] < 2) ++a->zmp_known[robot];
  for (int k = 0; k < 2; ++k) {
    before[0][k] = before[1][k];
    before[1][k] = balance->zmp[k];
  }
}

static bool add_certificate(tbi_run_metrics *a, const tabi_certificate *c) {
  const double residual[4] = {c->gap, c->complementarity, c->cone, c->dissipation};
  if (a->count == a->capacity) {
    int64_t capacity = a->capacity > 0 ? 2 * a->capacity : 4096;
    double(*more)[4] = realloc(a->residual, (size_t)capacity * sizeof *more);
    if (!more) return false;
    a->residual = more;
    a->capacity = capacity;
  }
  memcpy(a->residual[a->count++], residual, sizeof residual);
  if (!c->converged) ++a->value[TBI_STALLED];
  return true;
}

/* The fall that lasts to the end counts. */
static void update_fall(tbi_run_metrics *a, const tabi_sample *sample) {
  if (!tabi_fall_lies(a->fall, a->dynamics)) {
    a->value[TBI_FALL] = (double)NAN;
  } else if (isnan(a->value[TBI_FALL])) {
    a->value[TBI_FALL] = sample->time;
  }
}

static bool add_step(tbi_run_metrics *a, const tabi_sample *sample) {
  add_contacts(a, sample);
  for (int32_t i = 0; i < sample->nrobot; ++i)
    add_zmp(a, i, &sample->balance[i]);
  double energy = total(&sample->energy);
  a->value[TBI_ENERGY_END] = energy;
  double now = energy - sample->energy.work;
  /* contacts that are springs give back what they hold, which logs do not tell: then the start
   * counts */
  if (!tabi_contact_describe(tabi_scene_world_def(a->scene).contact)->compliant)
    a->energy = fmin(a->energy, now);
  raise_to(a, TBI_ENERGY_GAIN, now - a->energy);
  update_fall(a, sample);
  a->last = sample->time;
  return add_pairs(a, sample) && add_certificate(a, &sample->certificate);
}

bool tbi_run_metrics_add(tbi_run_metrics *a, const tabi_sample *sample, tabi_error *err) {
  tabi_dynamics_set_state(a->dynamics, sample->q, sample->v);
  if (a->samples == 0) {
    if (begin(a, sample, err) != TABI_OK) return false;
  } else if (!add_step(a, sample)) {
    tbi_fail(err, TABI_ERR_MEMORY, (tabi_place){NULL, 0}, "out of memory; give a shorter --time");
    return false;
  }
  ++a->samples;
  return tabi_ledger_add(a->ledger, sample, err) == TABI_OK;
}

/* -- the end */

static int rising(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The largest residuals, and those that 99 of 100 steps stay within. */
static bool end_residuals(tbi_run_metrics *a) {
  if (a->count == 0) return true;
  double *sorted = malloc((size_t)a->count * sizeof *sorted);
  if (!sorted) return false;
  int64_t rank = (99 * a->count + 99) / 100 - 1;
  for (int k = 0; k < 4; ++k) {
    for (int64_t i = 0; i < a->count; ++i)
      sorted[i] = a->residual[i][k];
    qsort(sorted, (size_t)a->count, sizeof *sorted, rising);
    a->value[residuals[k]] = sorted[a->count - 1];
    a->value[residuals[k] + 1] = sorted[rank];
  }
  free(sorted);
  return true;
}

static tbi_link_metrics *metrics_of(tbi_run_metrics *a, int32_t link) {
  for (int32_t i = 0; i < a->nlink; ++i) {
    if (a->link[i].link == link) return &a->link[i];
  }
  a->link[a->nlink] = (tbi_link_metrics){.link = link};
  return &a->link[a->nlink++];
}

static bool end_ledger(tbi_run_metrics *a) {
  int32_t count = 0;
  const tabi_ledger_entry *entry = tabi_ledger_entries(a->ledger, &count);
  size_t nlink = (size_t)tabi_model_nlink(tabi_scene_model(a->scene));
  a->link = calloc(nlink + 1, sizeof *a->link);
  if (!a->link) return false;
  double stick = 0;
  double crept = 0;
  a->value[TBI_SLIP] = 0;
  for (int32_t i = 0; i < count; ++i) {
    tbi_link_metrics *link = metrics_of(a, entry[i].link);
    bool slips = entry[i].status == TABI_CONTACT_SLIP;
    double time = entry[i].end - entry[i].start;
    link->energy += entry[i].energy;
    *(slips ? &link->slip : &link->creep) += entry[i].distance;
    *(slips ? &link->slip_time : &link->stick_time) += time;
    a->value[TBI_SLIP] += slips ? entry[i].distance : 0;
    stick += slips ? 0 : time;
    crept += slips ? 0 : entry[i].distance;
  }
  if (stick > 0) a->value[TBI_CREEP] = crept / stick;
  return true;
}

bool tbi_run_metrics_end(tbi_run_metrics *a, tabi_error *err) {
  if (a->count > 0) a->value[TBI_FORCE_MEAN] = a->force_sum / (double)a->count;
  if (a->zmp_count > 0) a->value[TBI_ZMP_NOISE] = sqrt(a->zmp_square / (double)a->zmp_count);
  if (end_residuals(a) && end_ledger(a)) return true;
  tbi_fail(err, TABI_ERR_MEMORY, (tabi_place){NULL, 0}, "out of memory");
  return false;
}
