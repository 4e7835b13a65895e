// softmax_f16: dst = exp(scale * (x - rowmax)) for columns < keys, exactly 0 behind; stats[row] = sum (kernels.md 8.2).
// Arguments: src dst stats rows panels keys scale. dst may be src.
//
// Row r goes to worker r mod 6. The argument of exp is formed by f16v4mix as s*x - s*max in f32 (s = scale rounded to f16) and
// rounded once, so a probability p is off by about (1 + |ln p|) half units of f16. The statistics are the f32 sum of the
// ROUNDED f16 exponentials: the normalised row then sums to one. Masked columns are never used arithmetically: whole quads are
// not read, halves of the quad that holds the last key are replaced by a valid key before and by zero after (pitfall N1, N2).
        .include "launch.inc"

// $a2:3 = arguments of exp of one quad. Stores the exponentials and adds them to $a4:5.
.macro finish_quad stride
        {
        nop
        f16v2exp $a2, $a2
        }
        {
        nop
        f16v2exp $a3, $a3
        }
        {
        st64step $a2:3, $mzero, $m10+=, \stride
        f16v4sum $a2:3, $a2:3
        }
        {
        nop
        f32v2add $a4:5, $a4:5, $a2:3
        }
.endm

        launch  softmax_f16
        worker_number $m0
        argument $m3, 3
        strided_share $m4, $m3, $m0, $m5
        brz     $m4, .Lexit
        add     $m4, $m4, -1
        shl     $m6, $m3, 2
        add     $m6, $m6, -3            // atoms from the last quad of a row's panel to its next panel
        argument $m1, 0
        argument $m2, 1
        argument $m3, 2
        shl     $m5, $m0, 5
        add     $m1, $m1, $m5
        add     $m2, $m2, $m5
        shl     $m5, $m0, 2
        add     $m3, $m3, $m5
        argument $m0, 5
        shr     $m5, $m0, 4             // whole panels
        shr     $m7, $m0, 2
        and     $m7, $m7, 3             // whole quads of the last panel
        and     $m8, $m0, 3             // keys of the last quad
        argument $m11, 4
        shl     $m11, $m11, 2
        add     $m0, $m0, 3
        shr     $m0, $m0, 2
        sub     $m11, $m11, $m0         // zero quads in all
        and     $m0, $m11, 3            // zero quads of the last panel
        shr     $m11, $m11, 2           // zero panels
        clear_accumulators $a0
        ld32    $a0, $mvertex_base, $mzero, 6
        f32sub  $a1, $azero, $a0
        f32v2tof16 $a0, $a0:1
        uput    $TAS, $a0               // scale, -scale
.Lrow:
        // Maximum of the valid keys in $a6:7.
        mov     $m9, $m1
        ldconst $a6, 0xfbfffbff         // -65504
        mov     $a7, $a6
        {
        nop
        mov     $a2:3, $a6:7
        }
        {
        rpt     $m5, 3
        fnop
        }
        {
        ld64step $a0:1, $mzero, $m9+=, 1
        f16v4max $a6:7, $a6:7, $a2:3
        }
        {
        ld64step $a2:3, $mzero, $m9+=, 1
        f16v4max $a6:7, $a6:7, $a0:1
        }
        {
        ld64step $a0:1, $mzero, $m9+=, 1
        f16v4max $a6:7, $a6:7, $a2:3
        }
        {
        ld64step $a2:3, $mzero, $m9+=, $m6
        f16v4max $a6:7, $a6:7, $a0:1
        }
        {
        nop
        f16v4max $a6:7, $a6:7, $a2:3
        }
        {
        rpt     $m7, 1
        fnop
        }
        {
        ld64step $a0:1, $mzero, $m9+=, 1
        fnop
        }
        {
        nop
        f16v4max $a6:7, $a6:7, $a0:1
        }
        brz     $m8, .Lmaximum
        ld32    $a0, $m9, $mzero, 0
        cmpeq   $m10, $m8, 1
        brz     $m10, .Lpair
        sort4x16lo $a0, $a0, $a0
.Lpair:
        {
        cmpeq   $m10, $m8, 3
        f16v2max $a6, $a6, $a0
        }
        brz     $m10, .Lmaximum
        ld32    $a1, $m9, $mzero, 1
        sort4x16lo $a1, $a1, $a1
        f16v2max $a7, $a7, $a1
