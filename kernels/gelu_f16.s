// gelu_f16: dst = x/2 * (1 + tanh(alpha * (x + beta * x^3))), flat (kernels.md 6). Arguments: src dst quads. dst may be src.
//
// The polynomial sees x clamped to [-8, 8] (x^3 would overflow f16 and stop the worker, pitfall N6); the last product uses x
// itself. f16v4mix forms alpha*beta*x^3 + alpha*x in f32 and returns the previous quad's value, so two quads are in flight:
// nine issues a quad. Quad t goes to worker t mod 6. tanh saturates to 1 well below 8, where the result is exactly x or -0.
        .include "launch.inc"

// $a2:3 = clamped x -> accumulators; \result = argument of the quad before.
.macro gelu_head result
        f16v4mul $a4:5, $a2:3, $a2:3
        f16v4mul $a4:5, $a4:5, $a2:3
        f16v4mix \result, $a4:5, $a2:3
.endm

        launch  gelu_f16
        worker_number $m0
        argument $m4, 2
        strided_share $m5, $m4, $m0, $m6
        brz     $m5, .Lexit
        argument $m1, 0
        argument $m2, 1
        clear_accumulators $a0
        ldconst $a0, 0x3a622891         // alpha = 0.79785 (f16), alpha*beta = 0.035675 (f16)
        uput    $TAS, $a0
        ldconst $a6, 0x4800c800         // limits -8, 8
        ldconst $a7, 0x3c003800         // 1/2 in the low half, 1 in the high half
        shl     $m6, $m0, 3
        add     $m1, $m1, $m6           // next x of the polynomial
        add     $m2, $m2, $m6           // next result
        mov     $m3, $m1                // next x of the last product
        ld64step $a2:3, $mzero, $m1+=, 6
        f16v4clamp $a2:3, $a2:3, $a6
        gelu_head $a4:5
        add     $m5, $m5, -1
        brz     $m5, .Llast
        ld64step $a2:3, $mzero, $m1+=, 6
        f16v4clamp $a2:3, $a2:3, $a6
        add     $m5, $m5, -1
        {
        rpt     $m5, 8
        fnop
        }
        {
        nop
        f16v4mul $a4:5, $a2:3, $a2:3
        }
        {
        nop
        f16v4mul $a4:5, $a4:5, $a2:3
        }
        {
        ld64step $a0:1, $mzero, $m3+=, 6
        f16v4mix $a4:5, $a4:5, $a2:3
        }
        {
        nop
        f16v2tanh $a4, $a4
        }
        {
        nop
        f16v2tanh $a5, $a5
        }
        {
        nop
        f16v4add $a4:5, $a7:BU, $a4:5
        }
        {
        nop
        f16v4mul $a0:1, $a7:BL, $a0:1
        }
        {
        ld64step $a2:3, $mzero, $m1+=, 6
        f16v4mul $a4:5, $a0:1, $a4:5
        }
        {
        st64step $a4:5, $mzero, $m2+=, 6
        f16v4clamp $a2:3, $a2:3, $a6
        }
        // Last quad but one.
        gelu_head $a4:5
        ld64step $a0:1, $mzero, $m3+=, 6
        f16v2tanh $a4, $a4
        f16v2tanh $a5, $a5
        f16v4add $a4:5, $a7:BU, $a4:5
        f16v4mul $a0:1, $a7:BL, $a0:1
        f16v4mul $a4:5, $a0:1, $a4:5
        st64step $a4:5, $mzero, $m2+=, 6
.Llast:
        {
        ld64    $a0:1, $m3, $mzero, 0
        f16v4gacc $a4:5
        }
        f16v2tanh $a4, $a4
        f16v2tanh $a5, $a5
        f16v4add $a4:5, $a7:BU, $a4:5
        f16v4mul $a0:1, $a7:BL, $a0:1
        f16v4mul $a4:5, $a0:1, $a4:5
        st64    $a4:5, $m2, $mzero, 0
.Lexit:
        exitz   $mzero
