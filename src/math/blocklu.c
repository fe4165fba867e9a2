/* blocklu.c - minimum degree by sets of bits, then elimination node by node.
 *
 * Eliminating node k joins all its later neighbours; the neighbours it has at that moment are the
 * pattern of its row of U and its column of L.  They are kept sorted by the order of elimination,
 * so that the neighbours of k after i are found among those of i by one walk.
 *
 *   row of U    (k, j) = L_kk^-1 (k, j)        column of L    (i, k) = (i, k) U_kk^-1
 *   the rest    (i, j) -= (i, k) (k, j)
 *
 * A row of a block is scaled and subtracted from another; where the factor is zero nothing is done,
 * which is what makes blocks with zeros in them (paths of a tree, open contacts) cheap. */
#include "math/blocklu.h"

#include "base/assertion.h"

#include <math.h>
#include <string.h>

/* The diagonal is kept as pivot unless it is this much smaller than the largest: it keeps zeros. */
#define KEEP_PIVOT 0.1

/* A later neighbour of a node, and the blocks between both. */
typedef struct edge {
  int32_t node;
  double *upper; /* (k, node) */
  double *lower; /* (node, k) */
} edge;

struct tbi_blocklu {
  int32_t nnode;
  const int32_t *size;  /* of a node */
  const int32_t *start; /* of a node in x */
  int32_t *order;       /* node by step */
  int32_t *step;        /* step by node */
  int32_t *first;       /* edge by step, nnode + 1 */
  edge *edges;
  double **diagonal;  /* by node */
  double *reciprocal; /* of the pivots, as x */
  int32_t *swap;      /* row exchanged with, as x */
  double *data;       /* all blocks */
  size_t ndata;
};

typedef struct arena {
  char *next;
  size_t left;
} arena;

/* NULL: it does not fit */
static void *take(arena *at, size_t count, size_t size) {
  size_t bytes = (count * size + 7) / 8 * 8;
  if (at->left < bytes) return NULL;
  void *piece = at->next;
  at->next += bytes;
  at->left -= bytes;
  return piece;
}

static arena arena_over(void *memory, size_t size) {
  size_t skip = (size_t)(-(uintptr_t)memory & 63);
  if (size <= skip) return (arena){memory, 0};
  return (arena){(char *)memory + skip, size - skip};
}

/* The graph while nodes are eliminated: a set of bits for the neighbours of each. */
typedef struct graph {
  uint64_t *bits;
  size_t words;    /* of a set */
  int32_t *degree; /* unknowns of all neighbours; INT32_MAX: eliminated */
} graph;

static uint64_t *set_of(const graph *g, int32_t node) { return g->bits + (size_t)node * g->words; }

static void set_add(uint64_t *set, int32_t i) { set[i / 64] |= (uint64_t)1 << (i % 64); }
static void set_remove(uint64_t *set, int32_t i) { set[i / 64] &= ~((uint64_t)1 << (i % 64)); }

/* Writes the members in rising order and returns how many there are. */
static int32_t set_list(const uint64_t *set, size_t words, int32_t *list) {
  int32_t count = 0;
  for (size_t w = 0; w < words; ++w) {
    for (uint64_t rest = set[w]; rest != 0; rest &= rest - 1)
      list[count++] = (int32_t)w * 64 + __builtin_ctzll(rest);
  }
  return count;
}

static int32_t degree_of(const graph *g, int32_t node, const int32_t *size) {
  const uint64_t *set = set_of(g, node);
  int32_t degree = 0;
  for (size_t w = 0; w < g->words; ++w) {
    for (uint64_t rest = set[w]; rest != 0; rest &= rest - 1)
      degree += size[(int32_t)w * 64 + __builtin_ctzll(rest)];
  }
  return degree;
}

static int32_t smallest_degree(const graph *g, int32_t nnode) {
  int32_t best = 0;
  for (int32_t i = 1; i < nnode; ++i) {
    if (g->degree[i] < g->degree[best]) best = i;
  }
  return best;
}

