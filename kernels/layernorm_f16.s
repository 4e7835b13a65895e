// layernorm_f16: dst = (x - mean) / sqrt(var + eps) * gamma + beta per row, 16-column panels (kernels.md 7).
// Arguments: src dst gamma beta rows panels inverse_width eps segments segment_reciprocal rounds variance_offset.
//
// Rounds of six rows, one a worker; in the last round the one to six rows left are cut into `segments` (1, 2, 3 or 6) parts of
// whole panels each, so that few rows still occupy all workers: segment w mod segments of row w / segments. A round is four
// launches with barriers between them:
//   sum        partial sums, f32 accumulators                                                   4 issues a panel
//   variance   mean; partial sums of the squares of centred values (never E[x^2] - mean^2)  20
//   deviation  from the sum of the squares
//   apply      result                                                                      28
// Sums, mean, variance and scaling are f32; the normalised value is rounded to f16 once, gamma and beta are applied in f16.
//
// The partial sums travel through the row's own dst, which is written last: sums in its first words, squares variance_offset
// bytes further; no launch writes what another worker reads in it. Pointers, the mean and the deviation stay in registers from
// launch to launch.
        .include "launch.inc"

// $a0 + $a1 = sum of the $m4 words from \base. Clobbers \base.
.macro sum_partials base
        {
        nop
        zero    $a0:1
        }
        {
        rpt     $m4, 0
        fnop
        }
        {
        ld32step $a1, $mzero, \base+=, 1
        f32add  $a0, $a0, $a1           // of the word before
        }
.endm

.macro centred_squares stride
        {
        ld64step $a4:5, $mzero, $m8+=, \stride
        f32v4sqacc $a0:3                // of the quad before
        }
        {
        nop
        f16v2tof32 $a0:1, $a4
        }
        {
        nop
        f16v2tof32 $a2:3, $a5
        }
        {
        nop
        f32v2sub $a0:1, $a6:B, $a0:1
        }
        {
        nop
        f32v2sub $a2:3, $a6:B, $a2:3
        }
.endm

// $a4 = first half of quad i. The accumulators hold the second half of quad i - 1, scaled; $a0:1 the first one. Stores the
// result of quad i - 1 and leaves quad i where quad i - 1 was. f32v2axpy returns what the one before it computed.
.macro apply_quad store_stride, load_stride
        {
        nop
        f16v2tof32 $a4:5, $a4
        }
        {
        ld32step $a4, $mzero, $m8+=, \load_stride
        f32v2axpy $a2:3, $a4:5, $a6:7
        }
        {
        ld64step $a2:3, $mzero, $m9+=, 1
        f32v4tof16 $a0:1, $a0:3
        }
        {
        ld64step $a2:3, $mzero, $m10+=, 1
        f16v4mul $a0:1, $a0:1, $a2:3
        }
        {
        nop
        f16v4add $a0:1, $a0:1, $a2:3
        }
        {
        st64step $a0:1, $mzero, $m2+=, \store_stride
        f16v2tof32 $a4:5, $a4
        }
.endm

.macro apply_next
        {
        ld32step $a4, $mzero, $m8+=, 1
        f32v2axpy $a0:1, $a4:5, $a6:7
        }
.endm

        .supervisor
        .globl  layernorm_f16
        .p2align 3
layernorm_f16:
        ld32    $m2, $m0, $mzero, 10
        setzi   $m1, .Lfirst
        setzi   $m3, .Lvariance
        setzi   $m4, .Ldeviation
        setzi   $m5, .Lapply
        setzi   $m9, .Llast
        add     $m2, $m2, -1
        brnz    $m2, .Lround
        mov     $m1, $m9
.Lround:
        runall  $m1, $m0, 0
        setzi   $m1, .Lnext
        cmpeq   $m8, $m2, 1
        movnz   $m1, $m8, $m9           // the coming round is the last one
        sync    2
        runall  $m3, $m0, 0
        sync    2
        runall  $m4, $m0, 0
        sync    2
        runall  $m5, $m0, 0
        sync    2
        brnzdec $m2, .Lround
        br      $m10

        .worker
// Registers kept between launches: $m0 byte offset of the own word among the partial sums, $m1 first quad of the unit in src,
// $m2 in dst, $m3 the row in dst, $m4 segments of the row (0: no unit), $m5 panels of the unit - 1, $m6 atoms from the last quad
// of a row's panel to its next panel, $m7 byte offset of the unit in gamma and beta, $m11 words from the last word of a row's
// panel to its next panel; $a6 mean, later $a5 1 / deviation and $a6:7 -mean / deviation.
.Llast:
        worker_number $m0
        argument $m8, 8
        argument $m9, 9                 // 65536 / segments
        argument $m6, 10
        argument $m4, 4
        mul     $m10, $m0, $m9
        shr     $m10, $m10, 16
        mul     $m11, $m10, $m8
        sub     $m11, $m0, $m11         // segment
        add     $m6, $m6, -1
        mul     $m6, $m6, 6
        add     $m10, $m10, $m6         // row
        cmpult  $m4, $m10, $m4
        mul     $m4, $m4, $m8
        argument $m8, 5
        mul     $m7, $m11, $m8
        mul     $m7, $m7, $m9
        shr     $m7, $m7, 16            // first panel: segment * panels / segments
        add     $m5, $m11, 1
        mul     $m5, $m5, $m8
        mul     $m5, $m5, $m9
        shr     $m5, $m5, 16            // end
        sub     $m5, $m5, $m7
        add     $m5, $m5, -1
        bri     .Lplace
