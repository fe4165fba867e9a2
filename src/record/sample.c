/* sample.c - a sample as 64-bit words.
 *
 *   step | flags, contacts | contacts with force, iterations | 5 numbers of the certificate
 *   4 of the energy | q | v | sensors | 27 words for each robot | 2 for each joint | 9 for
 *   each contact
 *
 * A robot: CoM, force, ZMP, margin | corners | 16 x (corner x y).
 * A joint: effort applied, and commanded with the bits of applied changed (zero where both are the
 * same) | limit, 0; 32-bit floats.
 * A contact: shapes | links | gap, friction | point x y | point z, normal x | normal y z | force x
 * y | force z, velocity x | velocity y z.  Corners and contacts are 32-bit floats, two in a word,
 * the first in the lower half. */
#include "base/assertion.h"
#include "record/record.h"

#include <math.h>
#include <string.h>

enum {
  HEAD_WORDS = 12,
  CONTACT_WORDS = 9,
  BALANCE_WORDS = 11 + TABI_BALANCE_CORNERS,
  EFFORT_WORDS = 2
};
enum { CONVERGED = 1, FALLBACK = 2, ENERGY_LIMITED = 4 };

tbi_sample_shape tbi_sample_shape_of(const tabi_scene *scene) {
  TBI_ASSERT(scene);
  const tabi_model *model = tabi_scene_model(scene);
  tbi_sample_shape shape = {.nq = tabi_model_nq(model),
                            .nv = tabi_model_nv(model),
                            .robots = tabi_scene_nrobot(scene),
                            .shapes = tabi_model_nshape(model),
                            .links = tabi_model_nlink(model),
                            .joints = tabi_model_njoint(model)};
  for (int32_t i = 0; i < tabi_model_nsensor(model); ++i)
    shape.sensors += tabi_sensor_type_size(tabi_model_sensor(model, i).type);
  return shape;
}

static size_t state_words(const tbi_sample_shape *shape) {
  return (size_t)shape->nq + (size_t)shape->nv + (size_t)shape->sensors;
}

static size_t fixed_words(const tbi_sample_shape *shape) {
  return HEAD_WORDS + state_words(shape) + BALANCE_WORDS * (size_t)shape->robots +
         EFFORT_WORDS * (size_t)shape->joints;
}

size_t tbi_sample_words(const tbi_sample_shape *shape, size_t ncontact) {
  return fixed_words(shape) + CONTACT_WORDS * ncontact;
}

size_t tbi_sample_contacts(size_t words) { return words / CONTACT_WORDS; }

static uint64_t pair_of(uint32_t low, uint32_t high) { return low | (uint64_t)high << 32; }
static uint32_t low(uint64_t word) { return (uint32_t)(word & UINT32_MAX); }
static uint32_t high(uint64_t word) { return (uint32_t)(word >> 32); }

/* -- encode */

static uint64_t *put(uint64_t *word, const double *number, int32_t count) {
  if (count > 0) memcpy(word, number, sizeof *number * (size_t)count);
  return word + count;
}

/* An even number of them. */
static uint64_t *put_floats(uint64_t *word, const float *number, size_t count) {
  TBI_ASSERT(count % 2 == 0);
  uint32_t bits[2];
  for (size_t i = 0; i < count; i += 2) {
    memcpy(bits, number + i, sizeof bits);
    *word++ = pair_of(bits[0], bits[1]);
  }
  return word;
}

static uint64_t *put_contact(uint64_t *word, const tabi_sample_contact *c) {
  const float numbers[] = {c->gap,       c->friction,    c->point[0],    c->point[1],   c->point[2],
                           c->normal[0], c->normal[1],   c->normal[2],   c->force[0],   c->force[1],
                           c->force[2],  c->velocity[0], c->velocity[1], c->velocity[2]};
  *word++ = pair_of((uint32_t)c->shape_a, (uint32_t)c->shape_b);
  *word++ = pair_of((uint32_t)c->link_a, (uint32_t)c->link_b);
  return put_floats(word, numbers, sizeof numbers / sizeof *numbers);
}

