import { isObject } from '@portico/http/json'
import { parseSafely } from '@portico/cel'
import { parseBackendUrl, urlKey } from '../../formats/address.ts'
import { HeaderBlock } from '@portico/http'
import { bufferRequest } from '../../pipeline/body/buffered-body.ts'
import { fetchText } from '../../pipeline/callouts/fetch-text.ts'
import { Reply } from '../../pipeline/context/reply.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { Env } from '../../pipeline/context/step.ts'
import { jsonAnswer, problemAnswer } from './answers.ts'

/** Creates a step that forwards a client registration (RFC 7591) to Keycloak: only its body, not its headers. */
export function createRegistration(issuer: string, env: Env): (rx: RequestContext) => Promise<Reply> {
  const url = parseBackendUrl(issuer)
  if (url === null) throw new Error(`the issuer ${issuer} is not a valid backend URL`)
  const { authority } = url
  const client = env.client(urlKey(url))
  const folder = url.path.endsWith('/') ? url.path : `${url.path}/`
  const target = `${folder}clients-registrations/openid-connect`
  const readBody = bufferRequest('whole', MAX_BYTES)
  let underWay = 0

  async function forward(rx: RequestContext, body: Buffer): Promise<Reply> {
    const post = { headers: HeaderBlock.of(REQUEST_HEADERS), body, refusals: true }
    try {
      const span = rx.spans === null ? null : rx.spans.parentFor('oauth')
      const options = { authority, target, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, post, span }
      const { status, text } = await fetchText(client, options)
      const answer = parseObject(text)
      return answer === null
        ? problemAnswer(rx, 502, 'the authorization server sent an invalid response', METHODS)
        : jsonAnswer(status, answer, METHODS)
    } catch (error) {
      env.log.warn('client registration failed', {
        issuer,
        error: error instanceof Error ? error.message : String(error),
      })
      return problemAnswer(rx, 502, 'the authorization server is unavailable', METHODS)
    }
  }

  return async (rx) => {
    const refusal = await readBody(rx)
    if (refusal instanceof Reply) return refusal
    const body = rx.bufferedBody?.whole ?? null
    if (body === null || parseObject(body.toString('utf8')) === null) {
      return problemAnswer(rx, 400, 'the body must be a JSON object', METHODS)
    }
    if (underWay >= MAX_UNDER_WAY) return problemAnswer(rx, 503, 'too many concurrent client registrations', METHODS)
    underWay++
    try {
      return await forward(rx, body)
    } finally {
      underWay--
    }
  }
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = parseSafely(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

const METHODS = ['POST']
const REQUEST_HEADERS = [
  ['content-type', 'application/json'],
  ['accept', 'application/json'],
] as const
const MAX_BYTES = 64 * 1024
const TIMEOUT_MS = 10_000
/** The most concurrent registrations of one policy in one worker. */
const MAX_UNDER_WAY = 32
