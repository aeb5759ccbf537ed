import { families } from '../metrics/families.ts'
import type { Collector } from '../metrics/metrics-collect.ts'
import type { Group, Shape } from './group.ts'
import { Groups } from './groups.ts'
import { percentile } from './percentile.ts'
import { PointRing } from './point-ring.ts'
import type { HistoryRange, ModelSeries, SeriesView, TrafficSeries } from './series-view.ts'

/** The history of a day, sampled every few seconds from the existing metrics, so that it costs no time per request. */
export class MetricHistory {
  readonly #collector: Collector
  readonly #clock: () => number
  readonly #traffic = new Groups(TRAFFIC, SIZES, MOST_NAMES)
  readonly #whole = new Groups(TRAFFIC, SIZES, 1)
  readonly #models = new Groups(MODELS, SIZES, MOST_NAMES)
  /** End and length in seconds of each step. */
  readonly #steps = TIERS.map(({ points }) => new PointRing(2, points))
  readonly #openSince: number[]
  readonly #since: number
  #lookedAt: number
  #timer: NodeJS.Timeout | null = null

  constructor(collector: Collector, clock: () => number = Date.now) {
    this.#collector = collector
    this.#clock = clock
    this.#since = clock()
    this.#lookedAt = this.#since
    this.#openSince = TIERS.map(() => this.#since)
  }

  start(): void {
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref()
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
  }

