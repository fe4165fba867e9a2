/* doctor.c - all checks, and what each finding becomes. */
#include "doctor/doctor.h"

#include "base/assertion.h"
#include "base/error.h"

#include <stdarg.h>

void tbi_doctor_find(tbi_doctor *d, tabi_status severity, tabi_place place, const char *format,
                     ...) {
  tabi_error finding;
  va_list args;
  va_start(args, format);
  tbi_error_vset(&finding, severity, place, format, args);
  va_end(args);
  finding.severity = severity == TBI_ADVICE ? TABI_SEVERITY_NOTE : TABI_SEVERITY_WARNING;
  ++d->count;
  if (d->report) d->report(d->user, &finding);
}

static void check_model(tbi_doctor *d) {
  for (int32_t i = 0; i < tabi_model_nshape(d->model); ++i) {
    tabi_shape_def shape = tabi_model_shape(d->model, i);
    d->collides = d->collides || (shape.collides && shape.link != TABI_WORLD);
  }
  if (d->collides || tabi_model_nbody(d->model) == 0) return;
  tabi_place place = {tabi_model_link(d->model, 0).place.file, 1};
  tbi_doctor_find(d, TBI_ADVICE, place,
                  "no link has a collision shape; the robot will fall through the floor");
}

int32_t tabi_model_check(const tabi_model *model, tabi_warning_fn *report, void *user) {
  TBI_ASSERT(model);
  tbi_doctor d = {.model = model, .report = report, .user = user};
  check_model(&d);
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i)
    tbi_doctor_check_link(&d, i);
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    if (tabi_model_joint_v(model, j).count > 0) tbi_doctor_check_joint(&d, j);
  }
  tbi_doctor_tell_unlimited(&d);
  tbi_doctor_check_connections(&d);
  tbi_doctor_check_overlaps(&d);
  return d.count;
}
