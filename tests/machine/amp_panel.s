// amp_panel: c[rows, cols] = a[rows, k] * b with the structure of kernels.md 2.2 and as many worker issues a panel as the
// published body of 2.3: 15 + 4n when partial sums are read back, 17 + 4n for the first panel of a column group, n = rows of the
// busiest worker. It exists to compare the cycles of a panel with 2.3; kernels/gemm_f16.s is the kernel that the compiler uses.
//
// Arguments at $m0: a b c rows k_panels col_groups; $m10 = return address. a and c are 16-column panels, a in region 0, c in
// region 1. b lies in region 1, panels of 512 bytes in the order (K panel, column group). At least two rows a worker; 24 bytes
// are read, not used, behind each worker's rows of c.
//
// Fixed supervisor sequence. Behind `runall`, in slots of workers that end early: address of the next coefficients, count, entry of
// the next launch, put, branch. When the column group changes: count, put of the new group's address, branch, four
// registers. Nothing stands between `sync` and the loads, nor between the loads and `runall`.

// Step s = 4(r + 1) + q takes quad q of the activations of row r and of the partial sums of row r + 1, and returns quad q of row
// r - 1 (tile-timing.md 4.3). Bundle s loads for step s + 1 and stores the result of step s - 2: 11 atoms behind its load.
        .set    X_NEXT, 0               // pace codes: first pointer (a), second pointer (c)
        .set    X_STAY, 3
        .set    P_NEXT, 0
        .set    P_STAY, 12

.macro load codes, into_x, into_p, out, in, partial, phase
        {
        ld2x64pace \into_x, \into_p, $m0:1+=, $mzero, \codes
        f16v4hihov4amp \out, \in, \partial, \phase
        }
.endm

.macro load_input_store out, in, partial, phase
        {
        ldst64pace $a0:1, \out, $m0:1+=, $mzero, 0
        f16v4hihov4amp \out, \in, \partial, \phase
        }
.endm

.macro load_both_store out, phase
        {
        ld2xst64pace $a0:3, \out, $m0:1+=, $mzero, 0
        f16v4hihov4amp \out, $a0:1, $a2:3, \phase
        }
.endm

.macro store out, in, phase
        {
        st64pace \out, $m0:1+=, $mzero, 0
        f16v4hihov4amp \out, \in, $azeros, \phase
        }
.endm

// Steps 4n + 2 .. 4n + 7 and the last two stores.
.macro finish
        load_input_store $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P2
        store   $a6:7, $a0:1, TAMP_F16V4_E4_P3
        store   $a4:5, $azeros, TAMP_F16V4_E4_P0
        store   $a6:7, $azeros, TAMP_F16V4_E4_P1
        store   $a4:5, $azeros, TAMP_F16V4_E4_P2
        store   $a6:7, $azeros, TAMP_F16V4_E4_P3
        st64pace $a4:5, $m0:1+=, $mzero, 0
        st64pace $a6:7, $m0:1+=, $mzero, 0
        exitz   $mzero
.endm

// Eight coefficients of one pair of lanes.
.macro load_lanes first
        ld128putcs \first
        ld128putcs \first + 2
        ld128putcs \first + 4
        ld128putcs \first + 6
.endm

        .supervisor
        .globl  amp_panel
        .p2align 3
amp_panel:
        ld32    $m2, $m0, $mzero, 1     // coefficients of the group's first K panel
        ld32    $m3, $m0, $mzero, 5     // groups to do
        ld32    $m4, $m0, $mzero, 4
        setzi   $m5, .Lfirst            // entry of the next launch
        shl     $m6, $m3, 9             // from one K panel's coefficients to the next
        put     $CCCSLOAD, $m2
        bri     .Lgroup_start

.Lgroup:
        setzi   $m5, .Lnext_group
.Lgroup_start:
        mov     $m1, $m2
        add     $m2, $m2, 512
        mov     $m7, $m4
.Lpanel:
        sync    2
        load_lanes 0
        load_lanes 32
        load_lanes 8
        load_lanes 40
        load_lanes 16
        load_lanes 48
        load_lanes 24
        load_lanes 56
        runall  $m5, $m0, 0
        add     $m1, $m1, $m6
        add     $m7, $m7, -1
        setzi   $m5, .Lnext_panel
        put     $CCCSLOAD, $m1
        brnz    $m7, .Lpanel
        add     $m3, $m3, -1
        put     $CCCSLOAD, $m2
        brnz    $m3, .Lgroup
        sync    2
        br      $m10

        .worker