static void eliminate(graph *g, int32_t node, const int32_t *list, int32_t count,
                      const int32_t *size) {
  const uint64_t *from = set_of(g, node);
  g->degree[node] = INT32_MAX;
  for (int32_t k = 0; k < count; ++k) {
    uint64_t *to = set_of(g, list[k]);
    for (size_t w = 0; w < g->words; ++w)
      to[w] |= from[w];
    set_remove(to, list[k]);
    set_remove(to, node);
  }
  for (int32_t k = 0; k < count; ++k)
    g->degree[list[k]] = degree_of(g, list[k], size);
}

static bool make_graph(arena *at, graph *g, int32_t nnode, int64_t npair,
                       const int32_t (*pair)[2]) {
  g->words = ((size_t)nnode + 63) / 64;
  g->bits = take(at, (size_t)nnode * g->words, sizeof *g->bits);
  g->degree = take(at, (size_t)nnode, sizeof *g->degree);
  if (!g->bits || !g->degree) return false;
  memset(g->bits, 0, (size_t)nnode * g->words * sizeof *g->bits);
  for (int64_t k = 0; k < npair; ++k) {
    int32_t i = pair[k][0];
    int32_t j = pair[k][1];
    TBI_ASSERT(i >= 0 && i < nnode && j >= 0 && j < nnode);
    if (i == j) continue;
    set_add(set_of(g, i), j);
    set_add(set_of(g, j), i);
  }
  return true;
}

/* Fills order, step, first and the nodes of the edges; list has room for all nodes. */
static bool find_order(tbi_blocklu *lu, arena *at, graph *g, int32_t *list) {
  lu->edges = take(at, 0, sizeof *lu->edges);
  int32_t nedge = 0;
  for (int32_t i = 0; i < lu->nnode; ++i)
    g->degree[i] = degree_of(g, i, lu->size);
  for (int32_t k = 0; k < lu->nnode; ++k) {
    int32_t node = smallest_degree(g, lu->nnode);
    int32_t count = set_list(set_of(g, node), g->words, list);
    /* nothing else is taken meanwhile, so that all edges stand in one row */
    edge *edges = take(at, (size_t)count, sizeof *edges);
    if (!edges) return false;
    for (int32_t e = 0; e < count; ++e)
      edges[e].node = list[e];
    lu->order[k] = node;
    lu->step[node] = k;
    lu->first[k] = nedge;
    nedge += count;
    eliminate(g, node, list, count, lu->size);
  }
  lu->first[lu->nnode] = nedge;
  return true;
}

/* The edges of every step in the order of elimination, through a set of steps. */
static void sort_edges(tbi_blocklu *lu, const graph *g, int32_t *list) {
  uint64_t *steps = g->bits;
  for (int32_t k = 0; k < lu->nnode; ++k) {
    edge *edges = lu->edges + lu->first[k];
    int32_t count = lu->first[k + 1] - lu->first[k];
    memset(steps, 0, g->words * sizeof *steps);
    for (int32_t e = 0; e < count; ++e)
      set_add(steps, lu->step[edges[e].node]);
    (void)set_list(steps, g->words, list);
    for (int32_t e = 0; e < count; ++e)
      edges[e].node = lu->order[list[e]];
  }
}

static double *take_block(arena *at, int32_t rows, int32_t columns) {
  return take(at, (size_t)rows * (size_t)columns, sizeof(double));
}

static bool place_blocks(tbi_blocklu *lu, arena *at) {
  char *begin = at->next;
  for (int32_t k = 0; k < lu->nnode; ++k) {
    int32_t node = lu->order[k];
    int32_t n = lu->size[node];
    lu->diagonal[node] = take_block(at, n, n);
    if (!lu->diagonal[node]) return false;
    for (int32_t e = lu->first[k]; e < lu->first[k + 1]; ++e) {
      edge *to = &lu->edges[e];
      to->upper = take_block(at, n, lu->size[to->node]);
      to->lower = take_block(at, lu->size[to->node], n);
      if (!to->upper || !to->lower) return false;
    }
  }
  lu->data = (double *)(void *)begin;
  lu->ndata = (size_t)(at->next - begin) / sizeof(double);
  return true;
}

