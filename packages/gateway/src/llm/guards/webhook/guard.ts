import { ask, type GuardTarget, reasonOf } from '../ask.ts'
import { type Guard, type GuardContext, type GuardPhase, PASS, type TextInfo, type Verdict } from '../guard.ts'
import type { WebhookGuardConfig } from './schema.ts'
import { isObject, objectAt, objectsAt, textAt } from '@portico/http/json'
import type { Json, JsonObject } from '@portico/chat'
import { compileRegex } from '@portico/regex'
import type { HeaderBlock } from '@portico/http'

export function createWebhookGuard(config: WebhookGuardConfig, target: GuardTarget): Guard {
  const select = headerSelector(config.forwardHeaderMatches)
  return {
    name: 'webhook',
    failsOpen: config.failureMode === 'FailOpen',
    async check(texts, phase, context) {
      try {
        const body = wireBody(texts, phase, context.about)
        return readAnswer(
          await ask(target, PATHS[phase], { body, headers: headersFor(phase, context), context }),
          phase,
        )
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

/** The texts as the webhook gets them. */
function wireBody(texts: readonly string[], phase: GuardPhase, about: readonly TextInfo[]): JsonObject {
  const messages = texts.map((content, index): JsonObject => ({ role: about[index]?.role ?? 'user', content }))
  if (phase === 'request') return { body: { messages } }
  return { body: { choices: messages.map((message): JsonObject => ({ message })) } }
}

/** Reads a verdict, whose shape identifies its kind. `reason` may repeat the texts, so it is not stored. */
function readAnswer(answer: JsonObject, phase: GuardPhase): Verdict {
  const { action } = answer
  if (!isObject(action)) return UNREADABLE
  const { body } = action
  if (isObject(body)) return readMask(body, phase)
  if (typeof body === 'string') return readRejection(body, action['status_code'])
  return body === undefined || body === null ? PASS : UNREADABLE
}

function readMask(body: JsonObject, phase: GuardPhase): Verdict {
  const messages =
    phase === 'request'
      ? objectsAt(body, 'messages')
      : objectsAt(body, 'choices').map((choice) => objectAt(choice, 'message'))
  const texts = messages.map((message) => textAt(message, 'content'))
  return texts.every((text) => text !== undefined) ? { kind: 'mask', texts, found: [] } : UNREADABLE
}

function readRejection(body: string, status: Json | undefined): Verdict {
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 599) return UNREADABLE
  return { kind: 'reject', status, body, found: [], reason: 'the webhook rejected it' }
}

const UNREADABLE: Verdict = { kind: 'failed', reason: 'the webhook sent an invalid response' }

type HeaderMatch = WebhookGuardConfig['forwardHeaderMatches'][number]

/** Selects the headers that the config names; no other header is sent, so that credentials do not leak. */
function headerSelector(matches: readonly HeaderMatch[]): (headers: HeaderBlock) => [string, string][] {
  const selected = matches
    .filter(({ name }) => !OUR_OWN.has(name))
    .map(({ name, value }) => ({ name, fits: valueTest(value) }))
  return (headers) => {
    const lines: [string, string][] = []
    for (const { name, fits } of selected) {
      for (let index = 0, line = headers.nth(name, 0); line !== null; line = headers.nth(name, ++index)) {
        if (fits(line)) lines.push([name, line])
      }
    }
    return lines
  }
}

/** Headers that describe the gateway's own request to the webhook. */
const OUR_OWN: ReadonlySet<string> = new Set(['accept', 'content-encoding', 'content-type', 'expect', 'host'])

function valueTest(value: HeaderMatch['value']): (line: string) => boolean {
  if (value.regex === undefined) return (line) => line === value.exact
  const regex = compileRegex(value.regex)
  // Validation rejects an invalid pattern before a guard is created.
  if (!regex.ok) throw new Error(regex.message)
  return regex.fullMatch
}
