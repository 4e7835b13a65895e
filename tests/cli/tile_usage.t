# Mistakes in options: one line on stderr, exit 2, before anything runs; no output file.
$ cd $T && printf '.supervisor\nk: br $m10\n' >k.s && : >empty.s && printf abc >odd.bin && head -c 2000000 /dev/zero >big.npy && mkdir dir
> while IFS= read -r args; do eval tessera tile $args --dump 0x58000,16,file:out >/dev/null 2>err; echo "$? $(wc -l <err) $args: $(cat err)"; done <<'END'
> ''
> k.s --mode both
> k.s --base 0x4c001
> k.s --base 0x7fffc
> k.s --base 99999999999
> k.s --entry nowhere
> k.s --entry k-0x50000
> k.s --vertex 0x58000
> k.s --mode worker --vertex 3
> k.s --fill 0x58000,-4,zero
> k.s --fill 0xe7ffc,8,zero
> k.s --fill 0xfffffffc,8,zero
> k.s --fill 0x58000,4,pattern:-1
> k.s --fill k,4,zero
> k.s --load odd.bin@0x58000
> k.s --load none@0x58000
> k.s --load big.npy@0x58000
> k.s --load dir@0x58000
> k.s --words 0x58000,0x100000000
> k.s --words 0x58000
> k.s --set '$m12=1'
> k.s --set '$m10=1'
> k.s --set '$a0=1'
> k.s --set 'worker6.$m0=1'
> k.s --set TILE_ID=1
> k.s --set worker.FP_CTL=1
> k.s --dump 0x58000,16,f64
> k.s --dump 0x58000,16,file:k.s
> k.s --dump 0x58000,16,file:dir
> k.s --break 0x90000
> k.s --break write:0
> k.s --break cycle:x
> k.s --guard 2
> k.s --max-cycles 0
> k.s --check yes
> k.s -D 7=1
> k.s --json --trace
> empty.s
> k.s k.s k.t
> END
> ls
---
~2 1 '': tessera: .*
2 1 k.s --mode both: tessera: option --mode: expected supervisor or worker, found both
2 1 k.s --base 0x4c001: tessera: option --base: expected a multiple of 4 from 0x4c000 to 0x7fffc
~2 1 k.s --base 0x7fffc: tessera: the code ends at 0x8000.; expected executable addresses below 0x80000
~2 1 k.s --base 99999999999: tessera: option --base: expected an integer .*
2 1 k.s --entry nowhere: tessera: option --entry: expected an address or a symbol, found "nowhere"
2 1 k.s --entry k-0x50000: tessera: option --entry: k-0x50000 is no 32-bit address
2 1 k.s --vertex 0x58000: tessera: option --vertex needs --mode worker
2 1 k.s --mode worker --vertex 3: tessera: vertex base 0x3: expected a multiple of 4 inside SRAM
~2 1 k.s --fill 0x58000,-4,zero: tessera: .*-4 bytes at 0x58000: expected whole words inside 0x4c000..0xe8000
~2 1 k.s --fill 0xe7ffc,8,zero: tessera: .*8 bytes at 0xe7ffc: expected whole words .*
~2 1 k.s --fill 0xfffffffc,8,zero: tessera: .*8 bytes at 0xfffffffc: expected whole words .*
~2 1 k.s --fill 0x58000,4,pattern:-1: tessera: .*expected random:SEED, .*
~2 1 k.s --fill k,4,zero: tessera: 0x4c010..0x4c014 meets the code at 0x4c010..0x4c020; .*
~2 1 k.s --load odd.bin@0x58000: tessera: .*3 bytes at 0x58000: expected whole words .*
~2 1 k.s --load none@0x58000: tessera: .*none: cannot be opened: .*
~2 1 k.s --load big.npy@0x58000: tessera: .*big.npy: larger than the SRAM of a tile
~2 1 k.s --load dir@0x58000: tessera: .*dir: .*
~2 1 k.s --words 0x58000,0x100000000: tessera: .*does not fit 32 bits
~2 1 k.s --words 0x58000: tessera: .*expected PLACE,VALUE,...
~2 1 k.s --set '\$m12=1': tessera: .*no register of the supervisor
~2 1 k.s --set '\$m10=1': tessera: .*the launcher sets \$m10
~2 1 k.s --set '\$a0=1': tessera: .*no register of the supervisor
~2 1 k.s --set 'worker6.\$m0=1': tessera: .*expected supervisor, worker or worker0 .. worker5, found "worker6"
~2 1 k.s --set TILE_ID=1: tessera: .*is refused: CSR_READ_ONLY, .*
~2 1 k.s --set worker.FP_CTL=1: tessera: .*a launch loads it.*
~2 1 k.s --dump 0x58000,16,f64: tessera: .*expected hex, u32, f32 or f16, found "f64"
2 1 k.s --dump 0x58000,16,file:k.s: tessera: k.s: is an input of this command; choose another output
2 1 k.s --dump 0x58000,16,file:dir: tessera: dir: cannot be written: it is a directory
~2 1 k.s --break 0x90000: tessera: .*expected an address of code
~2 1 k.s --break write:0: tessera: .*4 bytes at 0x0: expected 0x4c000..0xe8000
~2 1 k.s --break cycle:x: tessera: .*expected cycle:N, found "cycle:x"
~2 1 k.s --guard 2: tessera: option --guard: .*
~2 1 k.s --max-cycles 0: tessera: option --max-cycles: .*
~2 1 k.s --check yes: tessera: option --check: "yes" is no check; .*
~2 1 k.s -D 7=1: tessera: .*
~2 1 k.s --json --trace: tessera: option --json excludes .*
2 1 empty.s: tessera: empty.s: expected code, found none
~2 1 k.s k.s k.t: tessera: k.t: .*
big.npy
dir
empty.s
err
k.s
odd.bin