static bool take_nodes(tbi_blocklu *lu, arena *at, int32_t nnode, const int32_t *size) {
  size_t n = (size_t)nnode;
  int32_t *sizes = take(at, n, sizeof *sizes);
  int32_t *start = take(at, n + 1, sizeof *start);
  lu->order = take(at, n, sizeof *lu->order);
  lu->step = take(at, n, sizeof *lu->step);
  lu->first = take(at, n + 1, sizeof *lu->first);
  lu->diagonal = take(at, n, sizeof *lu->diagonal);
  if (!lu->diagonal) return false;
  int32_t total = 0;
  for (int32_t i = 0; i < nnode; ++i) {
    TBI_ASSERT(size[i] >= 0);
    sizes[i] = size[i];
    start[i] = total;
    total += size[i];
  }
  start[nnode] = total;
  lu->nnode = nnode;
  lu->size = sizes;
  lu->start = start;
  lu->reciprocal = take(at, (size_t)total, sizeof *lu->reciprocal);
  lu->swap = take(at, (size_t)total, sizeof *lu->swap);
  return lu->reciprocal && lu->swap;
}

tbi_blocklu *tbi_blocklu_begin(void *memory, size_t memory_size, int32_t nnode, const int32_t *size,
                               int64_t npair, const int32_t (*pair)[2]) {
  TBI_ASSERT(nnode >= 0 && npair >= 0);
  arena at = arena_over(memory, memory_size);
  tbi_blocklu *lu = take(&at, 1, sizeof *lu);
  graph g;
  if (!lu || !take_nodes(lu, &at, nnode, size)) return NULL;
  if (!make_graph(&at, &g, nnode, npair, pair)) return NULL;
  int32_t *list = take(&at, (size_t)nnode, sizeof *list);
  if (!list || !find_order(lu, &at, &g, list)) return NULL;
  sort_edges(lu, &g, list);
  if (!place_blocks(lu, &at)) return NULL;
  tbi_blocklu_clear(lu);
  return lu;
}

void tbi_blocklu_clear(tbi_blocklu *lu) { memset(lu->data, 0, lu->ndata * sizeof *lu->data); }

