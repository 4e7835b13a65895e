/* isa: the instruction and CSR tables of the IPU21; encode, decode, print.
 * takes: words, or a form with operand values    gives: Insn, words, text
 * uses: base
 * never: the meaning of execution, labels
 *
 * One table, isa/isa.def, feeds assembler, disassembler, encoder and simulator. Bits are a pattern string with a letter per
 * operand (reference/isa/instructions.tsv), so that masks, matches and fields are computed, never typed.
 */
#pragma once
#include "base/error.h"
#include "base/str.h"
#include "base/writer.h"
#include "isa/flags.h"

/* One value per form, INSN_<form> as in instructions.tsv: INSN_add_mmmn_zi. */
typedef enum InsnCode {
    INSN_NONE = 0,
#define INSN(form, mnemonic, pattern, operands, field_map, lane, context, coissue, flags)          \
    INSN_##form,
#include "isa/isa.def"
#undef INSN
    INSN_COUNT
} InsnCode;

typedef enum OperandKind {
    OPERAND_NONE = 0,
    OPERAND_MR,   /* main register */
    OPERAND_MRP,  /* main pair: first register, even */
    OPERAND_AR,   /* aux register */
    OPERAND_ARP,  /* aux pair: first register, even */
    OPERAND_ARQ,  /* aux quad: first register, multiple of 4 */
    OPERAND_ZIMM, /* unsigned immediate of `bits` */
    OPERAND_SIMM, /* two's complement immediate of `bits`; operand value is the sign-extended 32-bit pattern */
    OPERAND_IMMZ12, /* 12 upper bits; operand value is the full 32-bit value with low 20 bits zero */
    OPERAND_CODE, /* code address; operand value is the byte address (multiple of 4); field holds address / 4 */
    OPERAND_CSR,  /* CSR number 0..255 (upper CSRs without the 0x100) */
    OPERAND_CCCS, /* coefficient index 0..63 */
    OPERAND_VTX,  /* vertex offset of `run`: operand value in units of 4 bytes, as encoded */
    OPERAND_ENUM, /* flag field of `bits`; `enumeration` names its kind (amp6, gina12, stride2x2, round4, synczone4 ...) */
    OPERAND_PAYLOAD, /* second word of sendpicp */
} OperandKind;

enum { INSN_OPERANDS_MAX = 6 };

typedef enum InsnLane { LANE_MAIN, LANE_AUX } InsnLane;
typedef enum InsnContext { CONTEXT_BOTH, CONTEXT_WORKER, CONTEXT_SUPERVISOR } InsnContext;
enum {
    INSN_CONTROL = 1,
    INSN_SYSTEM = 2,
    INSN_LOAD = 4,
    INSN_STORE = 8,
    INSN_UNDOCUMENTED = 16,
};

typedef struct InsnOperand {
    OperandKind kind;
    char letter;       /* of the pattern */
    uint8_t bits;      /* width of the field */
    char suffix[4];    /* text behind the operand: "+=", "++", ">>", "@", "" */
    char broadcast[3]; /* "B", "BL", "BU" or "" */
    bool
        is_updated; /* the instruction writes this register as well as reading it (+=, ++, (rw), ...) */
    char enumeration[12];
    uint8_t family; /* FlagFamily of an OPERAND_ENUM: whose symbols its values are */
} InsnOperand;

typedef struct InsnForm {
    const char *form, *mnemonic;
    InsnLane lane;
    InsnContext context;
    bool may_coissue;
    uint8_t flags;
    uint8_t operand_count;
    uint8_t words; /* 1, or 2 for sendpicp */
    uint32_t mask,
        match; /* of the first word; the coissue bit (31) is outside the mask when may_coissue */
    InsnOperand operand[INSN_OPERANDS_MAX];
} InsnForm;

/* A decoded instruction; operand values as described at OperandKind, in assembler order. */
typedef struct Insn {
    uint16_t code; /* InsnCode; INSN_NONE = illegal word */
    bool is_coissued;
    uint32_t operand[INSN_OPERANDS_MAX];
} Insn;

/* Never NULL for 1 <= code < INSN_COUNT. The table is built once, on first use, thread-safe. */
const InsnForm *isa_form(InsnCode code);
/* Forms of a mnemonic, in table order: the first and how many follow it contiguously; 0 when unknown. */
int isa_forms_of(Str mnemonic, InsnCode *first);
/* Writes form->words words. False (ERROR_INPUT, says which operand and its range) when an operand does not fit. */
bool isa_encode(InsnCode code, const uint32_t operand[INSN_OPERANDS_MAX], bool is_coissued,
                uint32_t word[2], Error *err);
/* Encode of known-good operands; asserts. */
uint32_t isa_word(InsnCode code, uint32_t a, uint32_t b, uint32_t d, uint32_t e);
/* Decodes one word of the given lane in a context (worker or supervisor); `next` is the following word (payload of
 * sendpicp). INSN_NONE for an illegal word, for a supervisor word with bit 31 set (but sendpicp), for reserved register numbers
 * that the operand kind cannot hold (odd pairs). `lane` restricts halves of bundles only: a word with bit 31 clear stands
 * alone and is found in either lane. */
Insn isa_decode(uint32_t word, uint32_t next, InsnLane lane, InsnContext context);
/* Assembly text that assembles to the same word: "ld64step $a0:1, $mzero, $m2+=, 1". Values that are published nowhere are
 * printed as symbols of `flags` (NULL: ours). */
void isa_print(Writer *writer, const Insn *insn, const IsaFlags *flags);
/* What a context executes at a word: an instruction, or with bit 31 of a worker's word set a bundle of it and `next`; `.long` for
 * illegal words. */
void isa_print_code(Writer *writer, uint32_t word, uint32_t next, InsnContext context,
                    const IsaFlags *flags);

/* CSRs (isa/csr.def): index 0..511. */
typedef enum Csr {
#define CSR(name, index, context, writable) CSR_##name = index,
#include "isa/csr.def"
#undef CSR
} Csr;
/* -1 when unknown in that context. `$NAME` or NAME. */
int csr_find(Str name, InsnContext context);
/* Empty when the index is not a CSR of that context. */
Str csr_name(int index, InsnContext context);

/* Meanings of flag symbols (isa/flags.h), for kernels and the machine: the values of flags.def. */
enum {
#define FLAG(name, value, family, source) FLAG_##name = value,
#include "isa/flags.def"
#undef FLAG
};
