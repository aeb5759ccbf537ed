import { hash } from 'node:crypto'
import { LEASE_MS, MOST_AMOUNT } from '../budgets/budget-store.ts'

/**
 * The steps of a reservation, each one script, which Redis runs as a whole. Budgets of a period have their own keys:
 *
 *     <share>         hash: `s` spent, `r` reserved, `a:<id>` what the reservation <id> holds
 *     <share>:leases  sorted set: the ends of the leases by <id>
 *     <keys>          the number of keys of the budget in the period
 *     <pulse>         hash: when a gateway was last `seen`, and until when leases are on `hold`
 *     <done:id>       a reservation that is settled, so that a repeated or late command changes nothing
 *
 * Times are those of Redis, so that the clocks of gateways do not matter. The keys of a period are kept for a day after
 * its end, for calls that end late and for a clock that is set back. When no gateway was seen for a while, Redis was
 * away or its clock was set: leases then stay for another `LEASE_MS`, in which live gateways renew theirs.
 */
export interface BudgetScripts {
  /** KEYS: pulse, then for each share: share, leases. ARGV: for each share: limit, start, end. */
  readonly check: Script
  /** KEYS: pulse, done, then share, leases, keys. ARGV: id, `new` or `move`, then amount, limit, start, end, maxKeys. */
  readonly reserve: Script
  /** KEYS: pulse, then leases. ARGV: id. */
  readonly renew: Script
  /** KEYS: done, then share, leases. ARGV: id, then spent, end. */
  readonly settle: Script
}

interface Script {
  readonly text: string
  /** Redis names scripts by this. */
  readonly sha: string
}

/** `time` is the Lua expression of the time, as the `TIME` command returns it. */
export function createBudgetScripts(time = `redis.call('TIME')`): BudgetScripts {
  const clock = `
local t = ${time}
local now = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
${PULSE}`
  return {
    check: script(`${clock}${SHARED}${CHECK}`),
    reserve: script(`${clock}${SHARED}${RESERVE}`),
    renew: script(`${clock}${RENEW}`),
    settle: script(SETTLE),
  }
}

function script(text: string): Script {
  return { text, sha: hash('sha1', text) }
}

const PULSE = `
local LEASE = ${LEASE_MS}
local pulse = redis.call('HMGET', KEYS[1], 'seen', 'hold')
local seen, hold = tonumber(pulse[1]), tonumber(pulse[2]) or 0
local lost = not seen or now - seen > LEASE / 2 or now < seen - 1000
if lost then hold = now + LEASE end
if lost or now - seen > 1000 then
  redis.call('HSET', KEYS[1], 'seen', string.format('%.0f', now), 'hold', string.format('%.0f', hold))
end
`

const SHARED = `
local function used(share)
  local sums = redis.call('HMGET', share, 's', 'r')
  return (tonumber(sums[1]) or 0) + (tonumber(sums[2]) or 0), sums[1] or sums[2]
end
local function sweep(share, leases)
  if now < hold then return end
  local function ended(from, to)
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', leases, from, to, 'LIMIT', 0, 1000)) do
      local amount = redis.call('HGET', share, 'a:' .. id)
      redis.call('ZREM', leases, id)
      redis.call('HDEL', share, 'a:' .. id)
      if amount then redis.call('HINCRBY', share, 'r', string.format('%.0f', 0 - tonumber(amount))) end
    end
  end
  ended('-inf', string.format('%.0f', now))
  ended(string.format('%.0f', now + 2 * LEASE), '+inf')
end
local function rest(share, leases, amount, limit)
  local sum, known = used(share)
  if sum + amount > limit then
    sweep(share, leases)
    sum = used(share)
  end
  return limit - sum, known
end
`

const CHECK = `
for i = 0, (#KEYS - 1) / 2 - 1 do
  local from, to = tonumber(ARGV[i * 3 + 2]), tonumber(ARGV[i * 3 + 3])
  if now < from or now >= to then return {'clock', now} end
end
for i = 0, (#KEYS - 1) / 2 - 1 do
  local limit = tonumber(ARGV[i * 3 + 1])
  if rest(KEYS[i * 2 + 2], KEYS[i * 2 + 3], 1, limit) < 1 then return {'exceeded', now, i, 0} end
end
return {'ok', now}
`

const RESERVE = `
local id, n = ARGV[1], (#KEYS - 2) / 3
if redis.call('EXISTS', KEYS[2]) == 1 then return {'done', now} end
local shares = {}
for i = 0, n - 1 do
  local a = 2 + i * 5
  local share = { at = KEYS[i * 3 + 3], leases = KEYS[i * 3 + 4], keys = KEYS[i * 3 + 5], amount = tonumber(ARGV[a + 1]),
    limit = tonumber(ARGV[a + 2]), from = tonumber(ARGV[a + 3]), to = tonumber(ARGV[a + 4]), most = tonumber(ARGV[a + 5]) }
  if ARGV[2] == 'new' and (now < share.from or now >= share.to) then return {'clock', now} end
  shares[i + 1] = share
end
for i, share in ipairs(shares) do
  local left, known = rest(share.at, share.leases, share.amount, share.limit)
  share.held = tonumber(redis.call('HGET', share.at, 'a:' .. id)) or 0
  share.known = known
  if not known and (tonumber(redis.call('GET', share.keys)) or 0) >= share.most then return {'keysFull', now, i - 1, 0} end
  if share.amount > share.held and share.amount - share.held > left then
    return {'exceeded', now, i - 1, math.max(0, left)}
  end
end
for _, share in ipairs(shares) do
  local expiry = string.format('%.0f', share.to + ${24 * 3_600_000})
  redis.call('HINCRBY', share.at, 'r', string.format('%.0f', share.amount - share.held))
  redis.call('HSET', share.at, 'a:' .. id, string.format('%.0f', share.amount))
  redis.call('ZADD', share.leases, string.format('%.0f', now + LEASE), id)
  if not share.known then
    redis.call('INCR', share.keys)
    redis.call('PEXPIREAT', share.keys, expiry)
  end
  redis.call('PEXPIREAT', share.at, expiry)
  redis.call('PEXPIREAT', share.leases, expiry)
end
return {'ok', now}
`

const RENEW = `
for i = 2, #KEYS do redis.call('ZADD', KEYS[i], 'XX', string.format('%.0f', now + LEASE), ARGV[1]) end
return {'ok', now}
`

const SETTLE = `
local id = ARGV[1]
if not redis.call('SET', KEYS[1], '1', 'NX', 'PX', ${20 * 60_000}) then return {'done'} end
for i = 0, (#KEYS - 1) / 2 - 1 do
  local share, leases = KEYS[i * 2 + 2], KEYS[i * 2 + 3]
  local spent, to = tonumber(ARGV[i * 2 + 2]), ARGV[i * 2 + 3]
  local held = redis.call('HGET', share, 'a:' .. id)
  if held then
    redis.call('HDEL', share, 'a:' .. id)
    redis.call('ZREM', leases, id)
    redis.call('HINCRBY', share, 'r', string.format('%.0f', 0 - tonumber(held)))
  end
  if spent > 0 then
    local sum = (tonumber(redis.call('HGET', share, 's')) or 0) + spent
    redis.call('HSET', share, 's', string.format('%.0f', math.min(sum, ${MOST_AMOUNT})))
    redis.call('PEXPIREAT', share, string.format('%.0f', to + ${24 * 3_600_000}))
  end
end
return {'ok'}
`