double *tbi_blocklu_block(tbi_blocklu *lu, int32_t i, int32_t j) {
  TBI_ASSERT(i >= 0 && i < lu->nnode && j >= 0 && j < lu->nnode);
  if (i == j) return lu->diagonal[i];
  bool upper = lu->step[i] < lu->step[j];
  int32_t k = upper ? lu->step[i] : lu->step[j];
  int32_t wanted = upper ? lu->step[j] : lu->step[i];
  int32_t low = lu->first[k];
  int32_t high = lu->first[k + 1];
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    int32_t found = lu->step[lu->edges[middle].node];
    if (found == wanted) return upper ? lu->edges[middle].upper : lu->edges[middle].lower;
    if (found < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NULL;
}

/* to -= factor from; the two rows do not overlap */
static inline void subtract(double *restrict to, double factor, const double *restrict from,
                            int32_t n) {
  for (int32_t i = 0; i < n; ++i)
    to[i] -= factor * from[i];
}

static inline void exchange(double *a, double *b, int32_t n) {
  for (int32_t i = 0; i < n; ++i) {
    double t = a[i];
    a[i] = b[i];
    b[i] = t;
  }
}

static int32_t find_pivot(const double *a, int32_t n, int32_t k) {
  int32_t best = k;
  double max = fabs(a[k * n + k]);
  double enough = max;
  for (int32_t i = k + 1; i < n; ++i) {
    double size = fabs(a[i * n + k]);
    if (size > max) {
      max = size;
      best = i;
    }
  }
  return enough >= KEEP_PIVOT * max ? k : best;
}

/* P a = L U in place, L with ones on its diagonal */
static bool factor_diagonal(double *a, int32_t n, double *reciprocal, int32_t *swap) {
  for (int32_t k = 0; k < n; ++k) {
    double *row = a + (ptrdiff_t)k * n;
    swap[k] = find_pivot(a, n, k);
    if (swap[k] != k) exchange(row, a + (ptrdiff_t)swap[k] * n, n);
    reciprocal[k] = 1 / row[k];
    if (!isfinite(reciprocal[k]) || row[k] == 0) return false;
    for (int32_t i = k + 1; i < n; ++i) {
      double *below = a + (ptrdiff_t)i * n;
      if (below[k] == 0) continue;
      below[k] *= reciprocal[k];
      subtract(below + k + 1, below[k], row + k + 1, n - k - 1);
    }
  }
  return true;
}

/* b = L^-1 P b, b having `columns` columns */
static inline void solve_lower(const double *a, int32_t n, const int32_t *swap, double *b,
                               int32_t columns) {
  for (int32_t k = 0; k < n; ++k) {
    if (swap[k] != k)
      exchange(b + (ptrdiff_t)k * columns, b + (ptrdiff_t)swap[k] * columns, columns);
  }
  for (int32_t i = 1; i < n; ++i) {
    for (int32_t k = 0; k < i; ++k) {
      double l = a[(ptrdiff_t)i * n + k];
      if (l != 0) subtract(b + (ptrdiff_t)i * columns, l, b + (ptrdiff_t)k * columns, columns);
    }
  }
}

/* b = b U^-1, b having `rows` rows */
static inline void solve_upper_right(const double *a, int32_t n, const double *reciprocal,
                                     double *b, int32_t rows) {
  for (int32_t i = 0; i < rows; ++i) {
    double *row = b + (ptrdiff_t)i * n;
    for (int32_t k = 0; k < n; ++k) {
      if (row[k] == 0) continue;
      row[k] *= reciprocal[k];
      subtract(row + k + 1, row[k], a + (ptrdiff_t)k * n + k + 1, n - k - 1);
    }
  }
}

/* c -= a b, with a of `rows` x inner and b of inner x `columns` */
static inline void subtract_product(double *restrict c, const double *restrict a,
                                    const double *restrict b, int32_t rows, int32_t inner,
                                    int32_t columns) {
  for (int32_t i = 0; i < rows; ++i) {
    for (int32_t k = 0; k < inner; ++k) {
      double factor = a[(ptrdiff_t)i * inner + k];
      if (factor != 0)
        subtract(c + (ptrdiff_t)i * columns, factor, b + (ptrdiff_t)k * columns, columns);
    }
  }
}

static bool all_zero(const double *a, int32_t n) {
  for (int32_t i = 0; i < n; ++i) {
    if (a[i] != 0) return false;
  }
  return true;
}

/* the same for free bodies, whose blocks are full: a row of c stays at hand, no zeros are sought */
static void subtract_six(double *restrict c, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < 6; ++i) {
    double row[6];
    for (int j = 0; j < 6; ++j)
      row[j] = c[6 * i + j];
    for (int k = 0; k < 6; ++k) {
      for (int j = 0; j < 6; ++j)
        row[j] -= a[6 * i + k] * b[6 * k + j];
    }
    for (int j = 0; j < 6; ++j)
      c[6 * i + j] = row[j];
  }
}

static void subtract_blocks(double *c, const double *a, const double *b, int32_t rows,
                            int32_t inner, int32_t columns) {
  if (rows == 3 && inner == 3 && columns == 3) {
    subtract_product(c, a, b, 3, 3, 3);
  } else if (rows == 6 && inner == 6 && columns == 6) {
    subtract_six(c, a, b);
  } else {
    subtract_product(c, a, b, rows, inner, columns);
  }
}

