# A checkpoint without a tensor is described, and the answer is no (exit status 1). sed keeps the length.
$ tessera fixture siglip-tiny $T/tiny -q
$ sed -i 's/head\.probe/head.probx/' $T/tiny/model.safetensors
$ tessera info $T/tiny >$T/out 2>&1 || echo "exit $?"
$ tail -6 $T/out
---
exit 1
  tensors       48 in 2,415,560 bytes: 48 F32; 47 used, 1 unused, 1 missing or wrong
unused tensors
  vision_model.head.probx
missing or wrong tensors
  tensor vision_model.head.probe [1, 1, 144] is missing
tessera: $T/tiny: 1 tensors are missing or wrong
