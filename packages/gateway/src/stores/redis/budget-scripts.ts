import { hash } from 'node:crypto'
import { PARTS } from '../../state/budget-period.ts'
import { MOST_AMOUNT } from '../../state/spend-word.ts'
import { LEASE_MS } from '../budgets/budget-store.ts'

/**
 * The steps of a reservation, each one script, which Redis runs as a whole. Budgets of a period have their own keys:
 *
 *     <share>         hash: `s` spent, `r` reserved, `a:<id>` what the reservation <id> holds, `o` the oldest part
 *     <share>:leases  sorted set: the ends of the leases by <id>
 *     <share>:parts   hash: what was spent in each part of a rolling period
 *     <keys>          the number of keys of the budget in the period, if requests choose the keys
 *     <pulse>         hash: when a gateway was last `seen`, and until when leases are on `hold`
 *     <done:id>       a reservation that is settled, so that a repeated or late command changes nothing
 *
 * Times are those of Redis, so that the clocks of gateways do not matter. The keys of a period are kept for a day after
 * its end, for calls that end late and for a clock that is set back; those of a rolling period (`partMs` is not 0) until
 * nothing was spent for its length and a day. When no gateway was seen for a while, Redis was
 * away or its clock was set: leases then stay for another `LEASE_MS`, in which live gateways renew theirs.
 *
 * The reply is 1 when everything is done, because replies of each request are read in JavaScript; otherwise it is a list
 * of the reason, the time, the position of the share, what is left of it, and when there is more.
 */
