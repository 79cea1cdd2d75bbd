/* Running rows and reporting them: what `groupdnn compare` does, and `bench` with measures of its own. */
#ifndef COMPARE_H
#define COMPARE_H

#include "json.h"
#include "request.h"
#include "table.h"
#include "trial.h"

/* Room for a problem as text. */
enum { PROBLEM_TEXT = 2048 };

/* What a command measures besides the errors, in their place between kernel and verdict. Each function gets
 * `context`. */
typedef struct measures {
    void *context;
    /* To how many multiply-adds problems are scaled. */
    double emulated_macs, gpu_macs;
    /* As session_open. */
    gdnn_status (*open)(session *s, session_choice choice);
    /* Measures a row that passed: `from` is the problem before it was scaled, or the trial's. May add to `result` what
     * cuDNN made. GDNN_FAILED: the row failed, and gdnn_last_error says why. */
    gdnn_status (*row)(void *context, session *s, const trial *t, const gdnn_conv *from,
                       trial_result *result);
    /* Lines above the table, the headings of the columns, and the cells of the last row that `row` got, or of one
     * that did not pass. */
    void (*begin)(void *context, FILE *out, const session *s);
    void (*head)(void *context, FILE *out);
    void (*cells)(void *context, FILE *out, bool measured);
    /* The members of that row's record. */
    void (*members)(void *context, json *j, bool measured);
    /* Lines below the table, and members of the summary. */
    void (*end)(void *context, FILE *out, json *j);
} measures;

typedef struct report {
    table table;
    json json;
    const measures *measures; /* NULL: the errors */
    int run, passed, failed, skipped;
} report;

/* Runs the rows that were asked for. Returns the exit status. */
int compare_run(const request *q, const measures *measures);

/* The table's head: which device, what happens to large problems. */
void report_begin(report *r, const session *s, bool scales, double macs);

/* A row that ran or was skipped. `from` is the problem before it was scaled, NULL if it was not;
 * `status` and gdnn_last_error are trial_run's; `dump` is the folder with its files, or NULL. */
void report_row(report *r, const job *row, const gdnn_conv *from, gdnn_status status,
                const trial_result *result, const char *dump);

void report_end(report *r, const session *s, unsigned long long seed);

/* The problems of the user's tensors: `text` is completed from them. What is open is run over
 * `choice`, where `asked` says what the user chose there; else over the type of the files, and the
 * directions whose inputs are all there. GDNN_INVALID: gdnn_last_error says what does not fit. */
gdnn_status compare_given(const given *g, const char *text, const jobs_choice *choice,
                          const jobs_choice *asked, jobs *j);

/* Makes `folder` if it is missing. GDNN_INVALID: it cannot be made, or no file in it. */
gdnn_status dump_folder(const char *folder);

/* Writes a trial that ran to `folder`, which is made if it is missing: its tensors as .npy files
 * named as in its direction, the prior contents as y0, dx0 or dw0, the reference as ref, and the
 * problem as problem.txt, a file of one problem. `from` is as in report_row.
 * GDNN_FAILED: one cannot be written. */
gdnn_status dump_row(const char *folder, const job *row, const gdnn_conv *from,
                     const trial_result *result);

#endif
