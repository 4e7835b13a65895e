/* Private to exchange: what the readers of plain and of generated transfers share (text.c, generate.c). */
#pragma once
#include "exchange/formula.h"

enum {
    TEXT_TRANSFERS_MAX = 2 * 1000 * 1000,
    TEXT_RECEIVERS_MAX = 16 * 1000 * 1000,
    TEXT_PHASES_MAX = 100 * 1000,
    TEXT_OFFSETS_MAX = 16 * 1000 * 1000,
    TEXT_MOVING_READS_MAX = 16 * 1000 * 1000,
};

/* Least and largest offset of a move. */
typedef struct OffsetSpan {
    int32_t least, largest;
} OffsetSpan;
VEC(OffsetSpan);

/* A problem file while it is read. */
typedef struct ProblemText {
    int line; /* of the file */
    Error *err;
    Arena *keep;
    ExchangeProblem *out;
    int32_t *seen;       /* per physical tile: 1 + last transfer that had it as a receiver */
    OffsetSpanVec spans; /* per move */
    NameTable *names;    /* NULL until a line gives one */
    Formulas formulas;
    int64_t moving_reads; /* of transfers with a move, in all iterations */
    int64_t expected;     /* transfers that the last phase says it has; -1: it does not say */
} ProblemText;

/* `line N: message`. Returns false. */
bool text_refuse(const ProblemText *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Fields of a transfer as a line gives them, before any rule is looked at. */
typedef struct TransferText {
    int64_t source, address, bytes, move;
    int32_t receiver_first; /* its receivers are the last of the problem, from this one on */
    Provenance provenance;
} TransferText;
bool text_add_receiver(ProblemText *text, int64_t tile, int64_t address);
/* Appends a transfer to the last phase, or refuses it with the rule that it breaks. */
bool text_add_transfer(ProblemText *text, const TransferText *from);

/* Reads `for ...: transfer ...` or `let NAME = formula` (which reaches to the end of the file) and adds what it generates. */
bool generate_transfers(ProblemText *text, Str line);
