# A fixture is complete; info says so in numbers that follow from decisions.md D: 602,544 parameters are
# 588*144+144 + 9*144 + 2*(4*(144*144+144) + 2*(144*304) + 304+144 + 4*144) + 2*144 + 144
# + 4*(144*144+144) + 2*144 + 2*144*304 + 304+144.
$ tessera fixture siglip-tiny $T/tiny -q
$ tessera info $T/tiny
$ tessera info $T/tiny --json | head -c 75; echo
---
tiny: SigLIP vision tower
  image         42 x 42, patch 14: 9 tokens
  encoder       2 layers, width 144 = 2 heads of 72, MLP 304, eps 1e-06
  output        pooler_output [1, 144], attention pooling (MAP head)
  preprocessing resize to 42 x 42 bicubic, times 0.003921569, mean 0.5 0.5 0.5, std 0.5 0.5 0.5
  parameters    602,544
  tensors       48 in 2,415,560 bytes: 48 F32; 48 used, 0 unused, 0 missing or wrong
{"name":"tiny","architecture":"siglip","image":42,"patch":14,"tokens":9,"wi
