/* page_text.h - text inside a page. */
#ifndef TBI_PAGE_TEXT_H
#define TBI_PAGE_TEXT_H

#include <stdio.h>

/* Writes a text so that HTML shows it as it is. */
void tbi_page_text(FILE *out, const char *text);

#endif
