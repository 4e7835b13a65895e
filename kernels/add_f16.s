// add_f16: dst = a + b, flat (kernels.md 5). Arguments: a b dst quads. dst may be a.
// Quad t goes to worker t mod 6; three issues a quad, nothing is read past the end.
        .include "launch.inc"

        launch  add_f16
        worker_number $m0
        argument $m4, 3
        strided_share $m5, $m4, $m0, $m6
        brz     $m5, .Lexit
        add     $m5, $m5, -1
        argument $m1, 0
        argument $m2, 1
        argument $m3, 2
        shl     $m6, $m0, 3
        add     $m1, $m1, $m6
        add     $m2, $m2, $m6
        add     $m3, $m3, $m6
        ld64step $a0:1, $mzero, $m1+=, 6
        ld64step $a2:3, $mzero, $m2+=, 6
        {
        rpt     $m5, 2
        fnop
        }
        {
        ld64step $a0:1, $mzero, $m1+=, 6
        f16v4add $a4:5, $a0:1, $a2:3
        }
        {
        ld64step $a2:3, $mzero, $m2+=, 6
        fnop
        }
        {
        st64step $a4:5, $mzero, $m3+=, 6
        fnop
        }
        f16v4add $a4:5, $a0:1, $a2:3
        st64    $a4:5, $m3, $mzero, 0
.Lexit:
        exitz   $mzero
