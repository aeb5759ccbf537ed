import type { Overload } from '../declarations.ts'
import { overload } from '../declarations.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { typeName } from '../run/type-of.ts'
import type { Type } from '../types.ts'
import { duration, int, oneOf, string, timestamp } from '../types.ts'
import type { Result, Value } from '../value.ts'
import { Duration, Timestamp } from '../value.ts'
import { method } from './define.ts'

const DAY_MILLIS = 86_400_000

export const timeFunctions = [
  getter('getFullYear', 'The year.', (date) => date.getUTCFullYear()),
  getter('getMonth', 'The month, 0 to 11.', (date) => date.getUTCMonth()),
  getter('getDate', 'The day of the month, from 1.', (date) => date.getUTCDate()),
  getter('getDayOfMonth', 'The day of the month, from 0.', (date) => date.getUTCDate() - 1),
  getter('getDayOfWeek', 'The day of the week, 0 is Sunday.', (date) => date.getUTCDay()),
  getter('getDayOfYear', 'The day of the year, from 0.', dayOfYear),
  getter('getHours', 'The hour; of a duration, all hours in it.', (date) => date.getUTCHours(), 3600),
  getter('getMinutes', 'The minute; of a duration, all minutes in it.', (date) => date.getUTCMinutes(), 60),
  getter('getSeconds', 'The second; of a duration, all seconds in it.', (date) => date.getUTCSeconds(), 1),
  method(
    'getMilliseconds',
    overloadsOf(oneOf(timestamp, duration)),
    'The milliseconds beyond the whole seconds.',
    (time: Value, zone?: Value) => {
      if (time instanceof Duration && zone === undefined) return Math.trunc(time.nanos / 1e6)
      const date = localDate(time, 'getMilliseconds', zone)
      return date instanceof Date && time instanceof Timestamp ? Math.floor(time.nanos / 1e6) : wrong(date)
    },
  ),
]

/** Overloads of a getter; only timestamps take a time zone. */
function overloadsOf(time: Type): Overload[] {
  return [overload([time], int), overload([timestamp, string], int)]
}

/** Defines `getX()` in UTC and `getX(zone)`; with `secondsPerUnit` it also measures durations. */
function getter(name: string, summary: string, read: (date: Date) => number, secondsPerUnit?: number) {
  const overloads = overloadsOf(secondsPerUnit === undefined ? timestamp : oneOf(timestamp, duration))
  return method(name, overloads, summary, (time: Value, zone?: Value): Result => {
    if (time instanceof Duration && zone === undefined && secondsPerUnit !== undefined) {
      return Math.trunc(time.seconds / secondsPerUnit)
    }
    const date = localDate(time, name, zone)
    return date instanceof Date ? read(date) : date
  })
}

function wrong(date: Date | CelError): CelError {
  return date instanceof CelError ? date : noSuchOverload('getMilliseconds')
}

function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MILLIS)
}

const OFFSET = /^([+-]?)(\d\d):(\d\d)$/

/** Returns a date whose UTC fields show the local time of the zone. */
function localDate(time: Value, name: string, zone: Value | undefined): Date | CelError {
  if (!(time instanceof Timestamp)) return noSuchOverload(`${typeName(time)}.${name}()`)
  const millis = time.seconds * 1000
  if (zone === undefined) return new Date(millis)
  if (typeof zone !== 'string') return noSuchOverload(`timestamp.${name}(${typeName(zone)})`)
  const offset = OFFSET.exec(zone)
  if (offset === null) return inNamedZone(millis, zone)
  const minutes = Number(offset[2]) * 60 + Number(offset[3])
  return new Date(millis + (offset[1] === '-' ? -minutes : minutes) * 60_000)
}

const formatsByZone = new Map<string, Intl.DateTimeFormat>()
const MAX_ZONES = 100

function inNamedZone(millis: number, zone: string): Date | CelError {
  let format = formatsByZone.get(zone)
  if (format === undefined) {
    try {
      format = new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        hourCycle: 'h23',
        era: 'short',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      })
    } catch {
      return new CelError('bad_value', `no such time zone: ${zone.slice(0, 64)}`)
    }
    if (formatsByZone.size === MAX_ZONES) formatsByZone.clear()
    formatsByZone.set(zone, format)
  }
  const fields = new Map(format.formatToParts(millis).map(({ type, value }) => [type, Number(value)]))
  const field = (type: Intl.DateTimeFormatPartTypes): number => fields.get(type) ?? 0
  const date = new Date(0)
  date.setUTCFullYear(field('year'), field('month') - 1, field('day'))
  date.setUTCHours(field('hour'), field('minute'), field('second'))
  return date
}
