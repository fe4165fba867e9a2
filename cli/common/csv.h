/* csv.h - names in the first line of a table. */
#ifndef TBI_CSV_H
#define TBI_CSV_H

enum { TBI_CSV_NAME = 1100 }; /* bytes of a name of a signal, every letter of it a quote */

/* The name as it stands in a file, quoted where RFC 4180 wants it; what is too long is cut. */
const char *tbi_csv_name(const char *name, char quoted[TBI_CSV_NAME]);

#endif
