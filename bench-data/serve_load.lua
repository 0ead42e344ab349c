-- wrk: random fingerprints, so many at once (BATCH), or GET /healthz where BATCH is 0. Random ones hardly find a page.
--
--     BATCH=100 wrk -t1 -c4 -d6s --latency -s bench-data/serve_load.lua http://127.0.0.1:8373

local batch = tonumber(os.getenv("BATCH") or "100")
local headers = { ["Content-Type"] = "application/json" }

function init()
  math.randomseed(os.time())
end

function request()
  if batch == 0 then return wrk.format("GET", "/healthz") end
  local asked = {}
  for number = 1, batch do
    asked[number] = string.format('"%08x%08x"', math.random(0, 0xffffffff), math.random(0, 0xffffffff))
  end
  return wrk.format("POST", "/v1/query", headers, '{"fingerprints":[' .. table.concat(asked, ",") .. "]}")
end

local others = 0
function response(status)
  if status ~= 200 then others = others + 1 end
end

function done(summary, latency)
  local seconds = summary.duration / 1e6
  io.write(string.format("%d a request: %.0f requests/s, %.0f queries/s, p50 %.3f ms, p99 %.3f ms, most %.1f ms, errors %d\n",
    batch, summary.requests / seconds, summary.requests / seconds * math.max(batch, 1),
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000,
    summary.errors.status + summary.errors.timeout + summary.errors.read))
end
