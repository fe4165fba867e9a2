/* motion_file.h - joint motion in the files of OpenHRP3 and Choreonoid.
 *
 *   .pos  rows of numbers: the time (s), then an angle for every joint, by its number
 *   .vel  beside it, the same rows of speeds
 *   .seq  YAML: frames of joint positions at a rate */
#ifndef TBI_MOTION_FILE_H
#define TBI_MOTION_FILE_H

#include "io/csv.h"

/* Whether the ending of a name is that of such a file. */
bool tbi_motion_file_is(const char *path);

/* Reads it like a CSV table.  names[nname] are the joints by their columns and must live as long as
 * the table; NULL stands for a column that nobody needs. */
tabi_status tbi_motion_file_read(const char *path, const char *const *names, int32_t nname,
                                 tbi_csv *csv, tabi_error *err);
/* The same from memory; the text ends with a zero byte that size does not count. */
tabi_status tbi_motion_file_read_text(const char *text, size_t size, const char *path,
                                      const char *const *names, int32_t nname, tbi_csv *csv,
                                      tabi_error *err);

/* The file beside a .pos file with another ending (".vel", ".zmp") if it is there, else NULL; the
 * caller frees it. */
char *tbi_motion_file_beside(const char *path, const char *ending);
/* Reads such a file of speeds. */
tabi_status tbi_motion_file_read_rates(const char *path, const char *const *names, int32_t nname,
                                       tbi_csv *csv, tabi_error *err);

#endif
