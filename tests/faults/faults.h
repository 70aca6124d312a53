/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LENS_TESTS_FAULTS_FAULTS_H
#define LENS_TESTS_FAULTS_FAULTS_H

#include "tests/faults/plan.h"

/* Inside faults.so. */

/* The next call of KIND: whether it is to fail. */
bool faults_hit(enum fault_kind kind);
bool faults_armed(void);

/* The function NAME that stands behind ours. */
void *faults_next(const char *name);

/* Notes what is to be written, while armed. */
void faults_line(const void *bytes, size_t length);

/* What tests look up. */
struct fault_plan *faults_plan(void) __attribute__((visibility("default")));
void faults_arm(bool on) __attribute__((visibility("default")));
size_t faults_left(void) __attribute__((visibility("default")));

#endif
