// normalise_f16: x[row, :] *= 1 / stats[row], in place, x in 16-column panels (kernels.md 8.3). Arguments: x stats rows panels.
//
// Row r goes to worker r mod 6. The reciprocal is taken in f32 and split into two halves hi + lo, so that one f16v4mix forms
// (hi + lo) * x in f32 with one rounding: eight issues a panel.
        .include "launch.inc"

        launch  normalise_f16
        worker_number $m0
        argument $m3, 2
        strided_share $m4, $m3, $m0, $m5
        brz     $m4, .Lexit
        add     $m4, $m4, -1
        argument $m1, 0
        argument $m2, 1
        argument $m5, 3
        clear_accumulators $a0
        shl     $m6, $m3, 2
        add     $m6, $m6, -3            // atoms from the last quad of a row's panel to its next panel
        shl     $m7, $m0, 5
        add     $m1, $m1, $m7
        shl     $m7, $m0, 2
        add     $m2, $m2, $m7
.Lrow:
        ld32step $a0, $mzero, $m2+=, 6
        {
        mov     $m7, $m1
        f32oox  $a0, $a0
        }
        {
        mov     $m8, $m1
        f32tof16 $a1, $a0
        }
        {
        add     $m1, $m1, 192
        f16tof32 $a2, $a1
        }
        f32sub  $a2, $a0, $a2
        f32tof16 $a2, $a2
        sort4x16lo $a1, $a1, $a2        // hi in the low half, lo in the high half
        uput    $TAS, $a1
        {
        rpt     $m5, 7
        fnop
        }
        {
        ld64step $a0:1, $mzero, $m7+=, 1
        fnop
        }
        {
        ld64step $a2:3, $mzero, $m7+=, 1
        f16v4mix $a6:7, $a0:1, $a0:1
        }
        {
        ld64step $a4:5, $mzero, $m7+=, 1
        f16v4mix $a0:1, $a2:3, $a2:3
        }
        {
        st64step $a0:1, $mzero, $m8+=, 1
        f16v4mix $a2:3, $a4:5, $a4:5
        }
        {
        ld64step $a0:1, $mzero, $m7+=, $m6
        fnop
        }
        {
        st64step $a2:3, $mzero, $m8+=, 1
        f16v4mix $a4:5, $a0:1, $a0:1
        }
        {
        st64step $a4:5, $mzero, $m8+=, 1
        f16v4gacc $a6:7
        }
        {
        st64step $a6:7, $mzero, $m8+=, $m6
        fnop
        }
        brnzdec $m4, .Lrow
.Lexit:
        exitz   $mzero
