// reduce_f16: dst = sum over parts of src, parts back to back, f32 accumulation, one rounding (kernels.md 5).
// Arguments: src dst parts quads (of one part; even).
//
// An octet (16 bytes) is summed by one worker in the accumulators: octet t goes to worker t mod 6; two issues a part.
// Reading with f16v2gina shifts zeros in, so every octet starts from clear accumulators.
        .include "launch.inc"

        launch  reduce_f16
        worker_number $m0
        argument $m4, 3
        shr     $m5, $m4, 1
        strided_share $m5, $m5, $m0, $m6
        brz     $m5, .Lexit
        add     $m5, $m5, -1
        argument $m1, 0
        argument $m2, 1
        argument $m3, 2
        clear_accumulators $a0
        add     $m3, $m3, -1
        add     $m4, $m4, -1            // atoms from the second quad of an octet to the first of the next part
        shl     $m6, $m0, 4
        add     $m1, $m1, $m6
        add     $m2, $m2, $m6
.Loctet:
        mov     $m7, $m1
        ld64step $a0:1, $mzero, $m7+=, 1
        ld64step $a2:3, $mzero, $m7+=, $m4
        {
        rpt     $m3, 1
        fnop
        }
        {
        ld64step $a0:1, $mzero, $m7+=, 1
        f16v8acc $a0:3
        }
        {
        ld64step $a2:3, $mzero, $m7+=, $m4
        fnop
        }
        {
        add     $m1, $m1, 96
        f16v8acc $a0:3
        }
        f16v2gina $a0, $azero, 0
        f16v2gina $a1, $azero, 0
        {
        st64step $a0:1, $mzero, $m2+=, 1
        f16v2gina $a2, $azero, 0
        }
        f16v2gina $a3, $azero, 0
        st64step $a2:3, $mzero, $m2+=, 11
        brnzdec $m5, .Loctet
.Lexit:
        exitz   $mzero
