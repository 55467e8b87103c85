#!/usr/bin/env bash
# A first measurement: checks that end in no_match beside nginx's static answer of the same bytes, clicks that
# are on disk before their 201, and memory. Everything in one run, rounds interleaved; ratios are what counts.
#
# Usage: Tests/Benchmark/measure.sh [rounds] [seconds a round]
# Needs wrk and nginx (Debian packages) and the release binary:
#   swift build -c release --static-swift-stdlib --product afterlink
set -euo pipefail
rounds=${1:-3}
seconds=${2:-5}
here=$(cd "$(dirname "$0")" && pwd)
binary=$here/../../.build/release/afterlink
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

cat >"$work/nginx.conf" <<NGINX
worker_processes 2;
daemon off;
pid $work/nginx.pid;
error_log $work/error.log;
events { worker_connections 4096; }
http {
    access_log $work/access.log;
    keepalive_requests 1000000;
    client_body_temp_path $work;
    proxy_temp_path $work; fastcgi_temp_path $work; uwsgi_temp_path $work; scgi_temp_path $work;
    server {
        listen 127.0.0.1:18081 reuseport;
        default_type application/json;
        add_header Cache-Control no-store;
        location / { return 200 '{"status":"no_match","matched":false}'; }
    }
}
NGINX
nginx -c "$work/nginx.conf" -p "$work" &

"$binary" init --database "$work/afterlink.db" --json >"$work/keys.json"
key=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["keys"]["app"])' "$work/keys.json")
"$binary" serve --listen 127.0.0.1:18080 --database "$work/afterlink.db" --log-format json \
    --log-file "$work/requests.log" >"$work/serve.out" &
server=$!
until grep -q 'listening on' "$work/serve.out"; do kill -0 $server; done
echo "idle memory: $(awk '/VmRSS/ {print $2}' /proc/$server/status) KiB"

cat >"$work/check.lua" <<LUA
local thread = 0
function setup(t) thread = thread + 1; t:set("id", thread) end
function init(args) math.randomseed(id * 7919); count = 0 end
function request()
    count = count + 1
    local hex = string.format("%08x%08x%048x", id, math.random(0, 0x7fffffff), count)
    return wrk.format("GET", "/v1/deferred-deeplink?fingerprint=" .. hex,
        { ["Authorization"] = "Bearer $key", ["X-SDK-Version"] = "paylisher-ios/1.8.9",
          ["User-Agent"] = "Shop/1 CFNetwork/1496.0.7 Darwin/23.5.0" })
end
LUA
cat >"$work/click.lua" <<'LUA'
local thread = 0
function setup(t) thread = thread + 1; t:set("id", thread) end
function init(args) math.randomseed(os.time() + id * 7919); count = 0 end
function request()
    count = count + 1
    local hex = string.format("%08x%08x%08x%040x", id, math.random(0, 0x7fffffff), math.random(0, 0x7fffffff), count)
    local body = '{"fingerprint":"' .. hex .. '","deeplink_url":"myapp://promo?campaign=summer_sale",' ..
        '"campaign_key":"SUMMER_SALE_2025","platform":"ios","metadata":{"utm_source":"instagram"}}'
    return wrk.format("POST", "/v1/deferred-deeplink/click", { ["Content-Type"] = "application/json" }, body)
end
function response(status) if status ~= 201 then print("status " .. status) end end
LUA

rate() { awk '/Requests\/sec/ {print $2}' "$1"; }
for round in $(seq "$rounds"); do
    wrk -t2 -c64 -d"${seconds}s" -s "$work/check.lua" http://127.0.0.1:18081 >"$work/nginx.txt"
    wrk -t2 -c64 -d"${seconds}s" -s "$work/check.lua" http://127.0.0.1:18080 >"$work/check.txt"
    wrk -t2 -c256 -d"${seconds}s" -s "$work/click.lua" http://127.0.0.1:18080 >"$work/click.txt"
    grep -E 'Non-2xx|status|Socket errors' "$work/check.txt" "$work/click.txt" | head -3 || true
    n=$(rate "$work/nginx.txt"); c=$(rate "$work/check.txt"); k=$(rate "$work/click.txt")
    awk -v r="$round" -v n="$n" -v c="$c" -v k="$k" 'BEGIN {
        printf "round %d: nginx %.0f/s  checks %.0f/s (ratio %.2f)  clicks on disk %.0f/s\n", r, n, c, c / n, k }'
done
echo "memory under load: $(awk '/VmRSS/ {print $2}' /proc/$server/status) KiB"
"$binary" stats --database "$work/afterlink.db" --json | head -c 600
echo
