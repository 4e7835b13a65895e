// gemm_f16: c[rows, cols] = a[rows, k] * b, f16 partial sums between panels of K (kernels.md 2). Arguments: a b c rows k_panels
// col_groups. a and c are 16-column panels; b is coefficient panels of 512 bytes in the order (column group, K panel).
//
// For every column group and K panel the supervisor loads one panel of coefficients into the store that all workers share, in
// the lane order that makes results come out in column order (isa/semantics.md 10.2), and launches the workers. b is walked
// from start to end, so $CCCSLOAD is written once. Weights in region 1 are loaded 128 bits at a time.
//
// Worker w owns rows first .. first + n - 1, n = M/6 + (w < M%6), and keeps its pointers in registers from one launch to the
// next. Step s = 4r + q of a launch feeds K quad q of row r, takes quad q of the partial sums of row r + 1 and returns quad q of
// row r - 1; bundle s loads for step s + 1 and stores the result of step s - 2. So the partial sums of row 0 must already be
// in the queue when a launch begins: the drain (steps 4n .. 4n + 3, zero input) of the launch before puts them there, from
// memory (n >= 2) or straight from the results (n = 1). The first panel of a column group starts from a cleared queue and
// takes zeros instead. Load and store of c are 11 or 4n - 7 atoms apart: odd, hence in different halves of region 1. Nothing
// is read outside the worker's own rows. 4n + 12 issues a panel (n >= 2), 13 (n = 1).
        .include "launch.inc"

// One column of the pace code operand each: 0 = next atom, 1 = jump by the stride register, 3 = stay.
        .set    X_NEXT, 0               // first pointer: a
        .set    X_STAY, 3
        .set    P_NEXT, 0               // second pointer: partial sums in c
        .set    P_BACK, 4               // to the first row
        .set    P_STAY, 12

// load_*: one bundle. \x, \p: pace codes; \out: pair that holds the result of step s - 2 and takes
// that of step s; \in, \partial: operands of the AMP step.
.macro load_both x, p, out, in, partial, phase
        {
        ld2x64pace $a0:1, $a2:3, $m0:1+=, $m8, \x + \p
        f16v4hihov4amp \out, \in, \partial, \phase
        }
.endm

.macro load_input out, in, partial, phase
        {
        ld2x64pace $a0:1, $azeros, $m0:1+=, $m8, X_NEXT + P_STAY
        f16v4hihov4amp \out, \in, \partial, \phase
        }
.endm

.macro load_both_store x, p, out, in, partial, phase
        {
        ld2xst64pace $a0:3, \out, $m0:1+=, $m8, \x + \p
        f16v4hihov4amp \out, \in, \partial, \phase
        }
.endm

.macro load_input_store x, out, in, partial, phase
        {
        ldst64pace $a0:1, \out, $m0:1+=, $m8, \x
        f16v4hihov4amp \out, \in, \partial, \phase
        }
.endm

// Bundles 4n - 2 .. 4n + 5: the last row's last two quads, the drain that also feeds the first row's partial sums for the next
// launch, the last stores. The second pointer stands at the worker's first row of c.
.macro finish
        load_input_store X_STAY, $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P2
        load_both_store X_STAY, P_NEXT, $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P3
        load_both_store X_STAY, P_NEXT, $a4:5, $azeros, $a2:3, TAMP_F16V4_E4_P0
        load_both_store X_STAY, P_NEXT, $a6:7, $azeros, $a2:3, TAMP_F16V4_E4_P1
        load_both_store X_STAY, P_NEXT, $a4:5, $azeros, $a2:3, TAMP_F16V4_E4_P2
        {
        st64pace $a6:7, $m0:1+=, $mzero, 0
        f16v4hihov4amp $a6:7, $azeros, $a2:3, TAMP_F16V4_E4_P3
        }
        st64pace $a4:5, $m0:1+=, $mzero, 0
        st64pace $a6:7, $m0:1+=, $mzero, 0
        exitz   $mzero
.endm

        .supervisor
        .globl  gemm_f16
        .p2align 3
gemm_f16:
        ld32    $m1, $m0, $mzero, 1
        ld32    $m2, $m0, $mzero, 4
        ld32    $m3, $m0, $mzero, 5
        setzi   $m5, 0x80000
        setzi   $m4, .Lfirst
        put     $CCCSLOAD, $m1
        cmpult  $m5, $m1, $m5
        add     $m2, $m2, -1
        brnz    $m5, .Lnarrow_group

.Lwide_group:
        mov     $m5, $m2
