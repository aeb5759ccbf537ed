import { Double, isCelError, type Result, Uint } from '@portico/cel'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { Env } from '../../../pipeline/context/step.ts'

export type Sample = (rx: RequestContext) => boolean

/** Whether a request is sampled; what is written as a number or a truth value needs no look at the request. */
export function createSampling(source: string | undefined, unset: boolean, env: Pick<Env, 'cel' | 'random'>): Sample {
  if (source === undefined) return () => unset
  const { random } = env
  const fixed = source === 'true' ? 1 : source === 'false' ? 0 : Number(source)
  if (!Number.isNaN(fixed)) return fixed >= 1 ? () => true : fixed <= 0 ? () => false : () => random() < fixed
  const expression = env.cel(source, 'start')
  return (rx) => random() < shareOf(expression.evaluate(rx))
}

/** The share of requests to sample; 0 when the expression fails or its result is neither a boolean nor a number. */
function shareOf(result: Result): number {
  if (isCelError(result)) return 0
  if (typeof result === 'boolean') return result ? 1 : 0
  if (typeof result === 'number' || typeof result === 'bigint') return Number(result)
  // Whole numbers that an expression writes as `1.0` or `1u`.
  if (result instanceof Double || result instanceof Uint) return Number(result.value)
  return 0
}