  look(): void {
    const now = this.#clock()
    // The clock may have been set back; that ends no step.
    if (now <= this.#lookedAt) return
    this.#lookedAt = now
    this.#sumTraffic()
    this.#sumModels()
    for (const groups of [this.#whole, this.#traffic, this.#models]) groups.look()
    for (const [tier, { stepMs }] of TIERS.entries()) {
      const since = this.#openSince[tier] ?? now
      // Timers fire a little late, and sometimes a little early.
      if (now - since < stepMs - LOOK_MS / 2) continue
      this.#openSince[tier] = now
      this.#steps[tier]?.push([now, (now - since) / 1000])
      for (const groups of [this.#whole, this.#traffic, this.#models]) groups.close(tier)
    }
  }

  view(range: HistoryRange): SeriesView {
    const tier = TIERS.findIndex((each) => each.range === range)
    const steps = this.#steps[tier]
    const openSince = this.#openSince[tier] ?? this.#lookedAt
    // The current step is included, because long steps would otherwise show nothing for a while.
    const withOpen = this.#lookedAt > openSince
    const closed = steps?.length ?? 0
    const count = closed + (withOpen ? 1 : 0)
    const open = withOpen ? [this.#lookedAt] : []
    const chosen = { most: MOST_LISTED, withOpen }
    const traffic = this.#traffic.heaviest(tier, count, { ...chosen, weigh: [0] })
    const models = this.#models.heaviest(tier, count, { ...chosen, weigh: [1, 2] })
    const pointsOf = (group: Group) => (field: number) => group.points(tier, field, count, withOpen)
    const [whole] = this.#whole.heaviest(tier, count, { ...chosen, weigh: [0] }).listed
    return {
      range,
      now: this.#clock(),
      since: this.#since,
      times: [...(steps?.last(0, closed) ?? []), ...open],
      seconds: [...(steps?.last(1, closed) ?? []), ...open.map((at) => (at - openSince) / 1000)],
      total: trafficSeries('', whole === undefined ? noTraffic(count) : pointsOf(whole.group)),
      routes: traffic.listed.map(({ name, group }) => trafficSeries(name, pointsOf(group))),
      models: models.listed.map(({ name, group }) => modelSeries(name, pointsOf(group))),
      omitted: { routes: traffic.omitted, models: models.omitted },
    }
  }

  #sumTraffic(): void {
    for (const { values, totals } of this.#collector.readFamily('request_duration_seconds')) {
      const [, protocol = '', , status = '', reason = '', , , , route = ''] = values
      const outcome = outcomeOf(protocol, status, reason)
      let count = 0
      for (let i = 0; i <= SECONDS.length; i++) count += totals[i] ?? 0
      if (count === 0) continue
      for (const sum of [this.#whole.sumOf(''), this.#traffic.sumOf(route)]) {
        if (outcome === 'failed') add(sum, 0, count)
        if (outcome === 'refused') add(sum, 1, count)
        for (let i = 0; i <= SECONDS.length; i++) add(sum, 2 + i, totals[i] ?? 0)
      }
    }
  }

  #sumModels(): void {
    for (const { values, totals } of this.#collector.readFamily('gen_ai_client_token_usage')) {
      const [type = '', , ...rest] = values
      const field = TOKEN_FIELDS.get(type)
      if (field !== undefined) add(this.#models.sumOf(modelName(rest)), field, totals.at(-1) ?? 0)
    }
    for (const { values, totals } of this.#collector.readFamily('gen_ai_server_request_duration')) {
      const [, ...rest] = values
      const sum = this.#models.sumOf(modelName(rest))
      for (let i = 0; i <= MODEL_SECONDS.length; i++) add(sum, TOKEN_FIELDS.size + i, totals[i] ?? 0)
    }
  }
}

const LOOK_MS = 5000
/** The step lengths by the range that the admin API names. */
const TIERS: readonly { range: HistoryRange; stepMs: number; points: number }[] = [
  { range: '15m', stepMs: LOOK_MS, points: 180 },
  { range: '3h', stepMs: 30_000, points: 360 },
  { range: '24h', stepMs: 300_000, points: 288 },
]
const SIZES = TIERS.map(({ points }) => points)
const MOST_NAMES = 50
const MOST_LISTED = 10

const SECONDS = families.request_duration_seconds.buckets
const MODEL_SECONDS = families.gen_ai_server_request_duration.buckets

/** Counters: failed, refused, duration buckets. Point: requests, failed, refused, three percentiles. */
const TRAFFIC: Shape = {
  counters: 2 + SECONDS.length + 1,
  fields: 6,
  rowOf(counted) {
    const buckets = counted.subarray(2)
    return [
      buckets.reduce((sum, count) => sum + count, 0),
      counted[0] ?? 0,
      counted[1] ?? 0,
      ...[0.5, 0.95, 0.99].map((share) => percentile(buckets, SECONDS, share) ?? NaN),
    ]
  },
}

const TOKEN_FIELDS = new Map([
  ['input', 0],
  ['output', 1],
  ['input_cache_read', 2],
  ['input_cache_write', 3],
])

/** Counters: tokens, duration buckets. Point: calls, tokens, one percentile. */
const MODELS: Shape = {
  counters: TOKEN_FIELDS.size + MODEL_SECONDS.length + 1,
  fields: 6,
  rowOf(counted) {
    const buckets = counted.subarray(TOKEN_FIELDS.size)
    const calls = buckets.reduce((sum, count) => sum + count, 0)
    return [calls, ...counted.subarray(0, TOKEN_FIELDS.size), percentile(buckets, MODEL_SECONDS, 0.95) ?? NaN]
  },
}

/** Returns the outcome by labels: failed by the gateway or a backend, or denied by the gateway. */
function outcomeOf(protocol: string, status: string, reason: string): 'passed' | 'failed' | 'refused' {
  if (status.startsWith('5')) return 'failed'
  if (status === 'unknown')
    return protocol === 'tcp' || protocol === 'tls' || protocol === 'udp' || reason === 'ClientGone'
      ? 'passed'
      : 'failed'
  return status.startsWith('4') && reason !== 'Upstream' ? 'refused' : 'passed'
}

/** Returns the name of a model group; the argument has the labels from the provider on. */
function modelName([system = '', asked = '', answered = '']: readonly string[]): string {
  return JSON.stringify([system, answered === 'unknown' ? asked : answered])
}

type Points = (field: number) => number[]

function noTraffic(count: number): Points {
  return (field) => Array<number>(count).fill(field < 3 ? 0 : NaN)
}

function trafficSeries(name: string, points: Points): TrafficSeries {
  const [requests, failed, refused] = [points(0), points(1), points(2)]
  return { name, requests, failed, refused, p50: known(points(3)), p95: known(points(4)), p99: known(points(5)) }
}

function modelSeries(name: string, points: Points): ModelSeries {
  const [provider = 'other', model = 'other'] = name === 'other' ? [] : (JSON.parse(name) as string[])
  return {
    ...{ provider, model, calls: points(0), input: points(1), output: points(2) },
    ...{ cacheRead: points(3), cacheWrite: points(4), p95: known(points(5)) },
  }
}

function known(values: readonly number[]): (number | null)[] {
  return values.map((value) => (Number.isNaN(value) ? null : value))
}

function add(sum: Float64Array, at: number, more: number): void {
  sum[at] = (sum[at] ?? 0) + more
}
