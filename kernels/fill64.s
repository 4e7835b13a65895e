// fill64: stores zero into runs of 8-byte words (kernels.md 4). Arguments: dst run_words runs stride (bytes).
// Work is divided as in copy64; one issue a word.
        .include "launch.inc"

        launch  fill64
        worker_number $m0
        argument $m2, 0
        argument $m3, 1
        argument $m4, 2
        argument $m6, 3
        shl     $m7, $m4, 3
        cmpult  $m7, $m3, $m7
        brnz    $m7, .Lwhole_runs

        // A part of every run.
        even_share $m9, $m7, $m3, $m0, $m8, $m10
        brz     $m7, .Lexit
        shl     $m9, $m9, 3
        add     $m2, $m2, $m9
        add     $m4, $m4, -1
        bri     .Lrun

.Lwhole_runs:
        strided_share $m4, $m4, $m0, $m7
        brz     $m4, .Lexit
        add     $m4, $m4, -1
        mul     $m7, $m6, $m0
        add     $m2, $m2, $m7
        mul     $m6, $m6, 6
        mov     $m7, $m3

.Lrun:
        mov     $m9, $m2
        {
        rpt     $m7, 0
        fnop
        }
        {
        st64step $azeros, $mzero, $m9+=, 1
        fnop
        }
        add     $m2, $m2, $m6
        brnzdec $m4, .Lrun
.Lexit:
        exitz   $mzero
