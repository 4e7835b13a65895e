// bias_f16: x[row, :] += bias for every row, in place, x in 16-column panels (kernels.md 5).
// Arguments: x bias rows col_groups.
//
// A unit of work is one quad of columns (8 bytes) down all rows of its panel: unit u, panel u / 4, goes to worker u mod 6.
// The bias quad stays in $a6:7; two issues a row.
        .include "launch.inc"

        launch  bias_f16
        worker_number $m0
        argument $m4, 3
        shl     $m4, $m4, 2             // units
        cmpult  $m5, $m0, $m4
        brz     $m5, .Lexit
        argument $m1, 0
        argument $m2, 1
        argument $m3, 2
        shl     $m6, $m3, 5             // bytes of a panel
        add     $m3, $m3, -1
.Lunit:
        shl     $m7, $m0, 3
        ld64    $a6:7, $m2, $m7, 0
        shr     $m8, $m0, 2
        mul     $m8, $m8, $m6
        and     $m7, $m7, 24
        add     $m8, $m8, $m7
        add     $m8, $m8, $m1
        mov     $m9, $m8
        ld64step $a0:1, $mzero, $m8+=, 4
        {
        rpt     $m3, 1
        fnop
        }
        {
        ld64step $a0:1, $mzero, $m8+=, 4
        f16v4add $a2:3, $a0:1, $a6:7
        }
        {
        st64step $a2:3, $mzero, $m9+=, 4
        fnop
        }
        {
        add     $m0, $m0, 6
        f16v4add $a2:3, $a0:1, $a6:7
        }
        st64    $a2:3, $m9, $mzero, 0
        cmpult  $m5, $m0, $m4
        brnz    $m5, .Lunit
.Lexit:
        exitz   $mzero
