/* What a launch cost, by the counters of the emulated device, beside what it may cost: budgets.def. */
#ifndef BUDGET_H
#define BUDGET_H

#include "groupdnn.h"
#include "session.h"
#include <stddef.h>

typedef enum cost_kind {
    COST_l2_ratio,
    COST_shared_per_output,
    COST_conflict_percent,
    COSTS
} cost_kind;

/* A cost, and the budget that it has. */
typedef struct cost {
    const char *name;
    double value;
    double limit;     /* 0: there is no budget for it */
    const char *kind; /* of problem that has this budget; NULL where there is none */
} cost;

/* What `counts` of one launch that ran `conv` come to; `from` is the problem that it was scaled from, or `conv`. */
void budget_costs(const gdnn_conv *conv, const gdnn_conv *from, const session_counts *counts,
                  cost costs[COSTS]);

bool budget_missed(const cost *c);

/* "l2_ratio 2.31 > 1.15, conflict_percent 3 > 1"; "none" if no budget is missed. NULL if there is no budget.
 * Returns `text`. */
const char *budget_text(const cost costs[COSTS], char *text, size_t room);

#endif
