#!/bin/bash
# Writes the compressed files of this folder with zstd (1.5.4) and gzip (1.12), which
# share no code with the readers under test. All hold the same text: a header and
# 3000 rows i,i²,17i mod 101 for i = 1, 2, …
set -eu
cd "$(dirname "$0")"
rows() { seq "$1" "$2" | awk '{ print $1 "," $1 * $1 "," $1 * 17 % 101 }'; }
text() { echo a,b,c; rows 1 3000; }
half() { echo a,b,c; rows 1 1500; }

text | zstd -1 --no-check > fast.csv.zst
text | zstd --ultra -22 --check > ultra.csv.zst
text > plain.tmp # a size in the frame's header, which a pipe has not
zstd -19 --no-progress -q plain.tmp -o sized.csv.zst
rm plain.tmp
text | zstd --long=27 > window128M.csv.zst
text | zstd --ultra --long=31 > window2G.csv.zst
{ half | zstd; printf '\x50\x2a\x4d\x18\x04\x00\x00\x00skip'; rows 1501 3000 | zstd -9; } > frames.csv.zst
text | zstd --check | head -c 6000 > cut.csv.zst
{ half | gzip -1; rows 1501 3000 | gzip -9; } > members.csv.gz
