# `bench place`: problems of files and of the corpus, forms of output, every verdict, the same for any number of threads.
$ cd $T
$ cat >small.place <<'EOF'
> place limit=100 name=fits
> range begin=0 end=100
> request bytes=60 first=0 last=2 name=a
> request bytes=40 align=4 first=1 last=3 name=b
> place limit=100 name=peak
> range begin=0 end=100
> request bytes=60 first=0 last=2 name=a
> request bytes=42 first=1 last=3 name=b
> place name=too large
> range begin=0 end=50
> range begin=60 end=100
> request bytes=30 first=0 last=2
> request bytes=60 first=0 last=2
> place name=nothing to place
> EOF
$ cat >window.place <<'EOF'
> place
> range begin=0 end=64 window=1
> range begin=64 end=96
> request bytes=33 first=3 last=4
> EOF
$ printf 'id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n' >in.12.csv
$ plain() { sed 's/ *[0-9]* *[0-9]*\.[0-9]*$//; s/ | [0-9]* | [0-9.]* |$/ | n | s |/; s/, [0-9]* search nodes//; /^  solved/d'; }
$ tessera bench place small.place in.12.csv minimalloc-D --capacity 986112 --nodes 1 -j1 | plain; echo ${PIPESTATUS[0]}
$ tessera bench place in.12.csv -q --print | sed 's/ address=.*name/ address=A name/'
$ tessera bench place in.12.csv -q --print >again; tessera bench place again -q | plain
$ tessera bench place in.12.csv -q --capacity 11 --markdown | plain
$ cp in.12.csv 'a|b.12.csv'; tessera bench place 'a|b.12.csv' -q --markdown | grep -o '^| a.* | 5'; tessera bench place 'a|b.12.csv' -q --capacity 1 | grep -o -e '-[0-9]* impossible'
$ tessera bench place small.place -q --print | grep '#'
$ tessera bench place window.place small.place --json -q >small.json; echo $?
$ python3 -c 'import json
> for p in json.load(open("small.json"))["problems"]: print(p["name"], p["verdict"], p["slack_percent"], p.get("certificate", {}).get("proof"))
> t = json.load(open("small.json"))["total"]; print(t["problems"], t["placed"], t["impossible"], t["gave_up"], t["requests"])'
$ for i in $(seq 25); do printf 'place\nrange begin=0 end=8\nrequest bytes=%d first=0 last=1\n' $((i % 10 + 1)); done >many
$ tessera bench place many -q | plain
$ tessera bench place many -q --json | grep -c '"name"'
$ tessera bench place small.place -q >/dev/full; echo $?
$ tessera bench place --list | sed -n '1p;11,$p'
$ corpus=$(tessera bench place --list | grep minimalloc)
$ for j in 1 2; do tessera bench place $corpus many -q --json -j$j | sed 's/"host_[a-z_]*":[0-9.]*//g' >json$j; done
$ cmp json1 json2 && wc -l <json1
$ for item in siglip-27 witness-20; do tessera bench place $item -q --nodes 100 | plain | sed 's/ [0-9]* *$//; s/generated in.*/generated/'; done
$ tessera bench place impossible-200 siglip-27 -q --json | python3 -c 'import json, sys
> run = json.load(sys.stdin)
> for s in run["sets"]: print(s["name"], s["problems"], s["different"], s["placed"], s["impossible"], s["gave_up"])
> print(len(run["problems"]), run["total"]["host_peak_bytes"] < 1 << 30)'
$ tessera bench place impossible-200 -q --print | grep -c '^# impossible-200/[0-9]*: impossible'
$ printf 'place\nrange begin=0 end=100\nrequest bytes=5 first=0 last=2\nrequest bytes=10 first=1 last=3\nrequest bytes=7 first=1 last=2\ndonate from=0 to=1\ndonate from=1 to=2 offset=2\ndonate from=0 to=2 offset=2\n' >d.place
$ tessera bench place d.place -q --print >d2.place; tessera bench place d2.place -q | grep -c 'placed  '
$ tessera bench place minimalloc-C minimalloc-D --minimum -q --json | python3 -c 'import json, sys
> for p, known in zip(json.load(sys.stdin)["problems"], (1039360, 1040384)):
>     print(p["name"], p["proved_end"] <= p["least_end"] <= known, p["least_end"] + p["spare_bytes"])'
$ tessera bench place minimalloc-C --minimum -q | plain | sed -n '4s/;.*//p'; tessera bench place --list --minimum; echo $?
$ tessera bench place small.place --explain -q | sed -n '/^small.1/,/^small.3/p' | plain; tessera bench place small.place --explain --print; echo $?
$ printf 'place\nrequest bytes=8 first=0 last=1\n' >nowhere; tessera bench place nowhere --explain -q | plain; tessera bench place nowhere --explain -q --json | grep -o '"tile":[a-z0-9]*'
$ tessera bench place minimalloc-K --nodes 11000 -q --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["problems"][0]["search_nodes"] <= 11000 * 250 // 454)'
$ tessera bench place small.place many --explain -q --json | python3 -c 'import json, sys
> for p in json.load(sys.stdin)["problems"][:5]: print(p["name"], [r["kind"] for r in p.get("explanation", {}).get("relaxations", [])])'
$ for form in "" --markdown --print; do
>   for j in 1 2; do tessera bench place small.place many minimalloc-A -q $form -j$j | sed 's/[0-9]*\.[0-9]* |$//; s/ *[0-9]*\.[0-9]*$//; /^  solved/d; /^memory/d' >out$j; done
>   cmp out1 out2; awk 'length > 100 && !/^[|]/' out1
> done
--- exit 0
1/3 small: placing
2/3 in.12: placing
3/3 minimalloc-D: placing
                             live peak  available   slack                             search    host
