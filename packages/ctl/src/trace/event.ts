import { isObject } from '@portico/http/json'

export type Fields = Readonly<Record<string, unknown>>

/** A trace event, and the fields that this program reads. */
export interface TraceEvent {
  /** The JSON text as received. */
  readonly json: string
  /** The parsed event. */
  readonly value: Fields
  readonly type: string
  readonly severity: string
  readonly scope: readonly string[]
  readonly message: Fields
}

export const LAST_TYPE = 'requestFinished'

/** Parses an event; null when the text is none. Unknown types and fields are accepted. */
export function parseEvent(json: string): TraceEvent | null {
  const value = parseJson(json)
  if (!isObject(value) || !isObject(value['message'])) return null
  const { message, severity, scope } = value
  const type = message['type']
  if (typeof type !== 'string') return null
  return {
    json,
    value,
    type,
    severity: typeof severity === 'string' ? severity : 'info',
    scope: Array.isArray(scope) ? scope.filter((part) => typeof part === 'string') : [],
    message,
  }
}

/** The state in a snapshot; null for every other event. */
export function stateOf(event: TraceEvent): Fields | null {
  const state = event.message['requestState']
  return isSnapshot(event) && isObject(state) ? state : null
}

function isSnapshot({ type }: TraceEvent): boolean {
  return type === 'requestSnapshot' || type === 'responseSnapshot'
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