/* What node k, of n rows and with these edges, leaves to the blocks between its neighbours: to
 * (i, i), and to (i, j) and (j, i) with all j after i, which are among the neighbours of i. */
static void update(tbi_blocklu *lu, const edge *edge_i, const edge *end, int32_t n) {
  int32_t i = edge_i->node;
  int32_t ni = lu->size[i];
  bool idle = all_zero(edge_i->lower, ni * n);
  if (!idle) subtract_blocks(lu->diagonal[i], edge_i->lower, edge_i->upper, ni, n, ni);
  const edge *own = lu->edges + lu->first[lu->step[i]];
  for (const edge *edge_j = edge_i + 1; edge_j < end; ++edge_j) {
    int32_t nj = lu->size[edge_j->node];
    while (own->node != edge_j->node)
      ++own;
    if (!idle) subtract_blocks(own->upper, edge_i->lower, edge_j->upper, ni, n, nj);
    subtract_blocks(own->lower, edge_j->lower, edge_i->upper, nj, n, ni);
  }
}

bool tbi_blocklu_factor(tbi_blocklu *lu) {
  for (int32_t k = 0; k < lu->nnode; ++k) {
    int32_t node = lu->order[k];
    int32_t n = lu->size[node];
    const int32_t *swap = lu->swap + lu->start[node];
    double *a = lu->diagonal[node];
    double *reciprocal = lu->reciprocal + lu->start[node];
    if (!factor_diagonal(a, n, reciprocal, lu->swap + lu->start[node])) return false;
    const edge *begin = lu->edges + lu->first[k];
    const edge *end = lu->edges + lu->first[k + 1];
    for (const edge *e = begin; e < end; ++e) {
      if (n == 6 && lu->size[e->node] == 6) {
        solve_lower(a, 6, swap, e->upper, 6);
        solve_upper_right(a, 6, reciprocal, e->lower, 6);
      } else {
        solve_lower(a, n, swap, e->upper, lu->size[e->node]);
        solve_upper_right(a, n, reciprocal, e->lower, lu->size[e->node]);
      }
    }
    for (const edge *e = begin; e < end; ++e)
      update(lu, e, end, n);
  }
  return true;
}

/* x -= a y */
static void subtract_times(double *x, const double *a, const double *y, int32_t rows,
                           int32_t columns) {
  for (int32_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (int32_t k = 0; k < columns; ++k)
      sum += a[i * columns + k] * y[k];
    x[i] -= sum;
  }
}

static void solve_upper(const double *a, int32_t n, const double *reciprocal, double *x) {
  for (int32_t i = n - 1; i >= 0; --i) {
    double sum = x[i];
    for (int32_t k = i + 1; k < n; ++k)
      sum -= a[i * n + k] * x[k];
    x[i] = sum * reciprocal[i];
  }
}

void tbi_blocklu_solve(const tbi_blocklu *lu, double *x) {
  for (int32_t k = 0; k < lu->nnode; ++k) {
    int32_t node = lu->order[k];
    int32_t n = lu->size[node];
    double *mine = x + lu->start[node];
    solve_lower(lu->diagonal[node], n, lu->swap + lu->start[node], mine, 1);
    for (int32_t e = lu->first[k]; e < lu->first[k + 1]; ++e) {
      int32_t other = lu->edges[e].node;
      subtract_times(x + lu->start[other], lu->edges[e].lower, mine, lu->size[other], n);
    }
  }
  for (int32_t k = lu->nnode - 1; k >= 0; --k) {
    int32_t node = lu->order[k];
    int32_t n = lu->size[node];
    double *mine = x + lu->start[node];
    for (int32_t e = lu->first[k]; e < lu->first[k + 1]; ++e) {
      int32_t other = lu->edges[e].node;
      subtract_times(mine, lu->edges[e].upper, x + lu->start[other], n, lu->size[other]);
    }
    solve_upper(lu->diagonal[node], n, lu->reciprocal + lu->start[node], mine);
  }
}
