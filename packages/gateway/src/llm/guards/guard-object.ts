import { parseJsonObject } from '../../wire/json.ts'
import type { JsonObject } from '../middle.ts'
import { failedClosed } from './decide.ts'
import type { Rejection } from './guard.ts'
import { nowOrLater } from './now-or-later.ts'
import { textOf } from './passage.ts'
import type { Stage } from './stage.ts'

export type GuardedObject = { kind: 'object'; value: JsonObject } | Rejection

/** Takes an object through the guards as the JSON that it is. */
export function guardObject(value: JsonObject, pipe: Stage): GuardedObject | Promise<GuardedObject> {
  return nowOrLater(pipe.push(JSON.stringify(value)), (start) => {
    if ('kind' in start) return start
    return nowOrLater(pipe.end(), (end) => ('kind' in end ? end : readObject(textOf(start) + textOf(end))))
  })
}

export function readObject(text: string): GuardedObject {
  const value = parseJsonObject(text)
  return value === null ? failedClosed('masks broke the JSON of a part') : { kind: 'object', value }
}
