# Golden text of siglip-tiny's plan on 64 tiles.
$ tessera fixture siglip-tiny $T/siglip-tiny >/dev/null 2>&1
$ tessera compile $T/siglip-tiny --tiles 64 -q --stop-after=plan --dump=plan
--- exit 0
plan name=siglip-tiny tiles=64 support_bytes=98304
value 1 name=patches role=input dtype=f16 order=amp_left rows=9 cols=592 shards=3 bytes_max=3552 bytes_total=10656
value 2 name=embedding.left role=temporary dtype=f16 order=amp_left rows=9 cols=592 shards=54 bytes_max=1824 bytes_total=95904
value 3 name=embedding.weight role=parameter dtype=f16 order=amp_right rows=592 cols=144 shards=54 bytes_max=9728 bytes_total=511488
value 4 name=embedding role=temporary dtype=f16 order=amp_left rows=9 cols=144 shards=27 bytes_max=96 bytes_total=2592
value 5 name=embedding.partial role=temporary dtype=f16 order=amp_left rows=9 cols=288 shards=54 bytes_max=96 bytes_total=5184
value 6 name=embedding.parts role=temporary dtype=f16 order=amp_left rows=9 cols=288 shards=27 bytes_max=192 bytes_total=5184
value 7 name=embedding.bias role=parameter dtype=f16 order=row_major rows=1 cols=144 shards=27 bytes_max=32 bytes_total=864
value 8 name=embedding.rows role=carried dtype=f16 order=amp_left rows=9 cols=144 shards=3 bytes_max=864 bytes_total=2592
value 9 name=position role=parameter dtype=f16 order=amp_left rows=9 cols=144 shards=3 bytes_max=864 bytes_total=2592
value 10 name=layers.attention_norm.gamma role=parameter dtype=f16 order=row_major rows=1 cols=144 shards=3 bytes_max=288 bytes_total=864 iterations=2
value 11 name=layers.attention_norm.beta role=parameter dtype=f16 order=row_major rows=1 cols=144 shards=3 bytes_max=288 bytes_total=864 iterations=2
value 12 name=layers.attention_norm role=temporary dtype=f16 order=amp_left rows=9 cols=144 shards=3 bytes_max=864 bytes_total=2592
value 13 name=layers.qkv.left role=temporary dtype=f16 order=amp_left rows=9 cols=144 shards=45 bytes_max=864 bytes_total=38880
value 14 name=layers.qkv.weight role=parameter dtype=f16 order=amp_right rows=144 cols=480 shards=45 bytes_max=9216 bytes_total=414720 iterations=2
value 15 name=layers.qkv role=temporary dtype=f16 order=amp_left rows=9 cols=480 shards=45 bytes_max=192 bytes_total=8640 groups=72/80
value 16 name=layers.qkv.bias role=parameter dtype=f16 order=row_major rows=1 cols=480 shards=45 bytes_max=64 bytes_total=2880 iterations=2
value 17 name=layers.attention.query role=temporary dtype=f16 order=amp_left rows=9 cols=160 shards=6 bytes_max=480 bytes_total=2880
value 18 name=layers.attention.keys role=temporary dtype=f16 order=keys_right rows=16 cols=160 shards=6 bytes_max=2560 bytes_total=15360
value 19 name=layers.attention.values role=temporary dtype=f16 order=amp_left rows=16 cols=160 shards=6 bytes_max=2560 bytes_total=15360
value 20 name=layers.attention.values_right role=temporary dtype=f16 order=amp_right rows=16 cols=160 shards=6 bytes_max=2560 bytes_total=15360
value 21 name=layers.attention.scores role=temporary dtype=f16 order=amp_left rows=9 cols=32 shards=6 bytes_max=96 bytes_total=576
value 22 name=layers.attention.sums role=temporary dtype=f32 order=row_major rows=9 cols=2 shards=6 bytes_max=12 bytes_total=72
value 23 name=layers.attention role=temporary dtype=f16 order=amp_left rows=9 cols=160 shards=6 bytes_max=480 bytes_total=2880 groups=72/80
value 24 name=layers.attention.output.left role=temporary dtype=f16 order=amp_left rows=9 cols=160 shards=54 bytes_max=480 bytes_total=25920
value 25 name=layers.attention.output.weight role=parameter dtype=f16 order=amp_right rows=160 cols=144 shards=54 bytes_max=2560 bytes_total=138240 iterations=2
value 26 name=layers.attention.output role=temporary dtype=f16 order=amp_left rows=9 cols=144 shards=27 bytes_max=96 bytes_total=2592
value 27 name=layers.attention.output.partial role=temporary dtype=f16 order=amp_left rows=9 cols=288 shards=54 bytes_max=96 bytes_total=5184
value 28 name=layers.attention.output.parts role=temporary dtype=f16 order=amp_left rows=9 cols=288 shards=27 bytes_max=192 bytes_total=5184
value 29 name=layers.attention.output.bias role=parameter dtype=f16 order=row_major rows=1 cols=144 shards=27 bytes_max=32 bytes_total=864 iterations=2
value 30 name=layers.attention.output.rows role=temporary dtype=f16 order=amp_left rows=9 cols=144 shards=3 bytes_max=864 bytes_total=2592
value 31 name=layers.mlp_norm.gamma role=parameter dtype=f16 order=row_major rows=1 cols=144 shards=3 bytes_max=288 bytes_total=864 iterations=2
value 32 name=layers.mlp_norm.beta role=parameter dtype=f16 order=row_major rows=1 cols=144 shards=3 bytes_max=288 bytes_total=864 iterations=2
value 33 name=layers.mlp_norm role=temporary dtype=f16 order=amp_left rows=9 cols=144 shards=3 bytes_max=864 bytes_total=2592
value 34 name=layers.mlp.up.left role=temporary dtype=f16 order=amp_left rows=9 cols=144 shards=57 bytes_max=864 bytes_total=49248
value 35 name=layers.mlp.up.weight role=parameter dtype=f16 order=amp_right rows=144 cols=304 shards=57 bytes_max=4608 bytes_total=262656 iterations=2
value 36 name=layers.mlp.up role=temporary dtype=f16 order=amp_left rows=9 cols=304 shards=57 bytes_max=96 bytes_total=5472
value 37 name=layers.mlp.up.bias role=parameter dtype=f16 order=row_major rows=1 cols=304 shards=57 bytes_max=32 bytes_total=1824 iterations=2
value 38 name=layers.mlp.down.left role=temporary dtype=f16 order=amp_left rows=9 cols=304 shards=54 bytes_max=960 bytes_total=49248
value 39 name=layers.mlp.down.weight role=parameter dtype=f16 order=amp_right rows=304 cols=144 shards=54 bytes_max=5120 bytes_total=262656 iterations=2
value 40 name=layers.mlp.down role=temporary dtype=f16 order=amp_left rows=9 cols=144 shards=27 bytes_max=96 bytes_total=2592
value 41 name=layers.mlp.down.partial role=temporary dtype=f16 order=amp_left rows=9 cols=288 shards=54 bytes_max=96 bytes_total=5184
value 42 name=layers.mlp.down.parts role=temporary dtype=f16 order=amp_left rows=9 cols=288 shards=27 bytes_max=192 bytes_total=5184
value 43 name=layers.mlp.down.bias role=parameter dtype=f16 order=row_major rows=1 cols=144 shards=27 bytes_max=32 bytes_total=864 iterations=2
value 44 name=layers.mlp.down.rows role=temporary dtype=f16 order=amp_left rows=9 cols=144 shards=3 bytes_max=864 bytes_total=2592
value 45 name=final_norm.gamma role=parameter dtype=f16 order=row_major rows=1 cols=144 shards=3 bytes_max=288 bytes_total=864
value 46 name=final_norm.beta role=parameter dtype=f16 order=row_major rows=1 cols=144 shards=3 bytes_max=288 bytes_total=864
value 47 name=final_norm role=temporary dtype=f16 order=amp_left rows=9 cols=144 shards=3 bytes_max=864 bytes_total=2592
value 48 name=head.probe role=parameter dtype=f16 order=amp_left rows=1 cols=144 shards=1 bytes_max=288 bytes_total=288
value 49 name=head.query.left role=temporary dtype=f16 order=amp_left rows=1 cols=144 shards=50 bytes_max=64 bytes_total=2880
value 50 name=head.query.weight role=parameter dtype=f16 order=amp_right rows=144 cols=160 shards=50 bytes_max=1024 bytes_total=46080
value 51 name=head.query role=temporary dtype=f16 order=amp_left rows=1 cols=160 shards=10 bytes_max=32 bytes_total=320 groups=72/80
value 52 name=head.query.partial role=temporary dtype=f16 order=amp_left rows=1 cols=800 shards=50 bytes_max=32 bytes_total=1600
value 53 name=head.query.parts role=temporary dtype=f16 order=amp_left rows=1 cols=800 shards=10 bytes_max=160 bytes_total=1600
value 54 name=head.query.bias role=parameter dtype=f16 order=row_major rows=1 cols=160 shards=10 bytes_max=32 bytes_total=320
value 55 name=head.kv.left role=temporary dtype=f16 order=amp_left rows=9 cols=144 shards=60 bytes_max=864 bytes_total=51840
value 56 name=head.kv.weight role=parameter dtype=f16 order=amp_right rows=144 cols=320 shards=60 bytes_max=4608 bytes_total=276480
value 57 name=head.kv role=temporary dtype=f16 order=amp_left rows=9 cols=320 shards=60 bytes_max=96 bytes_total=5760 groups=72/80
value 58 name=head.kv.bias role=parameter dtype=f16 order=row_major rows=1 cols=320 shards=60 bytes_max=32 bytes_total=1920
value 59 name=head.attention.query role=temporary dtype=f16 order=amp_left rows=1 cols=160 shards=2 bytes_max=160 bytes_total=320
value 60 name=head.attention.keys role=temporary dtype=f16 order=keys_right rows=16 cols=160 shards=2 bytes_max=2560 bytes_total=5120
value 61 name=head.attention.values role=temporary dtype=f16 order=amp_left rows=16 cols=160 shards=2 bytes_max=2560 bytes_total=5120
value 62 name=head.attention.values_right role=temporary dtype=f16 order=amp_right rows=16 cols=160 shards=2 bytes_max=2560 bytes_total=5120
value 63 name=head.attention.scores role=temporary dtype=f16 order=amp_left rows=1 cols=32 shards=2 bytes_max=32 bytes_total=64
value 64 name=head.attention.sums role=temporary dtype=f32 order=row_major rows=1 cols=2 shards=2 bytes_max=4 bytes_total=8
value 65 name=head.attention role=temporary dtype=f16 order=amp_left rows=1 cols=160 shards=2 bytes_max=160 bytes_total=320 groups=72/80
value 66 name=head.attention.output.left role=temporary dtype=f16 order=amp_left rows=1 cols=160 shards=45 bytes_max=64 bytes_total=2880
value 67 name=head.attention.output.weight role=parameter dtype=f16 order=amp_right rows=160 cols=144 shards=45 bytes_max=1024 bytes_total=46080
value 68 name=head.attention.output role=temporary dtype=f16 order=amp_left rows=1 cols=144 shards=9 bytes_max=32 bytes_total=288
value 69 name=head.attention.output.partial role=temporary dtype=f16 order=amp_left rows=1 cols=720 shards=45 bytes_max=32 bytes_total=1440
value 70 name=head.attention.output.parts role=temporary dtype=f16 order=amp_left rows=1 cols=720 shards=9 bytes_max=160 bytes_total=1440
value 71 name=head.attention.output.bias role=parameter dtype=f16 order=row_major rows=1 cols=144 shards=9 bytes_max=32 bytes_total=288
value 72 name=pooler_output role=temporary dtype=f16 order=amp_left rows=1 cols=144 shards=1 bytes_max=288 bytes_total=288 output
value 73 name=head.norm.gamma role=parameter dtype=f16 order=row_major rows=1 cols=144 shards=1 bytes_max=288 bytes_total=288
value 74 name=head.norm.beta role=parameter dtype=f16 order=row_major rows=1 cols=144 shards=1 bytes_max=288 bytes_total=288
value 75 name=head.norm role=temporary dtype=f16 order=amp_left rows=1 cols=144 shards=1 bytes_max=288 bytes_total=288
value 76 name=head.mlp.up.left role=temporary dtype=f16 order=amp_left rows=1 cols=144 shards=57 bytes_max=96 bytes_total=5472
value 77 name=head.mlp.up.weight role=parameter dtype=f16 order=amp_right rows=144 cols=304 shards=57 bytes_max=1536 bytes_total=87552
value 78 name=head.mlp.up role=temporary dtype=f16 order=amp_left rows=1 cols=304 shards=19 bytes_max=32 bytes_total=608
value 79 name=head.mlp.up.partial role=temporary dtype=f16 order=amp_left rows=1 cols=912 shards=57 bytes_max=32 bytes_total=1824
value 80 name=head.mlp.up.parts role=temporary dtype=f16 order=amp_left rows=1 cols=912 shards=19 bytes_max=96 bytes_total=1824
value 81 name=head.mlp.up.bias role=parameter dtype=f16 order=row_major rows=1 cols=304 shards=19 bytes_max=32 bytes_total=608
value 82 name=head.mlp.down.left role=temporary dtype=f16 order=amp_left rows=1 cols=304 shards=63 bytes_max=96 bytes_total=5472
value 83 name=head.mlp.down.weight role=parameter dtype=f16 order=amp_right rows=304 cols=144 shards=63 bytes_max=1536 bytes_total=87552
value 84 name=head.mlp.down role=temporary dtype=f16 order=amp_left rows=1 cols=144 shards=9 bytes_max=32 bytes_total=288
value 85 name=head.mlp.down.partial role=temporary dtype=f16 order=amp_left rows=1 cols=1008 shards=63 bytes_max=32 bytes_total=2016
value 86 name=head.mlp.down.parts role=temporary dtype=f16 order=amp_left rows=1 cols=1008 shards=9 bytes_max=224 bytes_total=2016
value 87 name=head.mlp.down.bias role=parameter dtype=f16 order=row_major rows=1 cols=144 shards=9 bytes_max=32 bytes_total=288
value 88 name=head.mlp.down.rows role=temporary dtype=f16 order=amp_left rows=1 cols=144 shards=1 bytes_max=288 bytes_total=288
step 0 move src=patches dst=embedding.left row_shift=0 col_shift=0 operation=embedding reason=left-operand
step 1 kernel gemm_f16 a=embedding.left b=embedding.weight c=embedding.partial operation=embedding reason=compute
step 2 move src=embedding.partial dst=embedding.parts row_shift=0 col_shift=0 operation=embedding reason=partial-sums
step 3 kernel reduce_f16 src=embedding.parts dst=embedding scalar0=0x2 operation=embedding reason=compute
step 4 kernel bias_f16 x=embedding bias=embedding.bias operation=embedding reason=compute
step 5 move src=embedding dst=embedding.rows row_shift=0 col_shift=0 operation=tokens reason=gather-rows
step 6 kernel add_f16 a=embedding.rows b=position dst=embedding.rows operation=tokens reason=compute
step 7 loop count=2 operation=layers reason=loop
step 8 kernel layernorm_f16 src=embedding.rows dst=layers.attention_norm gamma=layers.attention_norm.gamma beta=layers.attention_norm.beta scalar0=0x358637bd operation=layers.attention_norm reason=compute
step 9 move src=layers.attention_norm dst=layers.qkv.left row_shift=0 col_shift=0 operation=layers.qkv reason=left-operand
step 10 kernel gemm_f16 a=layers.qkv.left b=layers.qkv.weight c=layers.qkv operation=layers.qkv reason=compute
step 11 kernel bias_f16 x=layers.qkv bias=layers.qkv.bias operation=layers.qkv reason=compute
step 12 move src=layers.qkv dst=layers.attention.query row_shift=0 col_shift=0 operation=layers.attention reason=queries
step 13 move src=layers.qkv dst=layers.attention.keys row_shift=0 col_shift=160 operation=layers.attention reason=keys
step 14 move src=layers.qkv dst=layers.attention.values row_shift=0 col_shift=320 operation=layers.attention reason=values
step 15 kernel transpose_f16 src=layers.attention.values dst=layers.attention.values_right operation=layers.attention reason=compute
step 16 kernel gemm_f16 a=layers.attention.query b=layers.attention.keys c=layers.attention.scores operation=layers.attention reason=compute
step 17 kernel softmax_f16 src=layers.attention.scores dst=layers.attention.scores stats=layers.attention.sums scalar0=0x9 scalar1=0x3df15bef operation=layers.attention reason=compute
step 18 kernel gemm_f16 a=layers.attention.scores b=layers.attention.values_right c=layers.attention operation=layers.attention reason=compute
step 19 kernel normalise_f16 x=layers.attention stats=layers.attention.sums operation=layers.attention reason=compute
step 20 move src=layers.attention dst=layers.attention.output.left row_shift=0 col_shift=0 operation=layers.attention.output reason=left-operand
step 21 kernel gemm_f16 a=layers.attention.output.left b=layers.attention.output.weight c=layers.attention.output.partial operation=layers.attention.output reason=compute
step 22 move src=layers.attention.output.partial dst=layers.attention.output.parts row_shift=0 col_shift=0 operation=layers.attention.output reason=partial-sums
step 23 kernel reduce_f16 src=layers.attention.output.parts dst=layers.attention.output scalar0=0x2 operation=layers.attention.output reason=compute
step 24 kernel bias_f16 x=layers.attention.output bias=layers.attention.output.bias operation=layers.attention.output reason=compute
step 25 move src=layers.attention.output dst=layers.attention.output.rows row_shift=0 col_shift=0 operation=layers.attention.residual reason=gather-rows
step 26 kernel add_f16 a=embedding.rows b=layers.attention.output.rows dst=embedding.rows operation=layers.attention.residual reason=compute
step 27 kernel layernorm_f16 src=embedding.rows dst=layers.mlp_norm gamma=layers.mlp_norm.gamma beta=layers.mlp_norm.beta scalar0=0x358637bd operation=layers.mlp_norm reason=compute
step 28 move src=layers.mlp_norm dst=layers.mlp.up.left row_shift=0 col_shift=0 operation=layers.mlp.up reason=left-operand
step 29 kernel gemm_f16 a=layers.mlp.up.left b=layers.mlp.up.weight c=layers.mlp.up operation=layers.mlp.up reason=compute
step 30 kernel bias_f16 x=layers.mlp.up bias=layers.mlp.up.bias operation=layers.mlp.up reason=compute
step 31 kernel gelu_f16 src=layers.mlp.up dst=layers.mlp.up operation=layers.mlp.gelu reason=compute
step 32 move src=layers.mlp.up dst=layers.mlp.down.left row_shift=0 col_shift=0 operation=layers.mlp.down reason=left-operand
step 33 kernel gemm_f16 a=layers.mlp.down.left b=layers.mlp.down.weight c=layers.mlp.down.partial operation=layers.mlp.down reason=compute
step 34 move src=layers.mlp.down.partial dst=layers.mlp.down.parts row_shift=0 col_shift=0 operation=layers.mlp.down reason=partial-sums
step 35 kernel reduce_f16 src=layers.mlp.down.parts dst=layers.mlp.down scalar0=0x2 operation=layers.mlp.down reason=compute
step 36 kernel bias_f16 x=layers.mlp.down bias=layers.mlp.down.bias operation=layers.mlp.down reason=compute
step 37 move src=layers.mlp.down dst=layers.mlp.down.rows row_shift=0 col_shift=0 operation=layers.mlp.residual reason=gather-rows
step 38 kernel add_f16 a=embedding.rows b=layers.mlp.down.rows dst=embedding.rows operation=layers.mlp.residual reason=compute
step 39 end operation=layers reason=loop
step 40 kernel layernorm_f16 src=embedding.rows dst=final_norm gamma=final_norm.gamma beta=final_norm.beta scalar0=0x358637bd operation=final_norm reason=compute
step 41 move src=head.probe dst=head.query.left row_shift=0 col_shift=0 operation=head.query reason=left-operand
step 42 kernel gemm_f16 a=head.query.left b=head.query.weight c=head.query.partial operation=head.query reason=compute
step 43 move src=head.query.partial dst=head.query.parts row_shift=0 col_shift=0 operation=head.query reason=partial-sums
step 44 kernel reduce_f16 src=head.query.parts dst=head.query scalar0=0x5 operation=head.query reason=compute
step 45 kernel bias_f16 x=head.query bias=head.query.bias operation=head.query reason=compute
step 46 move src=final_norm dst=head.kv.left row_shift=0 col_shift=0 operation=head.kv reason=left-operand
step 47 kernel gemm_f16 a=head.kv.left b=head.kv.weight c=head.kv operation=head.kv reason=compute
step 48 kernel bias_f16 x=head.kv bias=head.kv.bias operation=head.kv reason=compute
step 49 move src=head.query dst=head.attention.query row_shift=0 col_shift=0 operation=head.attention reason=queries
step 50 move src=head.kv dst=head.attention.keys row_shift=0 col_shift=0 operation=head.attention reason=keys
step 51 move src=head.kv dst=head.attention.values row_shift=0 col_shift=160 operation=head.attention reason=values
step 52 kernel transpose_f16 src=head.attention.values dst=head.attention.values_right operation=head.attention reason=compute
step 53 kernel gemm_f16 a=head.attention.query b=head.attention.keys c=head.attention.scores operation=head.attention reason=compute
step 54 kernel softmax_f16 src=head.attention.scores dst=head.attention.scores stats=head.attention.sums scalar0=0x9 scalar1=0x3df15bef operation=head.attention reason=compute
step 55 kernel gemm_f16 a=head.attention.scores b=head.attention.values_right c=head.attention operation=head.attention reason=compute
step 56 kernel normalise_f16 x=head.attention stats=head.attention.sums operation=head.attention reason=compute
step 57 move src=head.attention dst=head.attention.output.left row_shift=0 col_shift=0 operation=head.attention.output reason=left-operand
step 58 kernel gemm_f16 a=head.attention.output.left b=head.attention.output.weight c=head.attention.output.partial operation=head.attention.output reason=compute
step 59 move src=head.attention.output.partial dst=head.attention.output.parts row_shift=0 col_shift=0 operation=head.attention.output reason=partial-sums
step 60 kernel reduce_f16 src=head.attention.output.parts dst=head.attention.output scalar0=0x5 operation=head.attention.output reason=compute
step 61 kernel bias_f16 x=head.attention.output bias=head.attention.output.bias operation=head.attention.output reason=compute
step 62 move src=head.attention.output dst=pooler_output row_shift=0 col_shift=0 operation=head.norm reason=gather-rows
step 63 kernel layernorm_f16 src=pooler_output dst=head.norm gamma=head.norm.gamma beta=head.norm.beta scalar0=0x358637bd operation=head.norm reason=compute
step 64 move src=head.norm dst=head.mlp.up.left row_shift=0 col_shift=0 operation=head.mlp.up reason=left-operand
step 65 kernel gemm_f16 a=head.mlp.up.left b=head.mlp.up.weight c=head.mlp.up.partial operation=head.mlp.up reason=compute
step 66 move src=head.mlp.up.partial dst=head.mlp.up.parts row_shift=0 col_shift=0 operation=head.mlp.up reason=partial-sums
step 67 kernel reduce_f16 src=head.mlp.up.parts dst=head.mlp.up scalar0=0x3 operation=head.mlp.up reason=compute
step 68 kernel bias_f16 x=head.mlp.up bias=head.mlp.up.bias operation=head.mlp.up reason=compute
step 69 kernel gelu_f16 src=head.mlp.up dst=head.mlp.up operation=head.mlp.gelu reason=compute
step 70 move src=head.mlp.up dst=head.mlp.down.left row_shift=0 col_shift=0 operation=head.mlp.down reason=left-operand
step 71 kernel gemm_f16 a=head.mlp.down.left b=head.mlp.down.weight c=head.mlp.down.partial operation=head.mlp.down reason=compute
step 72 move src=head.mlp.down.partial dst=head.mlp.down.parts row_shift=0 col_shift=0 operation=head.mlp.down reason=partial-sums
step 73 kernel reduce_f16 src=head.mlp.down.parts dst=head.mlp.down scalar0=0x7 operation=head.mlp.down reason=compute
step 74 kernel bias_f16 x=head.mlp.down bias=head.mlp.down.bias operation=head.mlp.down reason=compute
step 75 move src=head.mlp.down dst=head.mlp.down.rows row_shift=0 col_shift=0 operation=pooler_output reason=gather-rows
step 76 kernel add_f16 a=pooler_output b=head.mlp.down.rows dst=pooler_output operation=pooler_output reason=compute
estimate estimated_cycles=78078 kernel_cycles=58647 exchange_cycles=19431 phases=33
