// barrier: launches six workers that exit at once. The smallest worker call (kernels.md 4).
        .include "launch.inc"

        launch  barrier
        exitz   $mzero
