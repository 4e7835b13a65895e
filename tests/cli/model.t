# Bad checkpoints: one clear line, exit 2, no package.
$ tessera fixture siglip-tiny $T/good >/dev/null 2>&1; cd $T
> try() { tessera compile $1 -o out.ipuexe --tiles 64 -q >/dev/null 2>err; echo "$1: $? $(wc -l <err) $(head -c 300 err)"; ls out.ipuexe* 2>/dev/null; rm -rf out.ipuexe*; }
> copy() { rm -rf $1; cp -r good $1; }
> size=$(stat -c %s good/model.safetensors)
> copy truncated; head -c 100000 good/model.safetensors >truncated/model.safetensors; try truncated
> copy oversized; printf x >>oversized/model.safetensors; try oversized
> copy header; printf '\377\377\377\377\000\000\000\000{}' >header/model.safetensors; try header
> copy duplicate; h='{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"\u0061":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'; \
> { printf "\\$(printf %03o ${#h})\\000\\000\\000\\000\\000\\000\\000"; printf '%s' "$h"; printf '\0\0\0\0'; } >duplicate/model.safetensors; try duplicate
> copy overlap; h='{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'; \
> { printf "\\$(printf %03o ${#h})\\000\\000\\000\\000\\000\\000\\000"; printf '%s' "$h"; printf '\0\0\0\0'; } >overlap/model.safetensors; try overlap
> copy missing; sed -i 's/post_layernorm.bias/post_layernorm.bios/' missing/model.safetensors; try missing
> copy shape; sed -i 's/"intermediate_size": *304/"intermediate_size":320/' shape/config.json; try shape
> copy type; sed -i 's/"model_type": *"siglip"/"model_type":"clippy"/' type/config.json; try type
> copy act; sed -i 's/gelu_pytorch_tanh/relu/' act/config.json; try act
> copy heads; sed -i 's/"num_attention_heads": *2/"num_attention_heads":5/' heads/config.json; try heads
> copy json; printf '{' >json/config.json; try json
> mkdir empty; try empty
> try nowhere
> tessera compile good -o out.ipuexe --tiles 1 -q >/dev/null 2>err; echo "one tile: $? $(wc -l <err) $(cut -c1-60 err)"; ls out.ipuexe* 2>/dev/null
> tessera compile good -o /nonexistent/out.ipuexe --tiles 64 -q >/dev/null 2>err; echo "no directory: $? $(wc -l <err)"
---
~truncated: 2 1 tessera: .*cover 2410176 bytes, the file holds 94616 .*
~oversized: 2 1 tessera: .*cover 2410176 bytes, the file holds 2410177 .*
~header: 2 1 tessera: .*header of 4294967295 bytes, the format allows 100000000
~duplicate: 2 1 tessera: .*tensor "a": its name is given twice
~overlap: 2 1 tessera: .*tensor "b": its data begin at 0, expected 4 \(overlap\)
~missing: 2 1 tessera: .*post_layernorm.bias.*
~shape: 2 1 tessera: .*fc1.weight: expected shape \[320, 144\], found \[304, 144\] .*
~type: 2 1 tessera: .*clippy.*
~act: 2 1 tessera: .*hidden_act: expected "gelu_pytorch_tanh".*
~heads: 2 1 tessera: .*144 is not divisible by num_attention_heads 5
~json: 2 1 tessera: json/config.json:1:1: not valid JSON: .*
~empty: 2 1 tessera: empty/config.json: cannot be opened: .*
~nowhere: 2 1 tessera: nowhere: cannot be opened: .*
~one tile: 1 1 tessera: does not fit: .*
no directory: 2 1
