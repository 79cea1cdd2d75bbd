/* Summaries of times and of ratios. */
#ifndef STATISTICS_H
#define STATISTICS_H

/* Of some samples. */
typedef struct spread {
    double median, least, most; /* NaN if there are none */
    int count;
} spread;

/* Sorts `samples`; the median of an even number is the mean of the middle two. */
spread spread_of(double *samples, int count);

/* A geometric mean under way; begins as zeros. */
typedef struct geomean {
    double logs; /* their sum */
    int count, below_one;
} geomean;

/* Adds a ratio. What is not positive and finite is left out. */
void geomean_add(geomean *g, double ratio);

/* NaN if nothing was added. */
double geomean_value(const geomean *g);

#endif