.Lmaximum:
        f16v2max $a6, $a6, $a7
        roll16  $a7, $a6, $a6
        {
        mov     $m9, $m1
        f16v2max $a6, $a6, $a7
        }
        {
        mov     $m10, $m2
        mov     $a7, $a6
        }

        // Exponentials and their sums in $a4:5.
        {
        nop
        zero    $a4:5
        }
        {
        rpt     $m5, 21
        fnop
        }
        {
        ld64step $a0:1, $mzero, $m9+=, 1
        fnop
        }
        {
        ld64step $a0:1, $mzero, $m9+=, 1
        f16v4mix $a2:3, $a0:1, $a6:7
        }
        {
        ld64step $a0:1, $mzero, $m9+=, 1
        f16v4mix $a2:3, $a0:1, $a6:7
        }
        finish_quad 1
        {
        ld64step $a0:1, $mzero, $m9+=, $m6
        f16v4mix $a2:3, $a0:1, $a6:7
        }
        finish_quad 1
        {
        nop
        f16v4mix $a2:3, $a0:1, $a6:7
        }
        finish_quad 1
        {
        nop
        f16v4gacc $a2:3
        }
        finish_quad $m6
        {
        rpt     $m7, 6
        fnop
        }
        {
        ld64step $a0:1, $mzero, $m9+=, 1
        fnop
        }
        {
        nop
        f16v4mix $a2:3, $a0:1, $a6:7
        }
        {
        nop
        f16v4gacc $a2:3
        }
        finish_quad 1

        // The quad with the last one to three keys: a valid key stands in for the masked ones.
        brz     $m8, .Lzeros
        ld32    $a0, $m9, $mzero, 0
        ld32    $a1, $m9, $mzero, 1
        cmpeq   $m9, $m8, 3
        brnz    $m9, .Lload_three
        cmpeq   $m9, $m8, 1
        brz     $m9, .Lload_two
        sort4x16lo $a0, $a0, $a0
.Lload_two:
        mov     $a1, $a0
        bri     .Lexponentials
.Lload_three:
        sort4x16lo $a1, $a1, $a1
.Lexponentials:
        f16v4mix $a2:3, $a0:1, $a6:7
        f16v4gacc $a2:3
        {
        cmpeq   $m9, $m8, 3
        f16v2exp $a2, $a2
        }
        f16v2exp $a3, $a3
        setzi   $a0, 0xffff
        brnz    $m9, .Lmask_three
        {
        cmpeq   $m9, $m8, 1
        zero    $a3
        }
        brz     $m9, .Lmasked
        and     $a2, $a2, $a0
        bri     .Lmasked
.Lmask_three:
        and     $a3, $a3, $a0
.Lmasked:
        {
        st64step $a2:3, $mzero, $m10+=, 1
        f16v4sum $a2:3, $a2:3
        }
        f32v2add $a4:5, $a4:5, $a2:3

        // Zeros: the rest of the last panel, then whole panels.
.Lzeros:
        {
        rpt     $m0, 0
        fnop
        }
        {
        st64step $azeros, $mzero, $m10+=, 1
        fnop
        }
        brz     $m11, .Lstatistics
        or      $m9, $m7, $m8
        brz     $m9, .Lzero_panels
        add     $m9, $m6, -1
        shl     $m9, $m9, 3
        add     $m10, $m10, $m9
.Lzero_panels:
        {
        rpt     $m11, 3
        fnop
        }
        {
        st64step $azeros, $mzero, $m10+=, 1
        fnop
        }
        {
        st64step $azeros, $mzero, $m10+=, 1
        fnop
        }
        {
        st64step $azeros, $mzero, $m10+=, 1
        fnop
        }
        {
        st64step $azeros, $mzero, $m10+=, $m6
        fnop
        }
.Lstatistics:
        {
        add     $m1, $m1, 192
        f32add  $a4, $a4, $a5
        }
        st32step $a4, $mzero, $m3+=, 6
        add     $m2, $m2, 192
        brnzdec $m4, .Lrow
.Lexit:
        exitz   $mzero
