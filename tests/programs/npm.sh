#!/usr/bin/env bash
# npm installs packages, their links to programs too, out of files and without a network; the programs run, and ci makes the same tree again.
. "$(dirname "$0")/lib.sh"
needs npm npm node
start_responder
mount_export
export npm_config_cache=$mnt/cache npm_config_offline=true npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
for i in $(seq 8); do
  mkdir -p "parts/part$i/lib"
  echo "{\"name\": \"part$i\", \"version\": \"1.0.$i\", \"bin\": {\"part$i\": \"run.js\"}, \"main\": \"lib/index.js\"}" >"parts/part$i/package.json"
  echo "module.exports = $i;" >"parts/part$i/lib/index.js"
  printf '#!/usr/bin/env node\nconsole.log(require("./lib/index.js"));\n' >"parts/part$i/run.js"
  (cd parts && npm pack --silent "./part$i" >/dev/null)
done
mkdir "$mnt/project"
cd "$mnt/project"
echo '{"name": "project", "version": "1.0.0", "private": true}' >package.json
npm install --silent "$work"/parts/part*.tgz
same 36 "$(node -e 'let sum = 0; for (let i = 1; i < 9; i++) sum += require("part" + i); console.log(sum)')" "what the packages say"
for i in $(seq 8); do same $i "$("node_modules/.bin/part$i")" "the program of part$i"; done
cp -r node_modules "$work/before"
npm ci --silent
diff -r --exclude=.package-lock.json "$work/before" node_modules
npm uninstall --silent part3
[ ! -e node_modules/part3 ] && [ ! -e node_modules/.bin/part3 ] || fail "part3 is still there"
