import type { Field } from '../../core/yaml-field.ts'
import { type Convert, list, lost, mapping, scalar, type Scope } from '../values/convert.ts'
import { requestExpression } from '../values/expressions.ts'
import { secondsOf } from '../values/duration.ts'

const UNITS = [
  { unit: 'Hours', seconds: 3_600 },
  { unit: 'Minutes', seconds: 60 },
  { unit: 'Seconds', seconds: 1 },
]

/** Reads a list of rate limits, or rate limits by condition. */
export const localRateLimit: Convert = (field, scope) => {
  const cases = field.get('conditional')
  if (cases === null) {
    const limits = list(limitOf)(field, scope) as unknown[]
    return limits.length === 0 ? undefined : { local: limits }
  }
  return {
    conditional: list((each) => {
      const condition = each.get('condition')
      const limit = limitOf(each, scope)
      const when = condition === null ? {} : { condition: requestExpression(condition, scope) }
      return limit === undefined ? undefined : { ...when, policy: { local: [limit] } }
    })(cases, scope),
  }
}

/**
 * Reads a token bucket that gets `tokensPerFill` tokens in each `fillInterval`. An interval that Portico does not have
 * becomes a shorter interval with a smaller refill, so that the limit never admits more requests.
 */
function limitOf(field: Field, scope: Scope): object | undefined {
  if (!field.isMapping) return lost(field, 'expected a mapping')
  const read = mapping({ maxTokens: scalar, tokensPerFill: scalar, fillInterval: scalar, type: scalar })(field, scope)
  const { maxTokens, tokensPerFill, fillInterval, type = 'requests' } = read as Record<string, unknown>
  const seconds = secondsOf(fillInterval)
  if (typeof maxTokens !== 'number' || typeof tokensPerFill !== 'number' || seconds === null || seconds <= 0)
    return lost(field, 'expected numbers in maxTokens and tokensPerFill, and a duration in fillInterval')
  if (type !== 'requests' && type !== 'tokens') return lost(field, 'expected the type requests or tokens')
  const found = UNITS.map((each) => ({ ...each, rate: Math.floor((tokensPerFill * each.seconds) / seconds) })).find(
    (each) => each.seconds <= seconds && each.rate >= 1,
  )
  if (found === undefined || maxTokens < tokensPerFill)
    return lost(field, "Portico's limits have intervals of a second, a minute or an hour")
  const { unit, rate } = found
  if (found.seconds !== seconds)
    field
      .get('fillInterval')
      ?.changed(`the bucket gets ${rate} in each of the ${unit.toLowerCase()}, which never admits more requests`)
  return { [type]: rate, unit, ...(maxTokens > rate && { burst: maxTokens - rate }) }
}