problem            requests      bytes      bytes       % verdict                      nodes       s
small/0                   2        100        100    0.00 placed
small/1                   2        102        100   -2.00 impossible (peak)
  short by 2 bytes in step 1
small/2                   2         90         90    0.00 impossible (1 request)
  fits nowhere: request 1
small/3                   0          0          0       - placed
in.12                     5         12     986112  100.00 placed
minimalloc-D            213     986112     986112    0.00 gave up
~  no place for request \d+ \(\d+ bytes\); largest hole \d+ bytes; more --nodes may help
all: 6 problems, 3 placed, 2 impossible, 1 gave up; 224 requests;
1
# in: placed
place limit=0xc name=in
range begin=0x0 end=0xc
request bytes=4 first=0 last=3 address=A name=b1
request bytes=4 first=3 last=9 address=A name=b2
request bytes=4 first=0 last=9 address=A name=b3
request bytes=4 first=9 last=21 address=A name=b4
request bytes=4 first=0 last=21 address=A name=b5
                             live peak  available   slack                             search    host
problem            requests      bytes      bytes       % verdict                      nodes       s
again                     5         12         12    0.00 placed
all: 1 problem, 1 placed, 0 impossible, 0 gave up; 5 requests;
| problem | requests | live peak bytes | available bytes | slack % | verdict | search nodes | host s |
|---|---:|---:|---:|---:|---|---:|---:|
| in.12 | 5 | 12 | 11 | -9.09 | impossible (peak) | n | s |

in.12: short by 1 bytes in step 0
all: 1 problem, 0 placed, 1 impossible, 0 gave up; 5 requests;
| a\|b | 5
-1100 impossible
# small/0: placed
# small/1: impossible (peak)
#  short by 2 bytes in step 1
# small/2: impossible (1 request)
#  fits nowhere: request 1
# small/3: placed
1
window impossible -3.12 peak
small/0 placed 0.0 None
small/1 impossible -2.0 peak
small/2 impossible 0.0 subset
small/3 placed None None
5 2 3 0 7
                             live peak  available   slack                             search    host
problem            requests      bytes      bytes       % verdict                      nodes       s
many                     25        130        200   35.00 21 / 4 / 0
  25 problems, 10 different
a set, or a file of more than 20: how many are placed / impossible / given up, sums, wall time
all: 25 problems, 21 placed, 4 impossible, 0 gave up; 25 requests;
26
tessera: standard output: cannot be written
2
siglip-base-ish
minimalloc-H
minimalloc-I
minimalloc-J
minimalloc-K
siglip-27
impossible-200
witness-20
witness-10
witness-0
full-10
40
                             live peak  available   slack                             search    host
problem            requests      bytes      bytes       % verdict                      nodes       s
siglip-27            282751  537596704  673657856   20.20 1472 / 0 /
  1472 problems, 880 different; generated
a set, or a file of more than 20: how many are placed / impossible / given up, sums, wall time
all: 1472 problems, 1472 placed, 0 impossible, 0 gave up; 282751 requests;
                             live peak  available   slack                             search    host
problem            requests      bytes      bytes       % verdict                      nodes       s
witness-20            12064   56898952   58052800    1.99 17 / 0 /
  100 problems, 100 different; generated
a set, or a file of more than 20: how many are placed / impossible / given up, sums, wall time
all: 100 problems, 17 placed, 0 impossible, 83 gave up; 12064 requests;
impossible-200 200 200 0 200 0
siglip-27 1472 880 1472 0 0
1672 True
200
1
minimalloc-C True 1048576
minimalloc-D True 1048576
  least end 1039360 (proved), 9216 bytes to spare
tessera: options --list and --minimum exclude each other
2
small/1                   2        102        100   -2.00 impossible (peak)
  short by 2 bytes in step 1
alive in step 1, of 100 bytes:
       60 bytes, steps 0..1: a
       42 bytes, steps 1..2: b
it would fit, each tried alone, with
  a alive only in steps 0.
  b alive only in steps 2.
  at most 4096 bytes more memory
small/2                   2         90         90    0.00 impossible (1 request)
  fits nowhere: request 1
alive in step 0, of 90 bytes:
       60 bytes, steps 0..1: request 1
       30 bytes, steps 0..1: request 0
first fit has no place for request 1, 60 bytes, steps 0..1:
  the largest hole, 0x0..0x32, has 50 bytes, between an end of the range and an end of the range
it would fit, each tried alone, with
  at most 4096 bytes more memory
small/3                   0          0          0       - placed
tessera: options --explain and --print exclude each other
2
                             live peak  available   slack                             search    host
problem            requests      bytes      bytes       % verdict                      nodes       s
nowhere                   1          8          0       - impossible (peak)
  short by 8 bytes in step 0
alive in step 0, of 0 bytes:
        8 bytes, steps 0..0: request 0
no small change that was tried makes it fit
all: 1 problem, 0 placed, 1 impossible, 0 gave up; 1 request;
"tile":null
True
small/0 []
small/1 ['lifetime', 'lifetime', 'bytes']
small/2 ['bytes']
small/3 []
many/0 []