.Lfirst:
        worker_number $m10
        argument $m5, 5
        mov     $m11, $mzero
        mov     $m7, $mzero
        add     $m5, $m5, -1
        setzi   $m4, 1
.Lplace:
        argument $m6, 4
        argument $m1, 0
        argument $m3, 1
        shl     $m6, $m6, 5             // bytes of a panel of src and dst
        shl     $m0, $m11, 2
        shl     $m10, $m10, 5
        add     $m1, $m1, $m10
        add     $m3, $m3, $m10
        mul     $m8, $m7, $m6
        add     $m1, $m1, $m8
        add     $m2, $m3, $m8
        shl     $m7, $m7, 5
        shr     $m6, $m6, 3
        {
        add     $m6, $m6, -3
        setzi   $a0, 8
        }
        {
        nop
        uput    $FP_CLR, $a0
        }
        bri     .Lsum
.Lnext:
        add     $m1, $m1, 192
        add     $m3, $m3, 192
        mov     $m2, $m3
.Lsum:
        brz     $m4, .Lexit
        {
        mov     $m8, $m1
        zero    $a4:5
        }
        {
        add     $m10, $m5, 1
        zero    $a6:7
        }
        {
        rpt     $m10, 3
        fnop
        }
        {
        ld64step $a0:1, $mzero, $m8+=, 1
        f16v8acc $a4:7                  // of the octet before
        }
        {
        ld64step $a2:3, $mzero, $m8+=, 1
        fnop
        }
        {
        ld64step $a4:5, $mzero, $m8+=, 1
        f16v8acc $a0:3
        }
        {
        ld64step $a6:7, $mzero, $m8+=, $m6
        fnop
        }
        f16v8acc $a4:7
        f32v2gina $a0:1, $azeros, 0
        f32v2gina $a2:3, $azeros, 0
        f32v2gina $a4:5, $azeros, 0
        f32v2gina $a6:7, $azeros, 0
        f32v2add $a0:1, $a0:1, $a2:3
        f32v2add $a4:5, $a4:5, $a6:7
        f32v2add $a0:1, $a0:1, $a4:5
        f32add  $a0, $a0, $a1
        st32    $a0, $m3, $m0, 0
        exitz   $mzero

        .p2align 3
.Lvariance:
        brz     $m4, .Lexit
        mov     $m9, $m3
        sum_partials $m9
        {
        argument $a4, 6
        f32add  $a0, $a0, $a1
        }
        {
        mov     $m8, $m1
        f32mul  $a6, $a0, $a4
        }
        {
        add     $m10, $m5, 1
        zero    $a0:1
        }
        {
        argument $m9, 11
        zero    $a2:3
        }
        {
        rpt     $m10, 19
        fnop
        }
        centred_squares 1
        centred_squares 1
        centred_squares 1
        centred_squares $m6
        {
        add     $m9, $m9, $m0
        f32v4sqacc $a0:3
        }
        f32v2gina $a0:1, $azeros, 0
        f32v2gina $a2:3, $azeros, 0
        f32v2add $a0:1, $a0:1, $a2:3
        f32add  $a0, $a0, $a1
        st32    $a0, $m3, $m9, 0
        exitz   $mzero

        .p2align 3
.Ldeviation:
        brz     $m4, .Lexit
        argument $m9, 11
        add     $m9, $m9, $m3
        shl     $m11, $m6, 1
        sum_partials $m9
        {
        argument $a4, 6
        f32add  $a0, $a0, $a1
        }
        {
        argument $a5, 7
        f32mul  $a0, $a0, $a4
        }
        {
        add     $m11, $m11, -1          // words from the last one of a row's panel to its next panel
        f32add  $a0, $a0, $a5
        }
        f32oorx $a5, $a0                // 1 / deviation
        f32mul  $a6, $a6, $a5
        f32sub  $a6, $azero, $a6        // -mean / deviation
        mov     $a7, $a6
        exitz   $mzero

        .p2align 3
.Lapply:
        brz     $m4, .Lexit
        argument $m9, 2
        argument $m10, 3
        mov     $m8, $m1
        add     $m9, $m9, $m7
        {
        add     $m10, $m10, $m7
        uput    $TAS, $a5
        }
        // First quad of the unit; rounds of (rest of a panel, first quad of the next); the rest of the last panel.
        ld32step $a4, $mzero, $m8+=, 1
        f16v2tof32 $a4:5, $a4
        {
        ld32step $a4, $mzero, $m8+=, 1
        f32v2axpy $a2:3, $a4:5, $a6:7
        }
        f16v2tof32 $a4:5, $a4
        apply_next
        {
        rpt     $m5, 27
        fnop
        }
        apply_quad 1, 1
        apply_next
        apply_quad 1, 1
        apply_next
        apply_quad 1, $m11
        apply_next
        apply_quad $m6, 1
        apply_next
        apply_quad 1, 1
        apply_next
        apply_quad 1, 1
        apply_next
        apply_quad 1, 1
        f32v2axpy $a0:1, $a4:5, $a6:7
        {
        ld64    $a4:5, $m9, $mzero, 0
        f32v2gina $a2:3, $azeros, 0
        }
        {
        ld64    $a6:7, $m10, $mzero, 0
        f32v4tof16 $a0:1, $a0:3
        }
        f16v4mul $a0:1, $a0:1, $a4:5
        f16v4add $a0:1, $a0:1, $a6:7
        st64    $a0:1, $m2, $mzero, 0
.Lexit:
        exitz   $mzero
