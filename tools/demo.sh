#!/bin/sh
# The main job end to end: checkpoints and photographs -> packages -> simulated chip -> embeddings and classes against FP32.
set -eu
out=${1:-build/demo}
tessera=${TESSERA:-build/tessera}
begin=$(date +%s)
mkdir -p "$out"
stage() { printf '\n== %s\n' "$*"; }

stage "1. Three checkpoints: fashion-siglip (trained, in this repository) and two randomised fixtures"
"$tessera" fixture siglip-tiny "$out/siglip-tiny"
"$tessera" fixture siglip-base-ish "$out/siglip-base-ish"
"$tessera" info models/fashion-siglip

stage "2. Compile: plan, place, schedule, real IPU21 words for all 1472 tiles"
"$tessera" compile models/fashion-siglip -o "$out/fashion-siglip.ipuexe" --precision fp16
"$tessera" compile "$out/siglip-tiny" -o "$out/siglip-tiny.ipuexe" --precision fp16 --tiles 64
"$tessera" compile "$out/siglip-base-ish" -o "$out/siglip-base-ish.ipuexe" --precision fp16

stage "3. fashion-siglip: 50 test photographs of clothes, classified by the simulated chip, compared with FP32"
"$tessera" verify "$out/fashion-siglip.ipuexe" --weights models/fashion-siglip --labels models/fashion-siglip/photos/labels.txt \
    --show 10 --min-cosine 0.999 --min-agreement 49

number=4
photos="demo/photos/astronaut.jpg demo/photos/coffee.jpg"
for model in siglip-tiny siglip-base-ish; do
    stage "$number. $model: two photographs, and the first one again"
    # shellcheck disable=SC2086
    "$tessera" verify "$out/$model.ipuexe" --weights "$out/$model" $photos --min-cosine 0.999
    number=$((number + 1))
done

stage "6. An embedding to a file"
"$tessera" run "$out/siglip-base-ish.ipuexe" --weights "$out/siglip-base-ish" demo/photos/astronaut.jpg -o "$out/astronaut.npy"

printf '\nDone in %s s. Written:\n' "$(($(date +%s) - begin))"
ls -l "$out"/*.ipuexe "$out"/*.npy | awk '{printf "  %10d bytes  %s\n", $5, $NF}'