static uint64_t *put_balance(uint64_t *word, const tabi_balance *b) {
  float corner[2 * TABI_BALANCE_CORNERS] = {0};
  TBI_ASSERT(b->ncorner >= 0 && b->ncorner <= TABI_BALANCE_CORNERS);
  for (size_t i = 0; i < (size_t)b->ncorner; ++i) {
    corner[2 * i] = (float)b->corner[i][0];
    corner[2 * i + 1] = (float)b->corner[i][1];
  }
  word = put(word, b->com, 3);
  word = put(word, b->force, 3);
  word = put(word, b->zmp, 3);
  word = put(word, &b->margin, 1);
  *word++ = (uint64_t)b->ncorner;
  return put_floats(word, corner, sizeof corner / sizeof *corner);
}

static uint32_t bits_of(float number) {
  uint32_t bits = 0;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static uint64_t *put_effort(uint64_t *word, const tabi_sample_effort *e) {
  *word++ = pair_of(bits_of(e->applied), bits_of(e->commanded) ^ bits_of(e->applied));
  *word++ = pair_of(bits_of(e->limit), 0);
  return word;
}

void tbi_sample_encode(const tbi_sample_shape *shape, const tabi_sample *sample, uint64_t *word) {
  const tabi_certificate *c = &sample->certificate;
  const tabi_energy *e = &sample->energy;
  unsigned flags = (c->converged ? CONVERGED : 0U) | (c->fallback ? FALLBACK : 0U) |
                   (c->energy_limited ? ENERGY_LIMITED : 0U);
  const uint64_t *begin = word;
  TBI_ASSERT(sample->nrobot == shape->robots && sample->ncontact >= 0);
  TBI_ASSERT(sample->njoint == shape->joints);
  word[0] = (uint64_t)sample->step;
  word[1] = pair_of(flags, (uint32_t)sample->ncontact);
  word[2] = pair_of((uint32_t)c->contacts, (uint32_t)c->iterations);
  const double numbers[] = {c->gap,         c->complementarity, c->cone,
                            c->dissipation, c->connection,      e->kinetic,
                            e->potential,   e->spring,          e->work};
  word = put(word + 3, numbers, HEAD_WORDS - 3);
  word = put(word, sample->q, shape->nq);
  word = put(word, sample->v, shape->nv);
  word = put(word, sample->sensor, shape->sensors);
  for (int32_t i = 0; i < shape->robots; ++i)
    word = put_balance(word, &sample->balance[i]);
  for (int32_t i = 0; i < shape->joints; ++i)
    word = put_effort(word, &sample->effort[i]);
  for (int32_t i = 0; i < sample->ncontact; ++i)
    word = put_contact(word, &sample->contact[i]);
  TBI_ASSERT(word == begin + tbi_sample_words(shape, (size_t)sample->ncontact));
}

/* -- decode */

static const uint64_t *get(const uint64_t *word, double *number, size_t count) {
  memcpy(number, word, sizeof *number * count);
  return word + count;
}

static const uint64_t *get_floats(const uint64_t *word, float *number, size_t count) {
  TBI_ASSERT(count % 2 == 0);
  for (size_t i = 0; i < count; i += 2, ++word) {
    const uint32_t bits[2] = {low(*word), high(*word)};
    memcpy(number + i, bits, sizeof bits);
  }
  return word;
}

/* Whether both halves are indices below a count, or TABI_NONE. */
static bool are_indices(uint64_t word, int32_t count) {
  const uint32_t none = (uint32_t)TABI_NONE;
  return (low(word) < (uint32_t)count || low(word) == none) &&
         (high(word) < (uint32_t)count || high(word) == none);
}

static const uint64_t *get_contact(const uint64_t *word, double timestep, tabi_sample_contact *c) {
  float number[2 * (CONTACT_WORDS - 2)];
  c->shape_a = (int32_t)low(word[0]);
  c->shape_b = (int32_t)high(word[0]);
  c->link_a = (int32_t)low(word[1]);
  c->link_b = (int32_t)high(word[1]);
  word = get_floats(word + 2, number, sizeof number / sizeof *number);
  c->gap = number[0];
  c->friction = number[1];
  memcpy(c->point, number + 2, sizeof c->point);
  memcpy(c->normal, number + 5, sizeof c->normal);
  memcpy(c->force, number + 8, sizeof c->force);
  memcpy(c->velocity, number + 11, sizeof c->velocity);
  tbi_sample_contact_derive(c, timestep);
  return word;
}

/* NULL: there cannot be so many corners. */
static const uint64_t *get_balance(const uint64_t *word, tabi_balance *b) {
  float corner[2 * TABI_BALANCE_CORNERS];
  word = get(word, b->com, 3);
  word = get(word, b->force, 3);
  word = get(word, b->zmp, 3);
  word = get(word, &b->margin, 1);
  if (*word > TABI_BALANCE_CORNERS) return NULL;
  b->ncorner = (int32_t)*word;
  word = get_floats(word + 1, corner, sizeof corner / sizeof *corner);
  for (size_t i = 0; i < TABI_BALANCE_CORNERS; ++i) {
    b->corner[i][0] = (double)corner[2 * i];
    b->corner[i][1] = (double)corner[2 * i + 1];
  }
  return word;
}

static float float_of(uint32_t bits) {
  float number = 0;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static const uint64_t *get_effort(const uint64_t *word, tabi_sample_effort *e) {
  e->applied = float_of(low(word[0]));
  e->commanded = float_of(high(word[0]) ^ low(word[0]));
  e->limit = float_of(low(word[1]));
  return word + EFFORT_WORDS;
}

/* Positions and velocities of a world are always finite. */
static bool are_finite(const double *number, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (!isfinite(number[i])) return false;
  }
  return true;
}

static void get_head(const uint64_t *word, tabi_sample *sample) {
  double number[HEAD_WORDS - 3];
  memcpy(number, word + 3, sizeof number);
  sample->step = (int64_t)word[0];
  sample->ncontact = (int32_t)high(word[1]);
  sample->certificate = (tabi_certificate){.gap = number[0],
                                           .complementarity = number[1],
                                           .cone = number[2],
                                           .dissipation = number[3],
                                           .connection = number[4],
                                           .contacts = (int32_t)low(word[2]),
                                           .iterations = (int32_t)high(word[2]),
                                           .converged = low(word[1]) & CONVERGED,
                                           .fallback = low(word[1]) & FALLBACK,
                                           .energy_limited = low(word[1]) & ENERGY_LIMITED};
  sample->energy = (tabi_energy){number[5], number[6], number[7], number[8]};
}

bool tbi_sample_decode(const tbi_sample_shape *shape, const uint64_t *word, size_t count,
                       double timestep, const tbi_sample_buffers *buffers, tabi_sample *sample) {
  const uint64_t *begin = word;
  if (count < HEAD_WORDS || tbi_sample_words(shape, high(word[1])) != count) return false;
  *sample = (tabi_sample){.q = buffers->state,
                          .v = buffers->state + shape->nq,
                          .sensor = buffers->state + shape->nq + shape->nv,
                          .contact = buffers->contact,
                          .balance = buffers->balance,
                          .nrobot = shape->robots,
                          .effort = buffers->effort,
                          .njoint = shape->joints};
  get_head(word, sample);
  sample->time = (double)sample->step * timestep;
  word = get(word + HEAD_WORDS, buffers->state, state_words(shape));
  if (!are_finite(buffers->state, shape->nq + shape->nv)) return false;
  for (int32_t i = 0; i < shape->robots; ++i) {
    word = get_balance(word, &buffers->balance[i]);
    if (!word) return false;
  }
  for (int32_t i = 0; i < shape->joints; ++i)
    word = get_effort(word, &buffers->effort[i]);
  for (int32_t i = 0; i < sample->ncontact; ++i) {
    if (!are_indices(word[0], shape->shapes) || !are_indices(word[1], shape->links)) return false;
    word = get_contact(word, timestep, &buffers->contact[i]);
  }
  TBI_ASSERT(word == begin + count);
  return true;
}