.Lwide_panel:
        sync    2
        ld128putcs 0
        ld128putcs 2
        ld128putcs 4
        ld128putcs 6
        ld128putcs 32
        ld128putcs 34
        ld128putcs 36
        ld128putcs 38
        ld128putcs 8
        ld128putcs 10
        ld128putcs 12
        ld128putcs 14
        ld128putcs 40
        ld128putcs 42
        ld128putcs 44
        ld128putcs 46
        ld128putcs 16
        ld128putcs 18
        ld128putcs 20
        ld128putcs 22
        ld128putcs 48
        ld128putcs 50
        ld128putcs 52
        ld128putcs 54
        ld128putcs 24
        ld128putcs 26
        ld128putcs 28
        ld128putcs 30
        ld128putcs 56
        ld128putcs 58
        ld128putcs 60
        ld128putcs 62
        runall  $m4, $m0, 0
        setzi   $m4, .Lnext_panel
        brnzdec $m5, .Lwide_panel
        setzi   $m4, .Lnext_group
        add     $m3, $m3, -1
        brnz    $m3, .Lwide_group
        sync    2
        br      $m10

.Lnarrow_group:
        mov     $m5, $m2
.Lnarrow_panel:
        sync    2
        ld64putcs 0
        ld64putcs 1
        ld64putcs 2
        ld64putcs 3
        ld64putcs 4
        ld64putcs 5
        ld64putcs 6
        ld64putcs 7
        ld64putcs 32
        ld64putcs 33
        ld64putcs 34
        ld64putcs 35
        ld64putcs 36
        ld64putcs 37
        ld64putcs 38
        ld64putcs 39
        ld64putcs 8
        ld64putcs 9
        ld64putcs 10
        ld64putcs 11
        ld64putcs 12
        ld64putcs 13
        ld64putcs 14
        ld64putcs 15
        ld64putcs 40
        ld64putcs 41
        ld64putcs 42
        ld64putcs 43
        ld64putcs 44
        ld64putcs 45
        ld64putcs 46
        ld64putcs 47
        ld64putcs 16
        ld64putcs 17
        ld64putcs 18
        ld64putcs 19
        ld64putcs 20
        ld64putcs 21
        ld64putcs 22
        ld64putcs 23
        ld64putcs 48
        ld64putcs 49
        ld64putcs 50
        ld64putcs 51
        ld64putcs 52
        ld64putcs 53
        ld64putcs 54
        ld64putcs 55
        ld64putcs 24
        ld64putcs 25
        ld64putcs 26
        ld64putcs 27
        ld64putcs 28
        ld64putcs 29
        ld64putcs 30
        ld64putcs 31
        ld64putcs 56
        ld64putcs 57
        ld64putcs 58
        ld64putcs 59
        ld64putcs 60
        ld64putcs 61
        ld64putcs 62
        ld64putcs 63
        runall  $m4, $m0, 0
        setzi   $m4, .Lnext_panel
        brnzdec $m5, .Lnarrow_panel
        setzi   $m4, .Lnext_group
        add     $m3, $m3, -1
        brnz    $m3, .Lnarrow_group
        sync    2
        br      $m10

        .worker
// Registers kept between launches: $m2 a of this K panel, $m3 c of this column group, $m4 = $m3 + 32, $m5 bytes of a panel of
// a and c, $m6 a of the first K panel, $m7 = n - 2, $m11 = n - 3, $m8 strides, $m9 and $m10 code for the first and for the other
// K panels of a group.
.Lfirst:
        worker_number $m6
        argument $m2, 0
        argument $m3, 2
        argument $m4, 3
        mul     $m7, $m4, 10923         // / 2^16 = rows / 6, exact below 32,768
        shr     $m7, $m7, 16
        mul     $m8, $m7, 6
        sub     $m8, $m4, $m8           // rows mod 6
        mul     $m9, $m7, $m6
        min     $m10, $m6, $m8
        add     $m9, $m9, $m10          // first row
        cmpult  $m8, $m6, $m8
        add     $m7, $m7, $m8           // n
        shl     $m5, $m4, 5
        shl     $m9, $m9, 5
        add     $m2, $m2, $m9
        add     $m3, $m3, $m9
        mov     $m6, $m2
        setzi   $m9, .Lexit
        mov     $m10, $m9
        brz     $m7, .Lexit
        shl     $m8, $m7, 2
        sub     $m8, 1, $m8
        and     $m8, $m8, 0x3ff         // field 0: 1 - 4n atoms; field 2: stay
        add     $m7, $m7, -2
        add     $m11, $m7, -1
        setzi   $m9, .Lone_row
        mov     $m10, $m9
        brneg   $m7, .Lgroup
        setzi   $m9, .Linit
        setzi   $m10, .Ltwo_rows
        brz     $m7, .Lgroup
        setzi   $m10, .Laccumulate
        bri     .Lgroup

