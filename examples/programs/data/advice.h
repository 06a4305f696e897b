/* Advice of the programs on nets and tables: in hints, and in refusals that name a remedy. Each entry has its condition
 * above it. tests/oracle/advice.py makes the situation of each, follows the advice, and counts how often that helped; its
 * table is docs/advice.md. Refusals that name the one option which they are about are not listed. */
#ifndef DATA_ADVICE_H
#define DATA_ADVICE_H

/* ---- hints of a comparison ---- */

/* A run diverged, or was no better than the constant prediction while most others learned; the rate was not searched. */
#define ADVICE_SEARCH_RATE "--lr auto"
/* The validation loss still fell in the last epochs of more than half of the runs. */
#define ADVICE_TRAIN_LONGER "train longer before you compare (--epochs %d)"
/* An activation is best at the first or last rate of a list, and the rate was not searched. */
#define ADVICE_BEYOND_LIST "A better rate may lie outside: --lr auto."
/* Accuracy is measured on fewer than 100 test samples. */
#define ADVICE_MORE_SEEDS "use more seeds or folds, or judge by the loss (--measures test_loss)"
/* The name of a measure of other programs says nothing about its direction. */
#define ADVICE_DIRECTION "--more-is-better %.*s or --less-is-better %.*s"
/* Three hidden layers or more, no normalisation, and an initialiser that does not fit the activation. */
#define ADVICE_NORMALISE "--norm rms, or --init default"
/* Twelve hidden layers or more without a normalisation, and a form whose gradients vanish (relu_squared, xielu, ...). */
#define ADVICE_NORMALISE_DEEP "--norm rms"

/* ---- notes on a table ---- */

/* A number far from all others occurs again and again, such as -999. */
#define ADVICE_CODE_IS_GAP "if it marks a gap, write NA instead and use --missing drop or --missing mean"
/* A column looks like an identifier or a date. */
#define ADVICE_IGNORE "--ignore '%s' leaves it out"
/* More than a tenth of the validation or test rows have the features of a training row. */
#define ADVICE_DUPLICATES "--drop-duplicates keeps one of each"
/* The same, if rows have no groups yet. */
#define ADVICE_GROUPS "--groups COLUMN keeps rows of one origin, such as a patient, in one split"

/* ---- refusals of a table ---- */

/* Cells are missing. */
#define ADVICE_MISSING "use --missing drop or --missing mean"
/* One cell among numbers is none. */
#define ADVICE_ONE_CELL "correct it, or leave the line out: sed %zud"
/* At most a tenth of the cells among numbers are none, and all are the same word. */
#define ADVICE_ONE_MARK "if it marks a missing value, write NA instead and " ADVICE_MISSING
/* At most a tenth of the cells among numbers are none, and they differ. */
#define ADVICE_FEW_CELLS "correct them, or write NA instead and " ADVICE_MISSING
/* Numbers begin with the minus sign of Unicode. */
#define ADVICE_MINUS "sed 's/%s/-/g'"
/* The header occurs again among the rows. */
#define ADVICE_HEADER_AGAIN "awk 'NR == 1 { head = $0 } NR == 1 || $0 != head' leaves it out"
/* More than a tenth of the target's cells are words, and the task is a regression. */
#define ADVICE_CLASSES "--task classification makes each cell a class"
/* More than a tenth of a feature's cells are words, and most are numbers. */
#define ADVICE_CATEGORIES "--categorical '%s' makes each cell a category, --ignore '%s' leaves the column out"

/* ---- refusals of options and folders ---- */

/* predict meets a category that training had not. */
#define ADVICE_UNKNOWN "--unknown ignore treats it as none of the known ones"
/* The folder has results of other options or data. */
#define ADVICE_OTHER_FOLDER "use --out for another folder, or --overwrite to start over"
/* --resume with other data. */
#define ADVICE_START "--start %.200s/best.safetensors begins one with its weights"
/* --start with weights of another activation. */
#define ADVICE_ACTIVATION "choose with --activation-from file or model"
/* A source or target is longer than --context has room for. */
#define ADVICE_CONTEXT "which need --context %d"

#endif
