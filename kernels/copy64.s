// copy64: copies runs of 8-byte words (kernels.md 4). Arguments: src dst run_words runs src_stride dst_stride (bytes).
//
// Few long runs are cut into six contiguous parts each, many short ones go whole to worker r mod 6: whichever keeps all
// workers busy. Two issues a word: load and store may meet in one element, so they are never in one bundle.
        .include "launch.inc"

        launch  copy64
        worker_number $m0
        argument $m1, 0
        argument $m2, 1
        argument $m3, 2
        argument $m4, 3
        argument $m5, 4
        argument $m6, 5
        shl     $m7, $m4, 3
        cmpult  $m7, $m3, $m7
        brnz    $m7, .Lwhole_runs

        // A part of every run.
        even_share $m9, $m7, $m3, $m0, $m8, $m10
        brz     $m7, .Lexit
        shl     $m9, $m9, 3
        add     $m1, $m1, $m9
        add     $m2, $m2, $m9
        add     $m4, $m4, -1
        bri     .Lrun

.Lwhole_runs:
        strided_share $m4, $m4, $m0, $m7
        brz     $m4, .Lexit
        add     $m4, $m4, -1
        mul     $m7, $m5, $m0
        add     $m1, $m1, $m7
        mul     $m7, $m6, $m0
        add     $m2, $m2, $m7
        mul     $m5, $m5, 6
        mul     $m6, $m6, 6
        mov     $m7, $m3

.Lrun:
        mov     $m8, $m1
        mov     $m9, $m2
        {
        rpt     $m7, 1
        fnop
        }
        {
        ld64step $a0:1, $mzero, $m8+=, 1
        fnop
        }
        {
        st64step $a0:1, $mzero, $m9+=, 1
        fnop
        }
        add     $m1, $m1, $m5
        add     $m2, $m2, $m6
        brnzdec $m4, .Lrun
.Lexit:
        exitz   $mzero
