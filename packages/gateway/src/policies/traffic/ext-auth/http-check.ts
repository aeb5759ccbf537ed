import { emptySource, sourceOf } from '../../../net/body.ts'
import { HeaderBlock } from '../../../net/header-block.ts'
import { ConfigFault } from '../../../pipeline/config-fault.ts'
import { fetchWhole, type WholeAnswer } from '../../../pipeline/fetch-text.ts'
import type { AnsweredRequest, JsonObject, RequestContext } from '../../../pipeline/request-context.ts'
import type { Env } from '../../../pipeline/step.ts'
import { headerLines } from '../../../pipeline/views/header-lines.ts'
import { isCelError, toJson } from '@portico/cel'
import { DENIED, type Decision, headerEdit, isEditable } from './decision.ts'
import type { Ask } from './grpc-check.ts'
import type { ExtAuthConfig } from './schema.ts'

type HttpConfig = NonNullable<ExtAuthConfig['http']>

/** Asks by HTTP: the same method, with as much of the request as the config says. */
export function httpAsker(config: ExtAuthConfig, http: HttpConfig, env: Env, timeoutMs: number): Ask {
  const key = config.backendRef.name ?? config.backendRef.host
  const client = env.client(key)
  const authority = env.describe(key).address
  const path = http.path === undefined ? null : env.cel(http.path, 'request')
  const redirect = http.redirect === undefined ? null : env.cel(http.redirect, 'request')
  const passed = http.allowedRequestHeaders ?? ['authorization']
  const added = Object.entries(http.addRequestHeaders ?? {}).map(([name, source]) => {
    if (!isEditable(name.toLowerCase())) {
      const found = `found ${JSON.stringify(name)}`
      throw new ConfigFault(config, ['http', 'addRequestHeaders', name], {
        found,
        expected: 'a header that can be set',
      })
    }
    return { name: name.toLowerCase(), value: env.cel(source, 'request') }
  })
  const metadata = Object.entries(http.responseMetadata ?? {}).map(
    ([name, source]) => [name, env.cel(source, 'responseHead')] as const,
  )
  const limits = { deadlines: env.deadlines, maxBytes: MAX_ANSWER, timeoutMs }

  function headersOf(rx: RequestContext): HeaderBlock {
    const headers = new HeaderBlock()
    rx.headers.forEach((name, value) => {
      const lowerName = name.toLowerCase()
      if (passed.includes(lowerName) && isEditable(lowerName)) headers.add(lowerName, value)
    })
    for (const { name, value } of added) {
      headers.remove(name)
      for (const line of headerLines(value.evaluate(rx)) ?? []) headers.add(name, line)
    }
    return headers
  }

  function decide(answer: WholeAnswer, rx: RequestContext): Decision {
    const { status, headers } = answer
    if (status >= 500) return { kind: 'unasked', cause: `the authorizer answered with status ${status}` }
    if (status < 200 || status > 299) return denied(answer, rx)
    const edits = (http.allowedResponseHeaders ?? []).flatMap((name) => {
      const value = headers.joined(name)
      const edit = value === null ? null : headerEdit(name, value, 'set')
      return edit === null ? [] : [edit]
    })
    const values = metadata.flatMap(([name, value]) => {
      const result = value.evaluate(answeredWith(rx, answer))
      return isCelError(result) ? [] : [[name, toJson(result)] as const]
    })
    const found: JsonObject = Object.fromEntries(values)
    return { kind: 'allowed', removed: [], headers: edits, target: null, responseHeaders: [], metadata: found }
  }

  function denied({ status, headers, body }: WholeAnswer, rx: RequestContext): Decision {
    if (redirect === null || (status !== 401 && status !== 403)) {
      headers.removeWhere((name) => !isEditable(name))
      return { kind: 'denied', status, headers, body }
    }
    const place = redirect.evaluate(rx)
    const edit = typeof place === 'string' && place !== '' ? headerEdit('location', place, 'set') : null
    if (edit === null) return DENIED
    return { kind: 'denied', status: 302, headers: HeaderBlock.of([['location', edit.value]]), body: Buffer.alloc(0) }
  }

  return async (rx, body, context) => {
    const target = path === null ? rx.upstreamTarget : path.evaluate(rx)
    // No failure of the authorizer, which a failure mode could overlook.
    if (typeof target !== 'string' || !/^\/[\x21\x22\x24-\x7e]*$/.test(target)) return DENIED
    const headers = headersOf(rx)
    if (body !== null) headers.set('x-envoy-auth-partial-body', String(body.isPartial))
    const content = body === null || body.bytes.length === 0 ? emptySource : sourceOf(body.bytes)
    const request = { method: rx.method, target, authority, headers, body: content, upgrade: '', teTrailers: false }
    try {
      return decide(await fetchWhole(client, request, { context, ...limits }), rx)
    } catch (error) {
      return { kind: 'unasked', cause: error instanceof Error ? error.message : String(error) }
    }
  }
}

/** The request as expressions see it when this is its response. */
function answeredWith(rx: RequestContext, { status, headers }: WholeAnswer): RequestContext {
  const own: Partial<AnsweredRequest> = { scope: null, status, responseHeaders: headers, responseBody: emptySource }
  return Object.assign(Object.create(rx) as RequestContext, own)
}

const MAX_ANSWER = 1024 * 1024
