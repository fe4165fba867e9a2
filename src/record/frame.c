/* frame.c - a frame as 64-bit words.
 *
 *   step | flags, contacts | pushing contacts, iterations | 5 numbers of the certificate
 *   4 of the energy | q | v | sensors | 7 words for each contact
 *
 * A contact: shapes | status, gap | point x y | point z, normal x | normal y z | force x y |
 * force z, slip.  Two numbers share a word as 32-bit floats, the first in the lower half. */
#include "record/record.h"

#include <math.h>
#include <string.h>

enum { HEAD_WORDS = 12, CONTACT_WORDS = 7 };
enum { CONVERGED = 1, HANDED_OVER = 2, TEMPERED = 4 };

#define SLIPS_AT 1e-3 /* m/s */

tbi_frame_shape tbi_frame_shape_of(const tabi_model *model) {
  tbi_frame_shape shape = {tabi_model_nq(model), tabi_model_nv(model), 0};
  for (int32_t i = 0; i < tabi_model_nsensor(model); ++i)
    shape.sensors += tabi_sensor_type_size(tabi_model_sensor(model, i).type);
  return shape;
}

static size_t fixed_words(const tbi_frame_shape *shape) {
  return HEAD_WORDS + (size_t)shape->nq + (size_t)shape->nv + (size_t)shape->sensors;
}

size_t tbi_frame_words(const tbi_frame_shape *shape, size_t ncontact) {
  return fixed_words(shape) + CONTACT_WORDS * ncontact;
}

static uint64_t pair_of(uint32_t low, uint32_t high) { return low | (uint64_t)high << 32; }

static uint64_t floats_of(double low, double high) {
  const float numbers[2] = {(float)low, (float)high};
  uint32_t bits[2];
  memcpy(bits, numbers, sizeof bits);
  return pair_of(bits[0], bits[1]);
}

static uint64_t *put(uint64_t *word, const double *number, int32_t count) {
  if (count > 0) memcpy(word, number, sizeof *number * (size_t)count);
  return word + count;
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double slip_of(const tabi_contact *c) {
  double across = dot(c->velocity, c->normal);
  double along[3];
  for (int i = 0; i < 3; ++i)
    along[i] = c->velocity[i] - across * c->normal[i];
  return sqrt(dot(along, along));
}

static void put_contact(const tabi_contact *c, double timestep, uint64_t *word) {
  double slip = slip_of(c);
  bool pushes = dot(c->impulse, c->impulse) > 0;
  tabi_contact_status status = TABI_CONTACT_SEPARATING;
  if (pushes) status = slip > SLIPS_AT ? TABI_CONTACT_SLIP : TABI_CONTACT_STICK;
  double force[3];
  for (int i = 0; i < 3; ++i)
    force[i] = c->impulse[i] / timestep;
  word[0] = pair_of((uint32_t)c->shape_a, (uint32_t)c->shape_b);
  word[1] = pair_of((uint32_t)status, (uint32_t)(floats_of(c->gap, 0) & UINT32_MAX));
  word[2] = floats_of(c->point[0], c->point[1]);
  word[3] = floats_of(c->point[2], c->normal[0]);
  word[4] = floats_of(c->normal[1], c->normal[2]);
  word[5] = floats_of(force[0], force[1]);
  word[6] = floats_of(force[2], slip);
}

void tbi_frame_take(const tbi_frame_shape *shape, tabi_world *world, double timestep,
                    uint64_t *word) {
  int32_t ncontact = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &ncontact);
  tabi_certificate c = tabi_world_certificate(world);
  tabi_energy e = tabi_world_energy(world);
  unsigned flags = (c.converged ? CONVERGED : 0U) | (c.handed_over ? HANDED_OVER : 0U) |
                   (c.tempered ? TEMPERED : 0U);
  word[0] = (uint64_t)tabi_world_steps(world);
  word[1] = pair_of(flags, (uint32_t)ncontact);
  word[2] = pair_of((uint32_t)c.contacts, (uint32_t)c.iterations);
  const double numbers[] = {c.gap,     c.complementarity, c.cone,   c.dissipation, c.connection,
                            e.kinetic, e.potential,       e.spring, e.work};
  uint64_t *at = put(word + 3, numbers, HEAD_WORDS - 3);
  at = put(at, tabi_world_q(world), shape->nq);
  at = put(at, tabi_world_v(world), shape->nv);
  for (int32_t i = 0; i < tabi_model_nsensor(tabi_world_model(world)); ++i) {
    double value[TABI_SENSOR_MAX];
    int32_t count = tabi_world_sensor(world, i, value);
    at = put(at, value, count);
  }
  for (int32_t i = 0; i < ncontact; ++i, at += CONTACT_WORDS)
    put_contact(&contact[i], timestep, at);
}

static uint32_t low(uint64_t word) { return (uint32_t)(word & UINT32_MAX); }
static uint32_t high(uint64_t word) { return (uint32_t)(word >> 32); }

static float as_float(uint32_t bits) {
  float number = 0;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static bool give_contact(const uint64_t *word, tabi_frame_contact *contact) {
  float number[10];
  for (size_t i = 0; i < 5; ++i) {
    number[2 * i] = as_float(low(word[i + 2]));
    number[2 * i + 1] = as_float(high(word[i + 2]));
  }
  contact->shape_a = (int32_t)low(word[0]);
  contact->shape_b = (int32_t)high(word[0]);
  if (low(word[1]) > TABI_CONTACT_SLIP) return false;
  contact->status = (tabi_contact_status)low(word[1]);
  contact->gap = as_float(high(word[1]));
  memcpy(contact->point, number, sizeof contact->point);
  memcpy(contact->normal, number + 3, sizeof contact->normal);
  memcpy(contact->force, number + 6, sizeof contact->force);
  contact->slip = number[9];
  return true;
}

bool tbi_frame_give(const tbi_frame_shape *shape, const uint64_t *word, size_t count, double *state,
                    tabi_frame_contact *contact, tabi_frame *frame) {
  if (count < HEAD_WORDS || tbi_frame_words(shape, high(word[1])) != count) return false;
  double number[HEAD_WORDS - 3];
  memcpy(number, word + 3, sizeof number);
  memcpy(state, word + HEAD_WORDS, sizeof *state * (fixed_words(shape) - HEAD_WORDS));
  *frame = (tabi_frame){.step = (int64_t)word[0],
                        .q = state,
                        .v = state + shape->nq,
                        .sensor = state + shape->nq + shape->nv,
                        .contact = contact,
                        .ncontact = (int32_t)high(word[1])};
  frame->certificate = (tabi_certificate){.gap = number[0],
                                          .complementarity = number[1],
                                          .cone = number[2],
                                          .dissipation = number[3],
                                          .connection = number[4],
                                          .contacts = (int32_t)low(word[2]),
                                          .iterations = (int32_t)high(word[2]),
                                          .converged = low(word[1]) & CONVERGED,
                                          .handed_over = low(word[1]) & HANDED_OVER,
                                          .tempered = low(word[1]) & TEMPERED};
  frame->energy = (tabi_energy){number[5], number[6], number[7], number[8]};
  for (int32_t i = 0; i < frame->ncontact; ++i) {
    if (!give_contact(word + fixed_words(shape) + CONTACT_WORDS * (size_t)i, &contact[i]))
      return false;
  }
  return true;
}
