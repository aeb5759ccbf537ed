import { hash } from 'node:crypto'

/**
 * The steps of a shared response cache, each one script, which Redis runs as a whole. `<cache>` is the prefix of one
 * cache:
 *
 *     <cache>a:<key>     an answer: when it was stored, a colon, and the encoded answer
 *     <cache>e:<tenant>  sorted set: when answers of the tenant end, by key
 *     <cache>s:<tenant>  hash: the bytes of the answers, by key
 *     <cache>tenants     sorted set: the bytes of all answers of each tenant
 *     <cache>until       sorted set: when the last answer of each tenant ends
 *     <cache>total       the bytes of all answers
 *
 * Times are those of Redis. A cache that is full loses the oldest answers of the tenant with the most bytes.
 */
export interface AnswerScripts {
  /** KEYS: answer, then the markers of purges. Replies with the answer or an empty text, its age, the time since a purge or -1. */
  readonly get: AnswerScript
  /** KEYS: none. ARGV: cache, key, tenant, answer, ttl, most bytes of the cache. Replies with 1 if stored, and the number of evicted answers. */
  readonly put: AnswerScript
  /** KEYS: a marker. */
  readonly purge: AnswerScript
  /** KEYS: none. ARGV: cache. Replies with the number of answers, or -1 for too many tenants, the tenants and the bytes. */
  readonly figures: AnswerScript
}

interface AnswerScript {
  readonly text: string
  readonly sha: string
}

export function createAnswerScripts(): AnswerScripts {
  return {
    ...{ get: script(`${CLOCK}${GET}`), put: script(`${CLOCK}${PUT}`) },
    ...{ purge: script(`${CLOCK}${PURGE}`), figures: script(`${CLOCK}${FIGURES}`) },
  }
}

function script(text: string): AnswerScript {
  return { text, sha: hash('sha1', text) }
}

/** A longer value is no answer: the reader of replies would end the connection. */
export const MOST_STORED_BYTES = 1_000_000
/** Longer than every answer lives. */
const KEPT_MS = 721 * 3_600_000
/** Names, times and the overhead of Redis, for each answer. */
export const ENTRY_OVERHEAD = 512

const CLOCK = `
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
`

const GET = `
local purged = 0
for i = 2, #KEYS do
  local at = tonumber(redis.call('GET', KEYS[i]) or '')
  if at and at > purged then purged = at end
end
local since = -1
if purged > 0 then since = math.max(0, now - purged) end
if redis.call('STRLEN', KEYS[1]) > ${MOST_STORED_BYTES + 32} then return {'', 0, since} end
local value = redis.call('GET', KEYS[1])
if not value then return {'', 0, since} end
local colon = string.find(value, ':', 1, true) or 0
local at = tonumber(string.sub(value, 1, colon - 1))
if not at or at <= purged then return {'', 0, since} end
return {string.sub(value, colon + 1), math.max(0, now - at), since}
`

const PUT = `
local cache, key, tenant, answer = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local ttl, most = tonumber(ARGV[5]), tonumber(ARGV[6])
local bytes = #answer + ${ENTRY_OVERHEAD}
local tenants, untils = cache .. 'tenants', cache .. 'until'
local total = tonumber(redis.call('GET', cache .. 'total') or '') or 0
local evicted = 0
local function forgetTenant(name)
  total = total - (tonumber(redis.call('ZSCORE', tenants, name) or '') or 0)
  redis.call('ZREM', tenants, name)
  redis.call('ZREM', untils, name)
  redis.call('DEL', cache .. 'e:' .. name, cache .. 's:' .. name)
end
local function forget(name, id)
  local size = tonumber(redis.call('HGET', cache .. 's:' .. name, id) or '') or 0
  redis.call('DEL', cache .. 'a:' .. id)
  redis.call('HDEL', cache .. 's:' .. name, id)
  redis.call('ZREM', cache .. 'e:' .. name, id)
  redis.call('ZINCRBY', tenants, 0 - size, name)
  total = total - size
end
for _, name in ipairs(redis.call('ZRANGEBYSCORE', untils, '-inf', now, 'LIMIT', 0, 8)) do forgetTenant(name) end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', cache .. 'e:' .. tenant, '-inf', now, 'LIMIT', 0, 32)) do
  forget(tenant, id)
end
if redis.call('HEXISTS', cache .. 's:' .. tenant, key) == 1 then forget(tenant, key) end
for _ = 1, 64 do
  if total + bytes <= most then break end
  local largest = redis.call('ZREVRANGE', tenants, 0, 0)[1]
  if not largest then
    total = 0
    break
  end
  local oldest = redis.call('ZRANGE', cache .. 'e:' .. largest, 0, 0)[1]
  if oldest then
    forget(largest, oldest)
    evicted = evicted + 1
  else
    forgetTenant(largest)
  end
end
local stored = 0
if total + bytes <= most then
  local ends = now + ttl
  redis.call('SET', cache .. 'a:' .. key, string.format('%.0f', now) .. ':' .. answer, 'PX', ttl)
  redis.call('HSET', cache .. 's:' .. tenant, key, bytes)
  redis.call('ZADD', cache .. 'e:' .. tenant, ends, key)
  redis.call('ZINCRBY', tenants, bytes, tenant)
  local known = tonumber(redis.call('ZSCORE', untils, tenant) or '') or 0
  if known < ends then redis.call('ZADD', untils, ends, tenant) end
  total = total + bytes
  stored = 1
end
redis.call('SET', cache .. 'total', string.format('%.0f', math.max(0, total)))
for _, name in ipairs({'total', 'tenants', 'until', 'e:' .. tenant, 's:' .. tenant}) do
  redis.call('PEXPIRE', cache .. name, ${KEPT_MS})
end
return {stored, evicted}
`

const PURGE = `
redis.call('SET', KEYS[1], string.format('%.0f', now), 'PX', ${KEPT_MS})
return 1
`

const FIGURES = `
local cache = ARGV[1]
local names = redis.call('ZRANGEBYSCORE', cache .. 'until', '(' .. now, '+inf', 'LIMIT', 0, 1001)
local answers, bytes = 0, 0
for _, name in ipairs(names) do
  answers = answers + redis.call('ZCOUNT', cache .. 'e:' .. name, '(' .. now, '+inf')
  bytes = bytes + (tonumber(redis.call('ZSCORE', cache .. 'tenants', name) or '') or 0)
end
if #names > 1000 then
  local total = tonumber(redis.call('GET', cache .. 'total') or '') or 0
  return {-1, redis.call('ZCOUNT', cache .. 'until', '(' .. now, '+inf'), total}
end
return {answers, #names, bytes}
`
