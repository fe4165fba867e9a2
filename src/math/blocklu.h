/* blocklu.h - LU of a sparse matrix made of dense blocks, of any sizes, with a symmetric pattern.
 *
 *   begin    order the nodes (minimum degree) and find where blocks will fill in
 *   block    the place of one block, to be filled
 *   factor   in place; rows are exchanged inside a diagonal block only
 *   solve
 *
 * All memory is given by the caller; nothing is allocated. */
#ifndef TBI_BLOCKLU_H
#define TBI_BLOCKLU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tbi_blocklu tbi_blocklu;

/* A matrix of nnode x nnode blocks, block (i, j) having size[i] rows and size[j] columns; (i, i)
 * and (pair[k][0], pair[k][1]) with its transposed place are there, pairs may repeat.  NULL: memory
 * does not suffice.  All blocks are zero. */
tbi_blocklu *tbi_blocklu_begin(void *memory, size_t memory_size, int32_t nnode, const int32_t *size,
                               int64_t npair, const int32_t (*pair)[2]);
void tbi_blocklu_clear(tbi_blocklu *lu);
/* Row by row; NULL: not in the pattern. */
double *tbi_blocklu_block(tbi_blocklu *lu, int32_t i, int32_t j);
/* False: singular. */
bool tbi_blocklu_factor(tbi_blocklu *lu);
/* x, node after node, becomes the solution. */
void tbi_blocklu_solve(const tbi_blocklu *lu, double *x);

#endif
