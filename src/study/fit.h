/* fit.h - parameters of a scene fitted to recordings.
 *
 *   fit.c          the file, and what the result is
 *   fit_residual.c runs and their distance from the recordings
 *   fit_solve.c    Levenberg-Marquardt, errors, correlation
 *
 * Inside, a parameter is a number z without bounds; its place between its bounds is the logistic
 * u = 1/(1 + exp(-z)). */
#ifndef TBI_FIT_H
#define TBI_FIT_H

#include "study/study.h"
#include "tabi/tabi_control.h"

/* A signal that was measured. */
typedef struct tbi_fit_signal {
  const char *name, *column;
  int32_t index; /* column of the recording */
  double *value; /* [nrow] of the recording */
} tbi_fit_signal;

typedef struct tbi_fit_recording {
  const char *file;
  tabi_place place;
  double *time; /* s, [nrow] */
  int64_t nrow;
  tbi_fit_signal *signal;
  int32_t nsignal;
  double sigma;     /* standard deviation of its noise; 0: not known */
  const char **set; /* changes of the scene in this recording */
  int32_t nset;
  int32_t trial; /* those with the same changes are compared with one run */
  int64_t first; /* of its residuals in the vector of all */
} tbi_fit_recording;

struct tabi_fit {
  tabi_column_reader *reader; /* of recordings that are no tables, or NULL */
  void *reader_user;
  tabi_study study; /* scene and parameters; no design, no measures */
  tbi_fit_recording *recording;
  int32_t nrecording, ntrial;
  int64_t nresidual;
  bool huber;     /* loss: huber */
  bool absolute;  /* every sigma is known */
  int32_t starts; /* of the search */
  uint64_t seed;
  /* the result */
  tabi_fit_parameter *parameter; /* [nparameter] */
  double *correlation;           /* [nparameter][nparameter] */
  double *residual;              /* [nresidual], in sigmas or units */
  double rms;
  bool converged;
};

/* From the number inside to the value of a parameter. */
double tbi_fit_value(const tbi_parameter *parameter, double z);

/* Residuals of `count` points z[count][nparameter] by runs in parallel: to[count][nresidual], whose
 * squares are what the loss counts.  A run that diverges is far away. */
tabi_status tbi_fit_residuals(const tabi_fit *fit, const double *z, int32_t count, int32_t jobs,
                              double *to, tabi_error *err);
/* From these to simulated less measured: residual[nresidual]. */
void tbi_fit_undo_loss(const tabi_fit *fit, double *residual);

#endif