.Lnext_group:
        add     $m3, $m3, $m5
        mov     $m2, $m6
.Lgroup:
        {
        add     $m4, $m3, 32
        setzi   $a0, 8
        }
        {
        nop
        uput    $FP_CLR, $a0
        }
        br      $m9

.Lnext_panel:
        add     $m2, $m2, $m5
        br      $m10

// First K panel, n >= 2. The second pointer waits at the worker's first row for the drain.
        .p2align 3
.Linit:
        tapack  $m0:1, $m2, $m3, $m3
        ld2x64pace $a0:1, $azeros, $m0:1+=, $m8, X_NEXT + P_STAY
        load_input $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P0
        load_input $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P1
        load_input $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P2
        load_input $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P3
        load_input $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P0
        load_input $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P1
        {
        rpt     $m7, 3
        fnop
        }
        load_input_store X_NEXT, $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P2
        load_input_store X_NEXT, $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P3
        load_input_store X_NEXT, $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P0
        load_input_store X_NEXT, $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P1
        finish

// Other K panels, n >= 3. Partial sums of row r + 1 are fed with row r, zeros with the last row.
        .p2align 3
.Laccumulate:
        tapack  $m0:1, $m2, $m4, $m3
        ld2x64pace $a0:1, $a2:3, $m0:1+=, $m8, X_NEXT + P_NEXT
        load_both X_NEXT, P_NEXT, $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P0
        load_both X_NEXT, P_NEXT, $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P1
        load_both X_NEXT, P_NEXT, $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P2
        load_both X_NEXT, P_NEXT, $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P3
        load_both X_NEXT, P_NEXT, $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P0
        load_both X_NEXT, P_NEXT, $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P1
        {
        rpt     $m11, 3
        fnop
        }
        load_both_store X_NEXT, P_NEXT, $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P2
        load_both_store X_NEXT, P_NEXT, $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P3
        load_both_store X_NEXT, P_NEXT, $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P0
        load_both_store X_NEXT, P_NEXT, $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P1
        load_both_store X_NEXT, P_BACK, $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P2
        load_input_store X_NEXT, $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P3
        load_input_store X_NEXT, $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P0
        load_input_store X_NEXT, $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P1
        finish

// Other K panels, n = 2.
        .p2align 3
.Ltwo_rows:
        tapack  $m0:1, $m2, $m4, $m3
        ld2x64pace $a0:1, $a2:3, $m0:1+=, $m8, X_NEXT + P_NEXT
        load_both X_NEXT, P_NEXT, $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P0
        load_both X_NEXT, P_NEXT, $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P1
        load_both X_NEXT, P_BACK, $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P2
        load_input $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P3
        load_input $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P0
        load_input $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P1
        finish

// All K panels, n = 1: the results go back into the queue without a detour; five drain steps instead of four.
        .p2align 3
.Lone_row:
        {
        ld64    $a0:1, $m2, $mzero, 0
        fnop
        }
        {
        ld64    $a0:1, $m2, $mzero, 1
        f16v4hihov4amp $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P0
        }
        {
        ld64    $a0:1, $m2, $mzero, 2
        f16v4hihov4amp $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P1
        }
        {
        ld64    $a0:1, $m2, $mzero, 3
        f16v4hihov4amp $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P2
        }
        f16v4hihov4amp $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P3
        f16v4hihov4amp $a4:5, $azeros, $azeros, TAMP_F16V4_E4_P0
        {
        st64    $a4:5, $m3, $mzero, 0
        f16v4hihov4amp $a6:7, $azeros, $a4:5, TAMP_F16V4_E4_P1
        }
        {
        st64    $a6:7, $m3, $mzero, 1
        f16v4hihov4amp $a4:5, $azeros, $a6:7, TAMP_F16V4_E4_P2
        }
        {
        st64    $a4:5, $m3, $mzero, 2
        f16v4hihov4amp $a6:7, $azeros, $a4:5, TAMP_F16V4_E4_P3
        }
        {
        st64    $a6:7, $m3, $mzero, 3
        f16v4hihov4amp $a4:5, $azeros, $a6:7, TAMP_F16V4_E4_P1
        }
.Lexit:
        exitz   $mzero