export interface BudgetScripts {
  /** KEYS: pulse, then the shares. ARGV: for each share: limit, start, end, partMs. */
  readonly check: Script
  /**
   * KEYS: pulse, done, then the shares, then the counters of those whose `most` is not 0. ARGV: id, `new` or `move`, the
   * number of shares, then for each share: amount, limit, start, end, most, partMs.
   */
  readonly reserve: Script
  /** KEYS: the share of a rolling period. ARGV: partMs. The reply is what is spent or reserved, and when there is more. */
  readonly balance: Script
  /** KEYS: pulse, then the shares. ARGV: id. */
  readonly renew: Script
  /**
   * The script for several settlements. KEYS: for each settlement: done, then its shares. ARGV: for each settlement:
   * id, number of shares, then for each share: spent, end, partMs.
   */
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
`
  return {
    check: script(`${clock}${PULSE}${SHARED}${ROLLING}${CHECK}`),
    reserve: script(`${KEPT}${clock}${PULSE}${SHARED}${ROLLING}${RESERVE}`),
    balance: script(`${clock}${SHARED}${ROLLING}${BALANCE}`),
    renew: script(`${clock}${PULSE}${RENEW}`),
    settle: script(`${KEPT}${clock}${ROLLING}${SETTLE}`),
  }
}

function script(text: string): Script {
  return { text, sha: hash('sha1', text) }
}

const KEPT = `local KEPT = ${24 * 3_600_000}
`

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
  return (tonumber(sums[1]) or 0) + (tonumber(sums[2]) or 0)
end
local function sweep(share)
  if now < hold then return end
  local leases = share .. ':leases'
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
`

/**
 * Lua functions for the parts of rolling periods: `expire` removes parts that have left the period, `moreAt` returns
 * the time at which the next part leaves.
 */
const ROLLING = `
local PARTS = ${PARTS}
local function expire(share, partMs)
  if partMs == 0 then return end
  local oldest = tonumber(redis.call('HGET', share, 'o'))
  local last = math.floor(now / partMs) - PARTS - 1
  if not oldest or oldest > last then return end
  local gone, rest, all = 0, nil, redis.call('HGETALL', share .. ':parts')
  for i = 1, #all, 2 do
    local part = tonumber(all[i])
    if part <= last then
      gone = gone + tonumber(all[i + 1])
      redis.call('HDEL', share .. ':parts', all[i])
    elseif not rest or part < rest then
      rest = part
    end
  end
  local spent = math.max(0, (tonumber(redis.call('HGET', share, 's')) or 0) - gone)
  redis.call('HSET', share, 's', string.format('%.0f', spent))
  if rest then redis.call('HSET', share, 'o', string.format('%.0f', rest)) else redis.call('HDEL', share, 'o') end
end
local function moreAt(share, to, partMs)
  if partMs == 0 then return to end
  local part = tonumber(redis.call('HGET', share, 'o')) or math.floor(now / partMs)
  return (part + PARTS + 1) * partMs
end
`

const CHECK = `
for a = 1, #ARGV, 4 do
  if now < tonumber(ARGV[a + 1]) or now >= tonumber(ARGV[a + 2]) then return {'clock', now} end
end
for i = 0, #KEYS - 2 do
  local share, limit = KEYS[i + 2], tonumber(ARGV[i * 4 + 1])
  local to, partMs = tonumber(ARGV[i * 4 + 3]), tonumber(ARGV[i * 4 + 4])
  expire(share, partMs)
  if used(share) >= limit then
    sweep(share)
    if used(share) >= limit then return {'exceeded', now, i, 0, moreAt(share, to, partMs)} end
  end
end
return 1
`

const RESERVE = `
local id, own, n = ARGV[1], 'a:' .. ARGV[1], tonumber(ARGV[3])
if redis.call('EXISTS', KEYS[2]) == 1 then return {'done', now} end
if ARGV[2] == 'new' then
  for a = 4, #ARGV, 6 do
    if now < tonumber(ARGV[a + 2]) or now >= tonumber(ARGV[a + 3]) then return {'clock', now} end
  end
end
local shares, counter = {}, 2 + n
for i = 1, n do
  local a, key = i * 6 - 2, KEYS[2 + i]
  local amount, limit, most = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 4])
  local partMs = tonumber(ARGV[a + 5])
  expire(key, partMs)
  local sums = redis.call('HMGET', key, 's', 'r', own)
  if (tonumber(sums[1]) or 0) + (tonumber(sums[2]) or 0) - (tonumber(sums[3]) or 0) + amount > limit then
    sweep(key)
    sums = redis.call('HMGET', key, 's', 'r', own)
  end
  local spent, reserved, held = tonumber(sums[1]) or 0, tonumber(sums[2]) or 0, tonumber(sums[3]) or 0
  local share = { key = key, amount = amount, reserved = reserved, held = held }
  if not sums[1] and not sums[2] then share.fresh = true end
  if most > 0 then
    counter = counter + 1
    share.counter = KEYS[counter]
    if share.fresh and (tonumber(redis.call('GET', share.counter)) or 0) >= most then
      return {'keysFull', now, i - 1, 0}
    end
  end
  if amount > held and amount - held > limit - spent - reserved then
    return {'exceeded', now, i - 1, math.max(0, limit - spent - reserved), moreAt(key, tonumber(ARGV[a + 3]), partMs)}
  end
  shares[i] = share
end
for i, share in ipairs(shares) do
  local expiry = string.format('%.0f', tonumber(ARGV[i * 6 + 1]) + KEPT)
  redis.call('HSET', share.key, 'r', string.format('%.0f', share.reserved + share.amount - share.held),
    own, string.format('%.0f', share.amount))
  redis.call('ZADD', share.key .. ':leases', string.format('%.0f', now + LEASE), id)
  -- The end of a rolling period moves on.
  if share.fresh or ARGV[i * 6 + 3] ~= '0' then redis.call('PEXPIREAT', share.key, expiry) end
  if share.fresh then
    if share.counter then
      redis.call('INCR', share.counter)
      redis.call('PEXPIREAT', share.counter, expiry)
    end
  end
  -- The set is new when there were no other reservations.
  if share.reserved == share.held then redis.call('PEXPIREAT', share.key .. ':leases', expiry) end
end
return 1
`

const BALANCE = `
local share, partMs = KEYS[1], tonumber(ARGV[1])
expire(share, partMs)
return {used(share), moreAt(share, 0, partMs)}
`

const RENEW = `
for i = 2, #KEYS do
  redis.call('ZADD', KEYS[i] .. ':leases', 'XX', string.format('%.0f', now + LEASE), ARGV[1])
end
return 1
`

const SETTLE = `
local key, a = 1, 1
while a < #ARGV do
  local id, own, n = ARGV[a], 'a:' .. ARGV[a], tonumber(ARGV[a + 1])
  if redis.call('SET', KEYS[key], '1', 'NX', 'PX', ${20 * 60_000}) then
    for i = 1, n do
      local at = a + i * 3 - 1
      local share, spent, to, partMs = KEYS[key + i], tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
      if partMs > 0 then to = now + (PARTS + 1) * partMs end
      local expiry = string.format('%.0f', to + KEPT)
      expire(share, partMs)
      local sums = redis.call('HMGET', share, 's', 'r', own)
      local held = tonumber(sums[3])
      if held then
        redis.call('HDEL', share, own)
        redis.call('ZREM', share .. ':leases', id)
      end
      if held or spent > 0 then
        local sum = math.min((tonumber(sums[1]) or 0) + spent, ${MOST_AMOUNT})
        local reserved = (tonumber(sums[2]) or 0) - (held or 0)
        redis.call('HSET', share, 's', string.format('%.0f', sum), 'r', string.format('%.0f', reserved))
      end
      if spent > 0 and partMs > 0 then
        local part, oldest = math.floor(now / partMs), tonumber(redis.call('HGET', share, 'o'))
        redis.call('HINCRBY', share .. ':parts', string.format('%.0f', part), string.format('%.0f', spent))
        redis.call('PEXPIREAT', share .. ':parts', expiry)
        if not oldest or part < oldest then redis.call('HSET', share, 'o', string.format('%.0f', part)) end
      end
      if spent > 0 and (partMs > 0 or not sums[1] and not sums[2]) then redis.call('PEXPIREAT', share, expiry) end
    end
  end
  key, a = key + 1 + n, a + 2 + 3 * n
end
return 1
`
