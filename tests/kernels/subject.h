/* What is under test: one kernel in one layout and type, and how one case is offered to it.
 *
 * A property (properties.def) offers its cases one after the other. A case that the kernel cannot
 * run is left out, except that the direct family runs everything: there it fails the test. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include "trial.h"

typedef struct subject {
    const gdnn_kernel *kernel;
    gdnn_layout layout;
    gdnn_dtype dtype;
    session *session;
    gdnn_options options;  /* this kernel and no other, by force */
    int64_t offered_bytes; /* of workspace, from which the kernel takes what it likes */
    bool counting;         /* cases are counted and none is run */
    int offered;           /* cases that the kernel can run, before thinning */
    int cases;             /* and after it */
} subject;

/* A subject whose options name `kernel`. */
subject subject_of(session *s, const gdnn_kernel *kernel, gdnn_layout layout, gdnn_dtype dtype);

/* True for the family that must run every case. */
bool subject_is_direct(const subject *s);

/* The problem that a text without dir, dtype and layout means for this subject. The test fails if
 * it is invalid. */
gdnn_conv subject_conv(const subject *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Bytes of workspace that the kernel takes for `conv`. */
int64_t subject_workspace(const subject *s, const gdnn_conv *conv);

/* Counts the case; true if it is to be run now. */
bool subject_takes(subject *s, const gdnn_conv *conv);

/* Runs `t`, whose options and workspace are filled in, and fails the test unless the result is
 * right. The result is the caller's to release. */
void subject_run(const subject *s, trial *t, trial_result *result);

/* subject_takes and, if so, subject_run with a seed of its own for each case. */
void subject_try(subject *s, const gdnn_conv *conv);
void subject_try_trial(subject *s, const trial *t);

/* Fails the test with the sentence and the problem's text, which `groupdnn compare` reads. */
void subject_fail(const subject *s, const gdnn_conv *conv, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Work of a case on the emulated device, in threads: each of them, and each 8 multiply-adds, count
 * 1. */
double subject_work(const subject *s, const gdnn_conv *conv);

/* What generated cases may cost at most: above it they are not offered. */
#define SUBJECT_MOST_WORK 1.5e5

/* The seed of all random data and problems: GDNN_TEST_SEED, or 1. */
uint64_t subject_seed(void);

/* GDNN_TEST_THIN=n: of the cases of a property only one in n is run, always the same ones, the
 * first among them. */
int subject_thin(void);

#endif
