/* Advice of the programs on nets and tables: in hints, and in refusals that name a remedy. Each entry has its condition
 * above it. tests/oracle/advice.py makes the situation of each, follows the advice, and counts how often that helped;
 * its table is docs/advice.md. Refusals that name the one option which they are about are not listed. */
#pragma once

/* ---- hints of a comparison ---- */

/* A run diverged, or was no better than the constant prediction while most others learned; the rate was not
 * searched. */
#define ADVICE_SEARCH_RATE "--lr auto"
/* The validation loss still fell in the last epochs of more than half of the runs. */
#define ADVICE_TRAIN_LONGER "train longer before you compare (--epochs %d)"
/* An activation is best at the first or last rate of a list, and the rate was not searched. */
#define ADVICE_BEYOND_LIST "A better rate may lie outside: --lr auto."
/* Accuracy is measured on fewer than 100 test samples, those of all seeds together. */
#define ADVICE_MORE_SEEDS "use more seeds or folds"
/* Accuracy is measured on fewer than 100 test samples, the first ones of the table for all seeds. */
#define ADVICE_FOLDS "--folds 5 in place of --test tests all samples"
/* The name of a measure of other programs says nothing about its direction. */
#define ADVICE_DIRECTION "--more-is-better '%.*s' or --less-is-better '%.*s'"
/* One of 20 test rows or more makes more than a quarter of a loss. */
#define ADVICE_HEAVY_ROW "see whether its target is right"
/* Neither the learning rate nor the initial scale was searched, with 100 validation samples or more. */
#define ADVICE_SEARCH_BOTH "--lr auto --init-scale auto"
/* Three points were tried, with 100 validation samples or more. */
#define ADVICE_SEARCH_WIDER "--lr auto --init-scale auto"
/* Fewer than five seeds. */
#define ADVICE_TEN_SEEDS "use ten or more for small ones"
/* One seed alone. */
#define ADVICE_SEVERAL_SEEDS "use several seeds"
/* Three hidden layers or more, no normalisation, and an initialiser that does not fit the activation. */
#define ADVICE_NORMALISE "--norm rms, or --init default"
/* Twelve hidden layers or more without a normalisation, and a form whose gradients vanish (relu_squared, xielu,
 * ...). */
#define ADVICE_NORMALISE_DEEP "--norm rms"

/* ---- notes on a table ---- */

/* A number far from all others occurs again and again, such as -999. */
#define ADVICE_CODE_IS_GAP "if it marks a gap, write NA instead and use --missing drop or --missing mean"
/* The task was inferred, and is the other one. */
#define ADVICE_TASK "override with --task"
/* A column looks like an identifier or a date, or has numbers beyond 3.4e38. */
#define ADVICE_IGNORE "--ignore '%s' leaves it out"
/* More than a tenth of the validation or test rows have the features of a training row. */
#define ADVICE_DUPLICATES "--drop-duplicates keeps one of each"
/* The same, if rows have no groups yet. */
#define ADVICE_GROUPS "--groups COLUMN keeps rows of one origin, such as a patient, in one split"

/* --start has the weights of a run on the same table with other splits. */
#define ADVICE_SAME_SPLITS "use its --seed and splits, or other data"

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

/* The first line is neither a header nor a row like the others. */
#define ADVICE_HEADER "choose --header yes or --header no"

/* A file whose name ends in .txt is no table. */
#define ADVICE_AS_TEXT "text:%s reads it as a text"

/* ---- files of other programs; @ is the file ---- */

/* A file is packed by xz. */
#define ADVICE_XZ "xz -dc '@' > table.csv"
/* A file is packed by bzip2. */
#define ADVICE_BZIP2 "bzip2 -dc '@' > table.csv"
/* A file is packed by zstd. */
#define ADVICE_ZSTD "zstd -dc '@' > table.csv"
/* A file is a zip archive. */
#define ADVICE_ZIP "unzip '@'"
/* A file is a tar archive. */
#define ADVICE_TAR "tar -xf '@'"
/* A file is an SQLite database. */
#define ADVICE_SQLITE "sqlite3 -header -csv '@' 'select * from TABLE' > table.csv"
/* A file is an array of NumPy. */
#define ADVICE_NPY                                                                                                   \
    "python3 -c \"import numpy; f = numpy.load('@'); numpy.savetxt('table.csv', f.reshape(len(f), -1), fmt='%.9g', " \
    "delimiter=',')\""
/* A file has arrays of NumPy. */
#define ADVICE_NPZ                                                                                           \
    "python3 -c \"import numpy; f = numpy.load('@'); numpy.savetxt('table.csv', f[f.files[0]], fmt='%.9g', " \
    "delimiter=',')\""
/* A file is JSON. */
#define ADVICE_JSON "python3 -c \"import pandas; pandas.read_json('@').to_csv('table.csv', index=False)\""
/* A file has an object of JSON on each line. */
#define ADVICE_JSON_LINES \
    "python3 -c \"import pandas; pandas.read_json('@', lines=True).to_csv('table.csv', index=False)\""
/* A file is a pickle of Python. */
#define ADVICE_PICKLE "python3 -c \"import pandas; pandas.read_pickle('@').to_csv('table.csv', index=False)\""
/* A file is in UTF-16. */
#define ADVICE_UTF16 "iconv -f UTF-16 -t UTF-8 converts the file"
/* A file is not in UTF-8. */
#define ADVICE_LATIN1 "if it is Latin-1, iconv -f LATIN1 -t UTF-8 converts the file"
/* A file is in the format ARFF. */
#define ADVICE_ARFF "sed '1,/^@data/Id; /^%%/d' leaves the rows"

/* ---- refusals of options and folders ---- */

/* predict --strict meets a gap where training had none. */
#define ADVICE_STRICT "without --strict the mean or the most frequent category stands for it"
/* predict gets the folder of a comparison. */
#define ADVICE_RUN "--model %.200s/runs/NAME, which --keep-models keeps"
/* Two formulas have the same name in results. */
#define ADVICE_NAMES "put a name in front, 'NAME: ...'"
/* A search is to be divided by --part. */
#define ADVICE_NO_PART "leave out --part"
/* A part of a comparison is complete. */
#define ADVICE_REST "without --part the command trains the rest and shows all"
/* Another process trains the same part of a comparison. */
#define ADVICE_DIVIDE "--part 1/2 for one process and --part 2/2 for the other"
/* A training was stopped. */
#define ADVICE_CONTINUE "the same command continues"
/* Results of other programs have more measures than a comparison. */
#define ADVICE_MEASURES "--measures names those to compare"
/* --validation none without --epochs. */
#define ADVICE_EPOCHS "--epochs N says how many there are"
/* --patience is no less than the number of epochs. */
#define ADVICE_PATIENCE "choose fewer, or more --epochs"
/* train has --folds without --fold. */
#define ADVICE_FOLD "--fold N, from 1 to --folds"
/* A model of texts is to read a table. */
#define ADVICE_TEXT_DATA "use --data text:FILE or lines:FILE"
/* --resume with another model, or other options that decide which epoch is best. */
#define ADVICE_OTHER_MODEL "--start begins one with its weights"

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
