# `bench place`: one line on standard error and exit 2 for whatever is not in the form; everything is read before anything is solved.
$ cd $T
$ csv() { printf "id,lower,upper,size\n$2" >"$1.100.csv"; }
$ printf 'place\nrange begin=0 end=8\nrequest bytes=8 first=0 last=1\n' >good
$ csv good '1,0,3,4\n'; cp good.100.csv good.csv; cp good.100.csv a.b.csv; cp good.100.csv a.0.csv; cp good.100.csv a.99999999999.csv
$ csv huge '1,0,3,99999999999\n'; csv never '1,3,3,4\n'; csv fields '1,0,3\n'; csv twice '1,0,3,4\n2,0,3,4\n1,3,4,4\n'; csv quoted '"1",0,3,4\n'
$ csv return '1,0,3,4\r\n'; csv nul '1\0,0,3,4\n'; csv cut '1,0,3,4'; csv negative '1,-1,3,4\n'; csv blank '1,0,3,4\n\n'
$ printf 'id,lower,size\n1,0,4\n' >columns.100.csv; : >empty.100.csv; : >empty; truncate -s 300M large.100.csv; mkdir folder.100.csv
$ printf 'place\nrange begin=0 end=8\nrequest bytes=99999999999 first=0 last=1\n' >huge
$ printf 'place\nrange begin=0 end=8\nrequest bytes=8 first=1 last=1\n' >never
$ printf 'place\nrange begin=0 end=8\nrequest bytes=8 first=0 last=1 name=\0\n' >nul
$ for args in good.csv a.b.csv a.0.csv a.99999999999.csv huge.100.csv never.100.csv fields.100.csv twice.100.csv quoted.100.csv return.100.csv \
>     nul.100.csv cut.100.csv negative.100.csv blank.100.csv columns.100.csv empty.100.csv large.100.csv folder.100.csv empty huge never nul \
>     "good missing" "good good.100.csv never" minimalloc-Z minimalloc-A.csv "good --capacity 9" "--capacity 0" "--capacity 4294967296" \
>     "--nodes 0" "-j 0" "--list good" "--list --print" "--list --nodes 5" "--list --capacity 5" "--print --json" "--json --markdown"; do
>   tessera bench place $args >out 2>err; echo "$args: $? $(cat out err)"
> done
$ tessera bench place good.csv --capacity 4 -q >out; echo $?
$ tessera bench place good.100.csv --capacity 3 -q >out; echo $?
--- exit 0
good.csv: 2 tessera: good.csv: expected a capacity of 1 to 4294967295 bytes: --capacity N, or a file name like A.1048576.csv
a.b.csv: 2 tessera: a.b.csv: expected a capacity of 1 to 4294967295 bytes: --capacity N, or a file name like A.1048576.csv
a.0.csv: 2 tessera: a.0.csv: expected a capacity of 1 to 4294967295 bytes: --capacity N, or a file name like A.1048576.csv
a.99999999999.csv: 2 tessera: a.99999999999.csv: expected a capacity of 1 to 4294967295 bytes: --capacity N, or a file name like A.1048576.csv
huge.100.csv: 2 tessera: huge.100.csv: line 2: expected size in 1..2147483647, found "99999999999"
never.100.csv: 2 tessera: never.100.csv: line 2: expected lower < upper, found "1,3,3,4"
fields.100.csv: 2 tessera: fields.100.csv: line 2: expected four fields id,lower,upper,size, found "1,0,3"
twice.100.csv: 2 tessera: twice.100.csv: line 4: id "1" is also in line 2
quoted.100.csv: 2 tessera: quoted.100.csv: line 2: expected fields without quotes, found "\x221\x22,0,3,4"
return.100.csv: 2 tessera: return.100.csv: line 2: expected printable text up to a newline, found "1,0,3,4\x0d"
nul.100.csv: 2 tessera: nul.100.csv: line 2: expected printable text up to a newline, found "1\x00,0,3,4"
cut.100.csv: 2 tessera: cut.100.csv: line 2: expected a newline behind the last line (is the file cut off?), found "1,0,3,4"
negative.100.csv: 2 tessera: negative.100.csv: line 2: expected lower in 0..2147483647, found "-1"
blank.100.csv: 2 tessera: blank.100.csv: line 3: expected four fields id,lower,upper,size, found ""
columns.100.csv: 2 tessera: columns.100.csv: line 1: expected the header id,lower,upper,size, found "id,lower,size"
empty.100.csv: 2 tessera: empty.100.csv: line 1: expected the header id,lower,upper,size, found ""
large.100.csv: 2 tessera: large.100.csv: file has 314572800 bytes, at most 268435456 are accepted
folder.100.csv: 2 tessera: folder.100.csv: not a regular file
empty: 2 tessera: empty: expected a line `place`
huge: 2 tessera: huge: line 3: expected bytes=number in 1..2147483647, found "99999999999"
never: 2 tessera: never: line 3: expected first < last, found last=1
nul: 2 tessera: nul: line 3: expected printable text (no control characters)
good missing: 2 tessera: missing: no file, and no problem of the corpus (--list)
good good.100.csv never: 2 tessera: never: line 3: expected first < last, found last=1
minimalloc-Z: 2 tessera: minimalloc-Z: no file, and no problem of the corpus (--list)
minimalloc-A.csv: 2 tessera: minimalloc-A.csv: no file, and no problem of the corpus (--list)
good --capacity 9: 2 tessera: option --capacity: no problem is a CSV
--capacity 0: 2 tessera: option --capacity: expected an integer from 1 to 4294967295, found 0
--capacity 4294967296: 2 tessera: option --capacity: expected an integer from 1 to 4294967295, found 4294967296
--nodes 0: 2 tessera: option --nodes: expected an integer from 1 to 1000000000000, found 0
-j 0: 2 tessera: option -j: expected an integer from 1 to 1024, found 0
--list good: 2 tessera: option --list: expected no problem, found good
--list --print: 2 tessera: options --list and --print exclude each other
--list --nodes 5: 2 tessera: options --list and --nodes exclude each other
--list --capacity 5: 2 tessera: options --list and --capacity exclude each other
--print --json: 2 tessera: options --print and --json exclude each other
--json --markdown: 2 tessera: options --json and --markdown exclude each other
0
1
