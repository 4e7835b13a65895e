// transpose_f16: transposes 16 x 16 blocks of 512 bytes: panels of a left operand [k, cols] become coefficient panels
// (kernels.md 1; block i of the one is block i of the other). Arguments: src dst blocks.
//
// A unit of work is four rows of a block: unit u goes to worker u mod 6. Per pair of columns four words are loaded and the
// halves of two columns stored, six issues.
        .include "launch.inc"

        launch  transpose_f16
        worker_number $m0
        argument $m4, 2
        shl     $m4, $m4, 2             // units
        cmpult  $m5, $m0, $m4
        brz     $m5, .Lexit
        argument $m1, 0
        argument $m2, 1
        setzi   $m5, 96                 // from row 0 to row 3 of the unit
        setzi   $m6, 32                 // from column 0 to column 1 of the result
        setzi   $m9, 7
.Lunit:
        shl     $m7, $m0, 7
        add     $m7, $m1, $m7           // src + u * 128
        shr     $m8, $m0, 2
        shl     $m8, $m8, 9
        and     $m3, $m0, 3
        shl     $m3, $m3, 3
        add     $m8, $m8, $m3
        add     $m8, $m8, $m2           // dst + u / 4 * 512 + u % 4 * 8
        ld32    $a0, $m7, $mzero, 0
        ld32    $a1, $m7, $mzero, 8
        {
        ld32    $a2, $m7, $mzero, 16
        sort4x16lo $a4, $a0, $a1
        }
        {
        ld32step $a3, $m5, $m7+=, 1
        sort4x16hi $a6, $a0, $a1
        }
        {
        rpt     $m9, 5
        fnop
        }
        {
        ld32    $a0, $m7, $mzero, 0
        sort4x16lo $a5, $a2, $a3
        }
        {
        ld32    $a1, $m7, $mzero, 8
        sort4x16hi $a7, $a2, $a3
        }
        {
        st64    $a4:5, $m8, $mzero, 0
        fnop
        }
        {
        st64step $a6:7, $m6, $m8+=, 8
        sort4x16lo $a4, $a0, $a1
        }
        {
        ld32    $a2, $m7, $mzero, 16
        sort4x16hi $a6, $a0, $a1
        }
        {
        ld32step $a3, $m5, $m7+=, 1
        fnop
        }
        sort4x16lo $a5, $a2, $a3
        {
        st64    $a4:5, $m8, $mzero, 0
        sort4x16hi $a7, $a2, $a3
        }
        st64    $a6:7, $m8, $mzero, 4
        add     $m0, $m0, 6
        cmpult  $m3, $m0, $m4
        brnz    $m3, .Lunit
.Lexit:
        exitz   $mzero
