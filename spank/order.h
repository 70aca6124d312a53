/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_SPANK_ORDER_H
#define LENS_SPANK_ORDER_H

/*
 * Slurm calls each hook in plugstack's order. A plugin after lens that hooks task_init, a
 * container plugin say, may replace what lens told the task by what an image says. Says so
 * in slurmd's log, once at its start, naming the plugins.
 */
void lens_order_check(void);

#endif
