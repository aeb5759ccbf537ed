// The two loads, a fixed rate (h2load) and saturation (wrk, or h2load for HTTP/2), and parsers of their output.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runChild } from './children.mjs'
import { machineTools } from './machine.mjs'

export const CLIENTS = 32

/**
 * The requests that a proxy gets.
 * @typedef {{ url: string, paths: string[], protocol: 'http' | 'https' | 'h2c' | 'h2', bodyFile?: string, dir: string,
 *   headers?: Record<string, string> }} Target
 * @typedef {{ requests: number, seconds: number, rate: number, failed: number, p50: number, p99: number }} Load times in µs
 */

/**
 * A fixed number of requests at a fixed rate, so that every proxy does the same work.
 * @param {Target} target
 * @param {{ rps: number, seconds: number }} pace requests per second of each client
 * @returns {Promise<Load | null>} null when the load never ended or could not start
 */
export function fixedLoad(target, { rps, seconds }) {
  const requests = Math.max(CLIENTS, Math.round(CLIENTS * rps * seconds))
  return h2load(target, [`--rps=${rps}`, '-n', String(requests)], seconds)
}

/**
 * Large bodies, one after the other on one connection.
 * @param {Target} target
 * @param {number} transfers
 */
export function bulkLoad(target, transfers) {
  return h2load(target, ['-n', String(transfers)], 10 * transfers, 1)
}

/**
 * Sends requests at full speed before the measurement: a just-in-time compiler needs about a hundred thousand of them,
 * which a gateway in production has served within seconds.
 * @param {Target} target
 * @param {number} seconds
 */
export async function warmUp(target, seconds) {
  await h2load(target, ['-D', String(Math.ceil(seconds))], seconds)
}

/**
 * @param {Target} target
 * @param {number} seconds
 * @returns {Promise<Load | null>}
 */
export async function saturatedLoad(target, seconds) {
  const { wrk } = machineTools()
  if (target.protocol === 'h2c' || !wrk) return h2load(target, ['-D', String(Math.ceil(seconds))], seconds)
  const script = join(target.dir, 'wrk.lua')
  writeFileSync(script, wrkScript(target))
  const args = ['-t1', `-c${CLIENTS}`, `-d${Math.ceil(seconds)}s`, '--latency', '--timeout', '10s', '-s', script]
  const { stdout, timedOut } = await runChild(wrk, [...args, target.url + target.paths[0]], limit(seconds))
  return timedOut ? null : parseWrk(stdout)
}

/**
 * Summary printed by h2load; null when there is none. It has no percentiles: see `parseH2loadLog`.
 * @param {string} text
 */
export function parseH2load(text) {
  const finished = /finished in ([\d.]+)(us|ms|s|m|h), ([\d.]+) req\/s/.exec(text)
  const counts = /requests: (\d+) total, (\d+) started, (\d+) done, (\d+) succeeded, (\d+) failed/.exec(text)
  if (!finished || !counts) return null
  const [total = 0, , done = 0, succeeded = 0, failed = 0] = counts.slice(1).map(Number)
  const ok = Number(/status codes: (\d+) 2xx/.exec(text)?.[1] ?? 0)
  const seconds = Number(finished[1]) * (SECONDS_BY_UNIT[finished[2] ?? 's'] ?? 1)
  return { total, done, failed: failed + Math.max(0, succeeded - ok), seconds, rate: Number(finished[3]) }
}

const SECONDS_BY_UNIT = { us: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 }

/**
 * Times of each request in µs, ascending, from h2load's log (start, status, time).
 * @param {string} text
 */
export function parseH2loadLog(text) {
  const times = []
  for (const line of text.split('\n')) {
    const [, status, time] = line.split('\t')
    if (time !== undefined && Number(status) > 0) times.push(Number(time))
  }
  return Float64Array.from(times).toSorted()
}

/**
 * @param {string} text
 * @returns {Load | null}
 */
export function parseWrk(text) {
  const counts = /(\d+) requests in ([\d.]+)(us|ms|s|m|h),/.exec(text)
  if (!counts) return null
  const requests = Number(counts[1])
  const seconds = Number(counts[2]) * (SECONDS_BY_UNIT[counts[3] ?? 's'] ?? 1)
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? 0)
  const [connect = 0, read = 0, write = 0, timeout = 0] = (
    /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text) ?? []
  )
    .slice(1)
    .map(Number)
  return {
    requests,
    seconds,
    rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1] ?? requests / seconds),
    failed: refused + connect + read + write + timeout,
    p50: wrkPercentile(text, 50),
    p99: wrkPercentile(text, 99),
  }
}

/** Value at the percentile of an ascending list, by nearest rank. */
export function percentile(sorted, percent) {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1))] ?? 0
}

async function h2load(target, pace, seconds, clients = CLIENTS) {
  const program = machineTools().h2load
  if (!program) return null
  // The folder is not beside the proxy's config, because a proxy that watches its folder would wake up at every line.
  const dir = join(target.dir, 'load')
  mkdirSync(dir, { recursive: true })
  const log = join(dir, 'h2load.log')
  const list = join(dir, 'urls.txt')
  rmSync(log, { force: true })
  writeFileSync(list, target.paths.map((path) => `${target.url}${path}\n`).join(''))
  const args = ['-c', String(clients), '-m', '1', `--log-file=${log}`, `--input-file=${list}`, ...pace]
  if (target.protocol !== 'h2c' && target.protocol !== 'h2') args.push('--h1')
  if (target.bodyFile) args.push('-d', target.bodyFile)
  for (const [name, value] of Object.entries(target.headers ?? {})) args.push('-H', `${name}: ${value}`)
  const { stdout, timedOut } = await runChild(program, args, limit(seconds))
  const summary = timedOut ? null : parseH2load(stdout)
  if (!summary) return null
  const times = parseH2loadLog(readFileSync(log, 'utf8'))
  const { done: requests, failed, rate } = summary
  return { requests, seconds: summary.seconds, rate, failed, p50: percentile(times, 50), p99: percentile(times, 99) }
}

function wrkPercentile(text, percent) {
  const found = new RegExp(`^\\s+${percent}%\\s+([\\d.]+)(us|ms|s|m)\\s*$`, 'm').exec(text)
  return found ? Number(found[1]) * (SECONDS_BY_UNIT[found[2] ?? 's'] ?? 1) * 1e6 : 0
}

// A single path needs no Lua function, so wrk reuses one request.
function wrkScript({ paths, bodyFile, headers = {} }) {
  const post = bodyFile ? `wrk.method, wrk.body = 'POST', ${JSON.stringify(readFileSync(bodyFile, 'latin1'))}\n` : ''
  const fields = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}\n`,
  )
  const start = post + fields.join('')
  if (paths.length === 1) return start
  return `${start}local paths = { ${paths.map((path) => JSON.stringify(path)).join(', ')} }
local requests, turn = {}, 0
function init(args)
  for i, path in ipairs(paths) do requests[i] = wrk.format(nil, path) end
end
function request()
  turn = turn % #requests + 1
  return requests[turn]
end
`
}

// A proxy that cannot keep up gets more time, but not without limit.
function limit(seconds) {
  return seconds * 8000 + 10_000
}
