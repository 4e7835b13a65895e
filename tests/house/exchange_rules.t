# docs/exchange-rules.md: every rule has a line, every line with a test names a function of it, and the test expects the words; every
# fault of the fabric that names a rule has a line. Two planted gaps are found.
$ cat >$T/rules.sh <<'E'
> table=$1
> for rule in $(seq -f X%g 22) $(seq -f S%g 10); do
>     grep -q "^| $rule |" "$table" || echo "$rule has no line"
> done
> grep '^| [XS][0-9]' "$table" | while IFS='|' read -r _ rule _ witness says test file _; do
>     says=$(echo $says | tr -d '`') test=$(echo $test) file=$(echo $file)
>     [ $witness = nobody ] && continue
>     [ -f "$file" ] || { echo "$rule: no file $file"; continue; }
>     grep -qE "^(static void|int) $test\(void\)" "$file" || echo "$rule: no test $test in $file"
>     grep -qF "$says" "$file" || echo "$rule: $file does not expect $says"
> done
> grep -o 'FABRIC_FAULT([A-Z_]*, .*"[XS][0-9]' src/machine/fabric_faults.def | sed 's/FABRIC_FAULT(\([A-Z_]*\).*/\1/' |
> while read -r fault; do
>     grep -q "| machine | .*$fault\`" "$table" || echo "fault $fault has no line"
> done
> E
$ sh $T/rules.sh docs/exchange-rules.md && echo complete
$ sed -e '/^| X15 /d' -e 's/breaks_x9_loopback/breaks_nothing/' -e 's/`LANE_BUSY`/`LANE_IDLE`/' docs/exchange-rules.md >$T/broken.md
$ sh $T/rules.sh $T/broken.md
complete
X15 has no line
 X20 : tests/machine/test_fabric_paired.c does not expect LANE_IDLE
 S7 : no test breaks_nothing in tests/exchange/test_check_memory.c
fault LANE_BUSY has no line
