import { CelError } from '../error.ts'
import { Duration, Timestamp } from '../value.ts'

const NANOS = 1_000_000_000
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
const FIRST_SECOND = -62_135_596_800
const LAST_SECOND = 253_402_300_799
/** Durations have 64 bits of nanoseconds, about 292 years. */
const LONGEST = 2n ** 63n - 1n

export function makeTimestamp(seconds: number, nanos: number): Timestamp | CelError {
  const carry = Math.floor(nanos / NANOS)
  const whole = seconds + carry
  if (!(whole >= FIRST_SECOND && whole <= LAST_SECOND)) return new CelError('overflow', 'timestamp out of range')
  return new Timestamp(whole, nanos - carry * NANOS)
}

function makeDuration(nanos: bigint): Duration | CelError {
  if (nanos > LONGEST || nanos < -LONGEST - 1n) return new CelError('overflow', 'duration out of range')
  return new Duration(Number(nanos / BigInt(NANOS)), Number(nanos % BigInt(NANOS)))
}

function nanosOf(duration: Duration): bigint {
  return BigInt(duration.seconds) * BigInt(NANOS) + BigInt(duration.nanos)
}

export function addToTimestamp(timestamp: Timestamp, duration: Duration): Timestamp | CelError {
  return makeTimestamp(timestamp.seconds + duration.seconds, timestamp.nanos + duration.nanos)
}

export function addDurations(left: Duration, right: Duration): Duration | CelError {
  return makeDuration(nanosOf(left) + nanosOf(right))
}

export function negateDuration(duration: Duration): Duration {
  return new Duration(-duration.seconds, -duration.nanos)
}

export function subtractTimestamps(left: Timestamp, right: Timestamp): Duration | CelError {
  const seconds = BigInt(left.seconds - right.seconds)
  return makeDuration(seconds * BigInt(NANOS) + BigInt(left.nanos - right.nanos))
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

export function parseTimestamp(text: string): Timestamp | CelError {
  const match = RFC3339.exec(text)
  if (match === null) return new CelError('bad_value', 'not a timestamp: RFC 3339 is expected')
  const [, year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.map(Number)
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  if (!isDay || hour > 23 || minute > 59 || second > 59) return new CelError('bad_value', 'no such day or time')
  const offsetMinutes = match[8] === undefined ? 0 : Number(match[9]) * 60 + Number(match[10])
  if (offsetMinutes > 24 * 60) return new CelError('bad_value', 'no such time zone')
  const offset = match[8] === '-' ? -offsetMinutes : offsetMinutes
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset * 60
  return makeTimestamp(seconds, Number((match[7] ?? '').padEnd(9, '0')))
}

export function formatTimestamp({ seconds, nanos }: Timestamp): string {
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19)
  return `${whole}${fraction(nanos)}Z`
}

/** Formats a duration as decimal seconds: `90s`, `-0.5s`. */
export function formatDuration({ seconds, nanos }: Duration): string {
  const sign = seconds < 0 || nanos < 0 ? '-' : ''
  return `${sign}${Math.abs(seconds)}${fraction(Math.abs(nanos))}s`
}

function fraction(nanos: number): string {
  return nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`
}

const UNITS = new Map(
  Object.entries({
    h: 3_600_000_000_000n,
    m: 60_000_000_000n,
    s: 1_000_000_000n,
    ms: 1_000_000n,
    us: 1000n,
    µs: 1000n,
    μs: 1000n,
    ns: 1n,
  }),
)
const DURATION = /^([+-]?)((?:\d+(?:\.\d*)?|\.\d+)(?:h|ms|m|s|us|µs|μs|ns))+$/
const DURATION_PART = /(\d*)(?:\.(\d*))?(h|ms|m|s|us|µs|μs|ns)/g
const LONGEST_TEXT = 100

export function parseDuration(text: string): Duration | CelError {
  if (text === '0' || text === '+0' || text === '-0') return new Duration(0, 0)
  if (text.length > LONGEST_TEXT || !DURATION.test(text)) {
    return new CelError('bad_value', 'not a duration: such as 1h30m or 0.5s is expected')
  }
  let nanos = 0n
  for (const [, whole = '', decimals, unit = ''] of text.matchAll(DURATION_PART)) {
    const scale = UNITS.get(unit) ?? 0n
    nanos += BigInt(whole) * scale
    if (decimals) nanos += (BigInt(decimals) * scale) / 10n ** BigInt(decimals.length)
  }
  return makeDuration(text.startsWith('-') ? -nanos : nanos)
}
