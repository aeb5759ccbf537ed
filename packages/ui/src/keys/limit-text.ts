import type { KeyLimitView } from '@portico/gateway/admin-api'
import { formatCount } from '../format/numbers.ts'

/** `60 requests per minute`, `4 calls at once` */
export function limitText({ requests, tokens, calls, unit = 'Minutes' }: KeyLimitView): string {
  if (calls !== undefined) return `${formatCount(calls)} calls at once`
  const window = unit.slice(0, -1).toLowerCase()
  return requests === undefined
    ? `${formatCount(tokens ?? 0)} tokens per ${window}`
    : `${formatCount(requests)} requests per ${window}`
}
