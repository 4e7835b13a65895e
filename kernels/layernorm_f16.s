// layernorm_f16: dst = (x - mean) / sqrt(var + eps) * gamma + beta per row, 16-column panels (kernels.md 7).
// Arguments: src dst gamma beta rows panels inverse_width eps.
//
// Row r goes to worker r mod 6, which makes three passes over it: sum (f32 accumulators), biased variance of the centred
// values (never E[x^2] - mean^2), application. Mean, variance, centring and scaling are f32; one rounding to f16, then gamma
// and beta in f16. Issues per panel: 4, 20 and 36. The last pass is unrolled by a panel and a quad so that the store of one
// quad and the load of the next share issues with arithmetic, without reading past the row.
        .include "launch.inc"

// $a4:5 = x, $a6 = mean, $a7 = -1/deviation: result in $a0:1. \store, \next: main-lane companions of the first and the last
// issue (the first may still store $a0:1, the last may load $a4:5).
.macro apply_quad
        {
        nop
        f16v2tof32 $a2:3, $a5
        }
        {
        ld64step $a4:5, $mzero, $m9+=, 1
        f32v2sub $a0:1, $a6:B, $a0:1
        }
        {
        nop
        f32v2sub $a2:3, $a6:B, $a2:3
        }
        {
        nop
        f32v2mul $a0:1, $a7:B, $a0:1
        }
        {
        nop
        f32v2mul $a2:3, $a7:B, $a2:3
        }
        {
        nop
        f32v4tof16 $a0:1, $a0:3
        }
        {
        ld64step $a4:5, $mzero, $m10+=, 1
        f16v4mul $a0:1, $a0:1, $a4:5
        }
.endm

.macro apply_next stride
        {
        ld64step $a4:5, $mzero, $m8+=, \stride
        f16v4add $a0:1, $a0:1, $a4:5
        }
.endm

.macro apply_store stride
        {
        st64step $a0:1, $mzero, $m11+=, \stride
        f16v2tof32 $a0:1, $a4
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

        launch  layernorm_f16
        worker_number $m0
        argument $m3, 4
        strided_share $m4, $m3, $m0, $m5
        brz     $m4, .Lexit
        add     $m4, $m4, -1
        argument $m1, 0
        argument $m2, 1
        argument $m5, 5
        clear_accumulators $a0
        shl     $m6, $m3, 2
        add     $m6, $m6, -3            // atoms from the last quad of a row's panel to its next panel
        shl     $m7, $m0, 5
        add     $m1, $m1, $m7
        add     $m2, $m2, $m7
        add     $m3, $m5, -1            // panels - 1
.Lrow:
        // Sum.
        {
        mov     $m8, $m1
        zero    $a4:5
        }
        {
        nop
        zero    $a6:7
        }
        {
        rpt     $m5, 3
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
        {
        ld32    $a4, $mvertex_base, $mzero, 6
        f32add  $a0, $a0, $a1
        }
        {
        mov     $m8, $m1
        f32mul  $a6, $a0, $a4           // mean
        }

        // Variance.
        {
        nop
        zero    $a0:1
        }
        {
        nop
        zero    $a2:3
        }
        {
        rpt     $m5, 19
        fnop
        }
        centred_squares 1
        centred_squares 1
        centred_squares 1
        centred_squares $m6
        f32v4sqacc $a0:3
        f32v2gina $a0:1, $azeros, 0
        {
        ld32    $a4, $mvertex_base, $mzero, 6
        f32v2gina $a2:3, $azeros, 0
        }
        f32v2add $a0:1, $a0:1, $a2:3
        {
        ld32    $a5, $mvertex_base, $mzero, 7
        f32add  $a0, $a0, $a1
        }
        f32mul  $a0, $a0, $a4
        {
        argument $m9, 2
        f32add  $a0, $a0, $a5
        }
        {
        argument $m10, 3
        f32oorx $a7, $a0
        }
        {
        mov     $m8, $m1
        f32sub  $a7, $azero, $a7        // the loop centres as mean - x
        }

        // Application. The first quad of the row, then rounds of (rest of a panel, first quad of the next), then the rest.
        mov     $m11, $m2
        ld64step $a4:5, $mzero, $m8+=, 1
        f16v2tof32 $a0:1, $a4
        apply_quad
        apply_next 1
        {
        rpt     $m3, 35
        fnop
        }
        apply_store 1
        apply_quad
        apply_next 1
        apply_store 1
        apply_quad
        apply_next $m6
        apply_store 1
        apply_quad
        apply_next 1
        apply_store $m6
        apply_quad
        apply_next 1
        // Quads 1, 2, 3 of the last panel.
        apply_store 1
        apply_quad
        apply_next 1
        apply_store 1
        apply_quad
        apply_next 1
        apply_store 1
        apply_quad
        {
        add     $m1, $m1, 192
        f16v4add $a0:1, $a0:1, $a4:5
        }
        st64    $a0:1, $m11, $mzero, 0
        add     $m2, $m2, 192
        brnzdec $m4, .Lrow
.Lexit:
        exitz   $mzero
