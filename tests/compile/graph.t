# Golden text of siglip-tiny's graph.
$ tessera fixture siglip-tiny $T/siglip-tiny >/dev/null 2>&1
$ tessera compile $T/siglip-tiny --tiles 64 -q --stop-after=graph --dump=graph
--- exit 0
graph "siglip-tiny"
value 1 input "patches" rows=9 cols=588
part 1 0 "image" cols=0:588 base=0 rows=3*1764,3*42 across=14*126,14*3,3*1
value 2 parameter "embedding.weight" rows=588 cols=144
part 2 0 "vision_model.embeddings.patch_embedding.weight" cols=0:144 base=0 rows=14*14,14*1,3*196 across=144*588
value 3 parameter "embedding.bias" rows=1 cols=144
part 3 0 "vision_model.embeddings.patch_embedding.bias" cols=0:144 base=0 rows=1*0 across=144*1
value 4 result "embedding" rows=9 cols=144 producer=1
value 5 parameter "position" rows=9 cols=144
part 5 0 "vision_model.embeddings.position_embedding.weight" cols=0:144 base=0 rows=9*144 across=144*1
value 6 result "tokens" rows=9 cols=144 producer=2
value 7 argument "layers.state" rows=9 cols=144 producer=3
value 8 sequence "layers.attention_norm.gamma" rows=1 cols=144 iterations=2
part 8 0 "vision_model.encoder.layers.0.layer_norm1.weight" cols=0:144 base=0 rows=1*0 across=144*1
part 8 1 "vision_model.encoder.layers.1.layer_norm1.weight" cols=0:144 base=0 rows=1*0 across=144*1
value 9 argument "layers.attention_norm.gamma[i]" rows=1 cols=144 producer=3
value 10 sequence "layers.attention_norm.beta" rows=1 cols=144 iterations=2
part 10 0 "vision_model.encoder.layers.0.layer_norm1.bias" cols=0:144 base=0 rows=1*0 across=144*1
part 10 1 "vision_model.encoder.layers.1.layer_norm1.bias" cols=0:144 base=0 rows=1*0 across=144*1
value 11 argument "layers.attention_norm.beta[i]" rows=1 cols=144 producer=3
value 12 result "layers.attention_norm" rows=9 cols=144 producer=4
value 13 sequence "layers.qkv.weight" rows=144 cols=432 iterations=2
part 13 0 "vision_model.encoder.layers.0.self_attn.q_proj.weight" cols=0:144 base=0 rows=144*1 across=144*144
part 13 0 "vision_model.encoder.layers.0.self_attn.k_proj.weight" cols=144:288 base=0 rows=144*1 across=144*144
part 13 0 "vision_model.encoder.layers.0.self_attn.v_proj.weight" cols=288:432 base=0 rows=144*1 across=144*144
part 13 1 "vision_model.encoder.layers.1.self_attn.q_proj.weight" cols=0:144 base=0 rows=144*1 across=144*144
part 13 1 "vision_model.encoder.layers.1.self_attn.k_proj.weight" cols=144:288 base=0 rows=144*1 across=144*144
part 13 1 "vision_model.encoder.layers.1.self_attn.v_proj.weight" cols=288:432 base=0 rows=144*1 across=144*144
value 14 argument "layers.qkv.weight[i]" rows=144 cols=432 producer=3
value 15 sequence "layers.qkv.bias" rows=1 cols=432 iterations=2
part 15 0 "vision_model.encoder.layers.0.self_attn.q_proj.bias" cols=0:144 base=0 rows=1*0 across=144*1
part 15 0 "vision_model.encoder.layers.0.self_attn.k_proj.bias" cols=144:288 base=0 rows=1*0 across=144*1
part 15 0 "vision_model.encoder.layers.0.self_attn.v_proj.bias" cols=288:432 base=0 rows=1*0 across=144*1
part 15 1 "vision_model.encoder.layers.1.self_attn.q_proj.bias" cols=0:144 base=0 rows=1*0 across=144*1
part 15 1 "vision_model.encoder.layers.1.self_attn.k_proj.bias" cols=144:288 base=0 rows=1*0 across=144*1
part 15 1 "vision_model.encoder.layers.1.self_attn.v_proj.bias" cols=288:432 base=0 rows=1*0 across=144*1
value 16 argument "layers.qkv.bias[i]" rows=1 cols=432 producer=3
value 17 result "layers.qkv" rows=9 cols=432 producer=5
value 18 result "layers.query" rows=9 cols=144 producer=6
value 19 result "layers.key" rows=9 cols=144 producer=7
value 20 result "layers.value" rows=9 cols=144 producer=8
value 21 result "layers.attention" rows=9 cols=144 producer=9
value 22 sequence "layers.attention.output.weight" rows=144 cols=144 iterations=2
part 22 0 "vision_model.encoder.layers.0.self_attn.out_proj.weight" cols=0:144 base=0 rows=144*1 across=144*144
part 22 1 "vision_model.encoder.layers.1.self_attn.out_proj.weight" cols=0:144 base=0 rows=144*1 across=144*144
value 23 argument "layers.attention.output.weight[i]" rows=144 cols=144 producer=3
value 24 sequence "layers.attention.output.bias" rows=1 cols=144 iterations=2
part 24 0 "vision_model.encoder.layers.0.self_attn.out_proj.bias" cols=0:144 base=0 rows=1*0 across=144*1
part 24 1 "vision_model.encoder.layers.1.self_attn.out_proj.bias" cols=0:144 base=0 rows=1*0 across=144*1
value 25 argument "layers.attention.output.bias[i]" rows=1 cols=144 producer=3
value 26 result "layers.attention.output" rows=9 cols=144 producer=10
value 27 result "layers.attention.residual" rows=9 cols=144 producer=11
value 28 sequence "layers.mlp_norm.gamma" rows=1 cols=144 iterations=2
part 28 0 "vision_model.encoder.layers.0.layer_norm2.weight" cols=0:144 base=0 rows=1*0 across=144*1
part 28 1 "vision_model.encoder.layers.1.layer_norm2.weight" cols=0:144 base=0 rows=1*0 across=144*1
value 29 argument "layers.mlp_norm.gamma[i]" rows=1 cols=144 producer=3
value 30 sequence "layers.mlp_norm.beta" rows=1 cols=144 iterations=2
part 30 0 "vision_model.encoder.layers.0.layer_norm2.bias" cols=0:144 base=0 rows=1*0 across=144*1
part 30 1 "vision_model.encoder.layers.1.layer_norm2.bias" cols=0:144 base=0 rows=1*0 across=144*1
value 31 argument "layers.mlp_norm.beta[i]" rows=1 cols=144 producer=3
value 32 result "layers.mlp_norm" rows=9 cols=144 producer=12
value 33 sequence "layers.mlp.up.weight" rows=144 cols=304 iterations=2
part 33 0 "vision_model.encoder.layers.0.mlp.fc1.weight" cols=0:304 base=0 rows=144*1 across=304*144
part 33 1 "vision_model.encoder.layers.1.mlp.fc1.weight" cols=0:304 base=0 rows=144*1 across=304*144
value 34 argument "layers.mlp.up.weight[i]" rows=144 cols=304 producer=3
value 35 sequence "layers.mlp.up.bias" rows=1 cols=304 iterations=2
part 35 0 "vision_model.encoder.layers.0.mlp.fc1.bias" cols=0:304 base=0 rows=1*0 across=304*1
part 35 1 "vision_model.encoder.layers.1.mlp.fc1.bias" cols=0:304 base=0 rows=1*0 across=304*1
value 36 argument "layers.mlp.up.bias[i]" rows=1 cols=304 producer=3
value 37 result "layers.mlp.up" rows=9 cols=304 producer=13
value 38 result "layers.mlp.gelu" rows=9 cols=304 producer=14
value 39 sequence "layers.mlp.down.weight" rows=304 cols=144 iterations=2
part 39 0 "vision_model.encoder.layers.0.mlp.fc2.weight" cols=0:144 base=0 rows=304*1 across=144*304
part 39 1 "vision_model.encoder.layers.1.mlp.fc2.weight" cols=0:144 base=0 rows=304*1 across=144*304
value 40 argument "layers.mlp.down.weight[i]" rows=304 cols=144 producer=3
value 41 sequence "layers.mlp.down.bias" rows=1 cols=144 iterations=2
part 41 0 "vision_model.encoder.layers.0.mlp.fc2.bias" cols=0:144 base=0 rows=1*0 across=144*1
part 41 1 "vision_model.encoder.layers.1.mlp.fc2.bias" cols=0:144 base=0 rows=1*0 across=144*1
value 42 argument "layers.mlp.down.bias[i]" rows=1 cols=144 producer=3
value 43 result "layers.mlp.down" rows=9 cols=144 producer=15
value 44 result "layers.mlp.residual" rows=9 cols=144 producer=16
value 45 result "layers" rows=9 cols=144 producer=3
value 46 parameter "final_norm.gamma" rows=1 cols=144
part 46 0 "vision_model.post_layernorm.weight" cols=0:144 base=0 rows=1*0 across=144*1
value 47 parameter "final_norm.beta" rows=1 cols=144
part 47 0 "vision_model.post_layernorm.bias" cols=0:144 base=0 rows=1*0 across=144*1
value 48 result "final_norm" rows=9 cols=144 producer=17
value 49 parameter "head.probe" rows=1 cols=144
part 49 0 "vision_model.head.probe" cols=0:144 base=0 rows=1*0 across=144*1
value 50 parameter "head.query.weight" rows=144 cols=144
part 50 0 "vision_model.head.attention.in_proj_weight" cols=0:144 base=0 rows=144*1 across=144*144
value 51 parameter "head.query.bias" rows=1 cols=144
part 51 0 "vision_model.head.attention.in_proj_bias" cols=0:144 base=0 rows=1*0 across=144*1
value 52 result "head.query" rows=1 cols=144 producer=18
value 53 parameter "head.kv.weight" rows=144 cols=288
part 53 0 "vision_model.head.attention.in_proj_weight" cols=0:288 base=20736 rows=144*1 across=288*144
value 54 parameter "head.kv.bias" rows=1 cols=288
part 54 0 "vision_model.head.attention.in_proj_bias" cols=0:288 base=144 rows=1*0 across=288*1
value 55 result "head.kv" rows=9 cols=288 producer=19
value 56 result "head.key" rows=9 cols=144 producer=20
value 57 result "head.value" rows=9 cols=144 producer=21
value 58 result "head.attention" rows=1 cols=144 producer=22
value 59 parameter "head.attention.output.weight" rows=144 cols=144
part 59 0 "vision_model.head.attention.out_proj.weight" cols=0:144 base=0 rows=144*1 across=144*144
value 60 parameter "head.attention.output.bias" rows=1 cols=144
part 60 0 "vision_model.head.attention.out_proj.bias" cols=0:144 base=0 rows=1*0 across=144*1
value 61 result "head.attention.output" rows=1 cols=144 producer=23
value 62 parameter "head.norm.gamma" rows=1 cols=144
part 62 0 "vision_model.head.layernorm.weight" cols=0:144 base=0 rows=1*0 across=144*1
value 63 parameter "head.norm.beta" rows=1 cols=144
part 63 0 "vision_model.head.layernorm.bias" cols=0:144 base=0 rows=1*0 across=144*1
value 64 result "head.norm" rows=1 cols=144 producer=24
value 65 parameter "head.mlp.up.weight" rows=144 cols=304
part 65 0 "vision_model.head.mlp.fc1.weight" cols=0:304 base=0 rows=144*1 across=304*144
value 66 parameter "head.mlp.up.bias" rows=1 cols=304
part 66 0 "vision_model.head.mlp.fc1.bias" cols=0:304 base=0 rows=1*0 across=304*1
value 67 result "head.mlp.up" rows=1 cols=304 producer=25
value 68 result "head.mlp.gelu" rows=1 cols=304 producer=26
value 69 parameter "head.mlp.down.weight" rows=304 cols=144
part 69 0 "vision_model.head.mlp.fc2.weight" cols=0:144 base=0 rows=304*1 across=144*304
value 70 parameter "head.mlp.down.bias" rows=1 cols=144
part 70 0 "vision_model.head.mlp.fc2.bias" cols=0:144 base=0 rows=1*0 across=144*1
value 71 result "head.mlp.down" rows=1 cols=144 producer=27
value 72 result "pooler_output" rows=1 cols=144 producer=28 output
repeat 1 count=2 body=1 carried=6 arguments=7 yields=44 results=45 sequences=8:9,10:11,13:14,15:16,22:23,24:25,28:29,30:31,33:34,35:36,39:40,41:42
op 1 gemm "embedding" region=0 inputs=1,2,3 output=4
op 2 add "tokens" region=0 inputs=4,5 output=6
op 3 repeat "layers" region=0 inputs=6 output=45 repeat=1
op 17 layernorm "final_norm" region=0 inputs=45,46,47 output=48 eps=9.9999999999999995e-07
op 18 gemm "head.query" region=0 inputs=49,50,51 output=52
op 19 gemm "head.kv" region=0 inputs=48,53,54 output=55
op 20 slice "head.key" region=0 inputs=55 output=56 begin=0 end=144
op 21 slice "head.value" region=0 inputs=55 output=57 begin=144 end=288
op 22 attention "head.attention" region=0 inputs=52,56,57 output=58 heads=2 scale=0.11785113019775793
op 23 gemm "head.attention.output" region=0 inputs=58,59,60 output=61
op 24 layernorm "head.norm" region=0 inputs=61,62,63 output=64 eps=9.9999999999999995e-07
op 25 gemm "head.mlp.up" region=0 inputs=64,65,66 output=67
op 26 gelu "head.mlp.gelu" region=0 inputs=67 output=68
op 27 gemm "head.mlp.down" region=0 inputs=68,69,70 output=71
op 28 add "pooler_output" region=0 inputs=61,71 output=72
op 4 layernorm "layers.attention_norm" region=1 inputs=7,9,11 output=12 eps=9.9999999999999995e-07
op 5 gemm "layers.qkv" region=1 inputs=12,14,16 output=17
op 6 slice "layers.query" region=1 inputs=17 output=18 begin=0 end=144
op 7 slice "layers.key" region=1 inputs=17 output=19 begin=144 end=288
op 8 slice "layers.value" region=1 inputs=17 output=20 begin=288 end=432
op 9 attention "layers.attention" region=1 inputs=18,19,20 output=21 heads=2 scale=0.11785113019775793
op 10 gemm "layers.attention.output" region=1 inputs=21,23,25 output=26
op 11 add "layers.attention.residual" region=1 inputs=7,26 output=27
op 12 layernorm "layers.mlp_norm" region=1 inputs=27,29,31 output=32 eps=9.9999999999999995e-07
op 13 gemm "layers.mlp.up" region=1 inputs=32,34,36 output=37
op 14 gelu "layers.mlp.gelu" region=1 inputs=37 output=38
op 15 gemm "layers.mlp.down" region=1 inputs=38,40,42 output=43
op 16 add "layers.mlp.residual" region=1 inputs=27,43 output=44
