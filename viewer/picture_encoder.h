/* picture_encoder.h - samples as pictures, the binary messages that the page draws: little-endian,
 * 4-byte aligned (docs/viewer.md).
 *
 *   tbi_picture_encoder *encoder = tbi_picture_encoder_create(scene, &err);
 *   char *picture = malloc(tbi_picture_size(encoder, max_contacts));
 *   size_t size = tbi_picture_encode(encoder, tabi_observer_look(observer), 0, 0, picture); */
#ifndef TBI_VIEWER_PICTURE_ENCODER_H
#define TBI_VIEWER_PICTURE_ENCODER_H

#include "tabi/tabi_record.h"

enum { TBI_PICTURE_HEAD = 48, TBI_PICTURE_MAGIC = 0x69626174 };
enum { TBI_PICTURE_PAUSED = 1, TBI_PICTURE_CONVERGED = 2, TBI_PICTURE_DIVERGED = 4 };

typedef struct tbi_picture_encoder tbi_picture_encoder;

/* The scene must outlive it.  One thread at a time. */
tbi_picture_encoder *tbi_picture_encoder_create(const tabi_scene *scene, tabi_error *err);
void tbi_picture_encoder_destroy(tbi_picture_encoder *encoder); /* NULL is fine */

/* Bytes of a picture with so many contacts. */
size_t tbi_picture_size(const tbi_picture_encoder *encoder, int32_t ncontact);
/* Writes a picture and returns its size, tbi_picture_size(encoder, sample->ncontact).  factor:
 * seconds simulated per second, 0 in replays; flags: those that the sample does not know, paused
 * and diverged.  Allocates nothing. */
size_t tbi_picture_encode(tbi_picture_encoder *encoder, const tabi_sample *sample, float factor,
                          uint32_t flags, void *picture);

#endif
