#!/usr/bin/env bash
# Builds all fuzz targets for OSS-Fuzz, in its image, where compile_native_go_fuzzer_v2 makes a program for libFuzzer of a
# Go fuzz target. With LIST=1 it only lists the targets: package, function and name of the program.
set -euo pipefail
cd "${SRC:+$SRC/fdridge}" # in OSS-Fuzz's image; otherwise the script runs in the root folder of a checkout
module=$(sed -n 's/^module //p' go.mod)
[ -n "${LIST:-}" ] || go get github.com/AdamKorczynski/go-118-fuzz-build/testing

git grep -oE '^func Fuzz\w+' -- '*_test.go' | while IFS=: read -r file target; do
  package=$(dirname "$file") function=${target#func }
  name=${package//\//_}_$function
  if [ -n "${LIST:-}" ]; then
    printf '%s %s %s\n' "$module/$package" "$function" "$name"
  else
    compile_native_go_fuzzer_v2 "$module/$package" "$function" "$name"
  fi
done
