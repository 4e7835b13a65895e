# Rows by --exchange-compact take fewer bytes, waves more words; both compute the same picture.
$ tessera fixture siglip-tiny $T/tiny >/dev/null 2>&1
$ for flags in "" "--exchange-compact" "--exchange-stream-words 8"; do
>   tessera compile $T/tiny -o $T/p --tiles 64 -q --json $flags | sed 's/.*"tile_bytes_max":\([0-9]*\).*/\1/' >>$T/bytes
>   tessera verify $T/p --weights $T/tiny '#1' -q --json | sed 's/.*"max_abs_error":\([0-9.]*\).*/\1/' >>$T/errors
> done; uniq $T/errors | wc -l
> { read normal; read compact; read waves; } <$T/bytes; [ $compact -lt $normal ] && echo fewer bytes; [ $waves -ne $normal ] && echo other rows
---
1
fewer bytes
other rows
