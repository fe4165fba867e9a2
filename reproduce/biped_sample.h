/* biped_sample.h - the walks of P3 from many postures, and what they have in common. */
#ifndef TBI_BIPED_SAMPLE_H
#define TBI_BIPED_SAMPLE_H

#include "biped_walk.h"
#include "series.h"

typedef struct tbi_biped_sample {
  tbi_biped_def def;
  int32_t nwalk;        /* from postures 1 to nwalk */
  tbi_biped_walk *walk; /* [nwalk] */
} tbi_biped_sample;

/* All walks of all samples, whose definitions and numbers are given, on so many threads; 0: one for
 * each processor.  tbi_biped_samples_free also after a failure. */
tabi_status tbi_biped_samples_run(tbi_biped_sample *sample, int32_t count, int32_t threads,
                                  tabi_error *err);
void tbi_biped_samples_free(tbi_biped_sample *sample, int32_t count);

/* Share of the walks, %: that make so many steps, that end in a way, whose strides tend to shrink,
 * that end while a landed foot slips. */
double tbi_biped_share_of_steps(const tbi_biped_sample *sample, int32_t low, int32_t high);
double tbi_biped_share_of_outcome(const tbi_biped_sample *sample, tabi_gait_outcome outcome);
double tbi_biped_share_that_shrinks(const tbi_biped_sample *sample, double trend);
double tbi_biped_share_that_slips_on(const tbi_biped_sample *sample);
/* Share of the time during which a sole pulls, %: mean and largest of all walks. */
double tbi_biped_pull(const tbi_biped_sample *sample, double *largest);
double tbi_biped_median_steps(const tbi_biped_sample *sample);
double tbi_biped_mean_steps(const tbi_biped_sample *sample);
void tbi_biped_range_of_steps(const tbi_biped_sample *sample, int32_t *least, int32_t *most);

/* Steps that at least half of the walks make. */
int32_t tbi_biped_common_steps(const tbi_biped_sample *sample);
/* Of all walks that make a step (0: the first): quantile 0 to 1, and mean.  NAN if none does. */
double tbi_biped_quantile(const tbi_biped_sample *sample, tbi_biped_quantity quantity, int32_t step,
                          double share);
double tbi_biped_mean(const tbi_biped_sample *sample, tbi_biped_quantity quantity, int32_t step);
/* Whether the mean of a quantity falls with each of the common steps. */
bool tbi_biped_falls(const tbi_biped_sample *sample, tbi_biped_quantity quantity);

#endif
