/* contacts.c - the contacts of the last step, as users see them. */
#include "base/assertion.h"
#include "world/memory.h"

void tbi_world_list_contacts(tabi_world *w) {
  TBI_ASSERT(w->setup.problem.npoint <= w->def.max_contacts);
  const tbi_problem *p = &w->setup.problem;
  w->solution.ncontact = p->npoint + tbi_sleep_contacts(w);
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    const tbi_candidate *candidate = &w->candidates.list[c->candidate];
    sv a = c->port_a == TABI_NONE ? sv_zero() : p->velocity[c->port_a];
    sv b = c->port_b == TABI_NONE ? sv_zero() : p->velocity[c->port_b];
    int32_t slot = tbi_contact_slot(w, c->candidate);
    tabi_contact *out = &w->solution.contact[slot];
    out->shape_a = candidate->shape_a;
    out->shape_b = candidate->shape_b;
    out->link_a = w->model->shape[candidate->shape_a].link;
    out->link_b = w->model->shape[candidate->shape_b].link;
    out->gap = candidate->gap;
    out->friction = c->friction;
    v3_store(candidate->point, out->point);
    v3_store(candidate->normal, out->normal);
    v3_store(v4_to(m4_combine(&c->frame, c->impulse[0], c->impulse[1], c->impulse[2])),
             out->impulse);
    v3_store(v4_to(v4_sub(sv_at(b, c->arm_b), sv_at(a, c->arm_a))), out->velocity);
    v3_store(w->has_couples ? w->state.couple[slot].impulse : v3_zero(), out->couple);
  }
}

int32_t tbi_world_ncontact(const tabi_world *w) {
  bool gone = w->def.workspace && w->def.workspace->last != w;
  return gone ? 0 : w->solution.ncontact;
}

const tabi_contact *tabi_world_contacts(const tabi_world *world, int32_t *count) {
  TBI_ASSERT(world && count);
  *count = tbi_world_ncontact(world);
  return world->solution.contact;
}

/* adds the force of a contact on b (rate = 1/h; on a: -1/h) and its moment about a point */
static void add_wrench(const tabi_contact *c, double rate, v3 about, v3 *force, v3 *moment) {
  v3 f = v3_scale(rate, v3_load(c->impulse));
  *force = v3_add(*force, f);
  *moment = v3_add(*moment, v3_cross(v3_sub(v3_load(c->point), about), f));
  *moment = v3_axpy(*moment, rate, v3_load(c->couple));
}

void tabi_world_contact_wrench(const tabi_world *world, int32_t link, const double point[3],
                               double force[3], double torque[3]) {
  TBI_ASSERT(world && point && force && torque);
  TBI_ASSERT(link >= 0 && link < world->model->nlink);
  double rate = 1 / world->def.timestep;
  v3 about = v3_load(point);
  v3 sum = v3_zero();
  v3 moment = v3_zero();
  for (int32_t i = 0; i < tbi_world_ncontact(world); ++i) {
    const tabi_contact *c = &world->solution.contact[i];
    if (c->link_a == c->link_b) continue;
    if (c->link_b == link) add_wrench(c, rate, about, &sum, &moment);
    if (c->link_a == link) add_wrench(c, -rate, about, &sum, &moment);
  }
  v3_store(sum, force);
  v3_store(moment, torque);
}
