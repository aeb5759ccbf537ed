import { ask, type GuardTarget, reasonOf } from '../ask.ts'
import type { Guard, GuardContext, GuardPhase } from '../guard.ts'
import { headerSelector } from './forward-headers.ts'
import type { WebhookGuardConfig } from './schema.ts'
import { readAnswer, wireBody } from './wire.ts'

export function createWebhookGuard(config: WebhookGuardConfig, target: GuardTarget): Guard {
  const select = headerSelector(config.forwardHeaderMatches)
  return {
    name: 'webhook',
    failsOpen: config.failureMode === 'FailOpen',
    async check(texts, phase, context) {
      try {
        const body = wireBody(texts, phase, context.about)
        return readAnswer(await ask(target, PATHS[phase], { body, headers: headersFor(phase, context) }), phase)
      } catch (error) {
        return { kind: 'failed', reason: reasonOf(error) }
      }
    },
  }

  function headersFor(phase: GuardPhase, { requestHeaders, responseHeaders }: GuardContext): [string, string][] {
    if (phase === 'request') return select(requestHeaders)
    const trace = requestHeaders.get('traceparent')
    const selected = responseHeaders === null ? [] : select(responseHeaders)
    return trace === null ? selected : [...selected.filter(([name]) => name !== 'traceparent'), ['traceparent', trace]]
  }
}

const PATHS: Readonly<Record<GuardPhase, string>> = { request: '/request', response: '/response' }