// Registers kept between launches: $m2 a of this K panel, $m3 c of this column group, $m5 bytes of a panel of a and c, $m6 a of
// the first K panel, $m7 = n - 2.
.Lfirst:
        get     $m6, $WSR
        and     $m6, $m6, 7
        ld32    $m2, $mvertex_base, $mzero, 0
        ld32    $m3, $mvertex_base, $mzero, 2
        ld32    $m4, $mvertex_base, $mzero, 3
        mul     $m7, $m4, 10923         // / 2^16 = rows / 6
        shr     $m7, $m7, 16
        mul     $m8, $m7, 6
        sub     $m8, $m4, $m8           // rows mod 6
        mul     $m9, $m7, $m6
        min     $m10, $m6, $m8
        add     $m9, $m9, $m10          // first row
        cmpult  $m8, $m6, $m8
        add     $m7, $m7, $m8
        add     $m7, $m7, -2
        shl     $m5, $m4, 5
        shl     $m9, $m9, 5
        add     $m2, $m2, $m9
        add     $m3, $m3, $m9
        mov     $m6, $m2
        bri     .Linit

// 17 + 4n issues; the published body does more here, of which nothing is known: two fillers.
.Lnext_group:
        add     $m3, $m3, $m5
        mov     $m2, $m6
        bri     .Linit

        .p2align 3
.Linit:
        {
        nop
        setzi   $a0, 8
        }
        {
        nop
        uput    $FP_CLR, $a0
        }
        nop
        nop
        tapack  $m0:1, $m2, $m3, $m3
        ld2x64pace $a0:1, $azeros, $m0:1+=, $mzero, X_NEXT + P_STAY
        load    X_NEXT + P_STAY, $a0:1, $azeros, $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P0
        load    X_NEXT + P_STAY, $a0:1, $azeros, $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P1
        load    X_NEXT + P_STAY, $a0:1, $azeros, $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P2
        load    X_NEXT + P_STAY, $a0:1, $azeros, $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P3
        load    X_NEXT + P_STAY, $a0:1, $azeros, $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P0
        load    X_NEXT + P_STAY, $a0:1, $azeros, $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P1
        {
        rpt     $m7, 3
        fnop
        }
        load_input_store $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P2
        load_input_store $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P3
        load_input_store $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P0
        load_input_store $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P1
        finish

// 15 + 4n issues.
        .p2align 3
.Lnext_panel:
        {
        add     $m2, $m2, $m5
        setzi   $a0, 8
        }
        {
        tapack  $m0:1, $m2, $m3, $m3
        uput    $FP_CLR, $a0
        }
        {
        ld2x64pace $azeros, $a2:3, $m0:1+=, $mzero, X_STAY + P_NEXT
        fnop
        }
        load    X_STAY + P_NEXT, $azeros, $a2:3, $a4:5, $azeros, $a2:3, TAMP_F16V4_E4_P0
        load    X_STAY + P_NEXT, $azeros, $a2:3, $a6:7, $azeros, $a2:3, TAMP_F16V4_E4_P1
        load    X_STAY + P_NEXT, $azeros, $a2:3, $a4:5, $azeros, $a2:3, TAMP_F16V4_E4_P2
        load    X_NEXT + P_NEXT, $a0:1, $a2:3, $a6:7, $azeros, $a2:3, TAMP_F16V4_E4_P3
        load    X_NEXT + P_NEXT, $a0:1, $a2:3, $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P0
        load    X_NEXT + P_NEXT, $a0:1, $a2:3, $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P1
        load    X_NEXT + P_NEXT, $a0:1, $a2:3, $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P2
        load    X_NEXT + P_NEXT, $a0:1, $a2:3, $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P3
        load    X_NEXT + P_NEXT, $a0:1, $a2:3, $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P0
        load    X_NEXT + P_NEXT, $a0:1, $a2:3, $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P1
        {
        rpt     $m7, 3
        fnop
        }
        load_both_store $a4:5, TAMP_F16V4_E4_P2
        load_both_store $a6:7, TAMP_F16V4_E4_P3
        load_both_store $a4:5, TAMP_F16V4_E4_P0
        load_both_store $a6:7, TAMP_F16V4_E4_P1
        finish
