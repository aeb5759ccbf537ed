import { emptySource, fieldText, HeaderBlock, sourceOf } from '@portico/http'
import { ConfigFault } from '../compiled/config-fault.ts'
import { CalloutFault, type CalloutOptions, type Callouts } from '../callouts/callouts.ts'
import type { WholeAnswer } from '../callouts/fetch-text.ts'
import type { AnsweredRequest, JsonObject, RequestContext } from '../context/request-context.ts'
import type { Expression } from '../expression/expression.ts'
import { headerLines } from '../views/header-lines.ts'
import { isCelError, toJson } from '@portico/cel'
import { allEdits, headerEdit, InvalidHeader, isEditable } from '../policy/header-edit.ts'
import type { Ask, Asking } from './asking.ts'
import { DENIED, type Decision, sayPlain } from './decision.ts'
import { type ForwardedBody, PARTIAL_HEADER, partialMark } from './forwarded-body.ts'
import type { ExtAuthConfig } from '../../schema/fields/auth/ext-auth.ts'

type HttpConfig = NonNullable<ExtAuthConfig['http']>

/** Returns the HTTP check: a request of the same method, with the parts of the client's request that the config names. */
export function httpAsker(config: ExtAuthConfig, http: HttpConfig, asking: Asking): Ask {
  const asker = new HttpAsker(config, http, asking)
  return (rx, body) => asker.ask(rx, body)
}

class HttpAsker {
  readonly #callouts: Callouts
  readonly #options: CalloutOptions<WholeAnswer>
  readonly #path: Expression | null
  readonly #redirect: Expression | null
  readonly #passedHeaders: ReadonlySet<string>
  readonly #addedHeaders: readonly (readonly [string, Expression])[]
  readonly #takenHeaders: readonly string[]
  readonly #metadata: readonly (readonly [string, Expression])[]

  constructor(config: ExtAuthConfig, http: HttpConfig, { env, phase, callouts, timeoutMs }: Asking) {
    this.#callouts = callouts
    this.#options = { timeoutMs, problemOf }
    this.#path = http.path === undefined ? null : env.cel(http.path, phase)
    this.#redirect = http.redirect === undefined ? null : env.cel(http.redirect, phase)
    this.#passedHeaders = new Set((http.allowedRequestHeaders ?? ['authorization']).filter(isEditable))
    this.#addedHeaders = Object.entries(http.addRequestHeaders ?? {}).map(([name, source]) => {
      const lowerName = name.toLowerCase()
      if (isEditable(lowerName)) return [lowerName, env.cel(source, phase)]
      const fault = { found: `found ${JSON.stringify(name)}`, expected: 'a header that can be set' }
      throw new ConfigFault(config, ['http', 'addRequestHeaders', name], fault)
    })
    this.#takenHeaders = (http.allowedResponseHeaders ?? []).map((name) => name.toLowerCase())
    const metadata = Object.entries(http.responseMetadata ?? {})
    this.#metadata = metadata.map(([name, source]) => [name, env.cel(source, 'responseHead')])
  }

  async ask(rx: RequestContext, body: ForwardedBody | null): Promise<Decision> {
    const target = this.#path === null ? rx.upstreamTarget : this.#path.evaluate(rx)
    // Always denied: the failure mode is only for failures of the authorizer.
    if (typeof target !== 'string' || !/^\/[\x21\x22\x24-\x7e]*$/.test(target)) return DENIED
    const headers = this.#headersOf(rx)
    const mark = partialMark(body)
    headers.removeAlike(PARTIAL_HEADER)
    if (mark !== null) headers.add(PARTIAL_HEADER, mark)
    const content = body === null || body.bytes.length === 0 ? emptySource : sourceOf(body.bytes)
    const { authority } = this.#callouts
    const request = { method: rx.method, target, authority, headers, body: content, upgrade: '', teTrailers: false }
    const answer = await this.#callouts.fetch(rx, request, this.#options)
    return answer instanceof CalloutFault ? answer : this.#decide(answer, rx)
  }

  #headersOf(rx: RequestContext): HeaderBlock {
    const headers = new HeaderBlock()
    rx.headers.forEach((name, value) => {
      const lowerName = name.toLowerCase()
      if (this.#passedHeaders.has(lowerName)) headers.add(lowerName, value)
    })
    for (const [name, value] of this.#addedHeaders) {
      headers.remove(name)
      for (const line of headerLines(value.evaluate(rx)) ?? []) headers.add(name, line)
    }
    return headers
  }

  #decide(answer: WholeAnswer, rx: RequestContext): Decision {
    const { status, headers } = answer
    if (status < 200 || status > 299) return this.#denied(answer, rx)
    const edits = allEdits(
      this.#takenHeaders.flatMap((name) => {
        // Cookies cannot be joined into one line, so each line stays separate.
        return linesOf(headers, name).map((value, index) => headerEdit(name, value, index === 0 ? 'set' : 'append'))
      }),
    )
    if (edits instanceof InvalidHeader) return edits
    const answered = answeredWith(rx, answer)
    const values = this.#metadata.flatMap(([name, value]) => {
      const result = value.evaluate(answered)
      return isCelError(result) ? [] : [[name, toJson(result)] as const]
    })
    const metadata: JsonObject = Object.fromEntries(values)
    return {
      kind: 'allowed',
      // Headers that only the authorizer may set are removed from the client's request, even if it does not set them.
      cleared: this.#takenHeaders,
      headers: edits,
      removed: namesToRemove(headers),
      query: NO_EDIT,
      responseHeaders: [],
      metadata,
    }
  }

  #denied({ status, headers, body }: WholeAnswer, rx: RequestContext): Decision {
    if (this.#redirect === null || (status !== 401 && status !== 403)) {
      headers.removeWhere((name) => !isEditable(name))
      sayPlain(headers, body)
      return { kind: 'denied', status, headers, body }
    }
    const place = this.#redirect.evaluate(rx)
    const edit = typeof place === 'string' && place !== '' ? headerEdit('location', fieldText(place), 'set') : null
    if (edit === null || edit instanceof InvalidHeader) return DENIED
    return { kind: 'denied', status: 302, headers: HeaderBlock.of([['location', edit.value]]), body: Buffer.alloc(0) }
  }
}

function problemOf({ status }: WholeAnswer): string | null {
  return status >= 500 ? `the authorizer answered with status ${status}` : null
}

/** Headers that the backend must not get, as HTTP authorizers written for Envoy name them. */
function namesToRemove(headers: HeaderBlock): string[] {
  const list = headers.joined('x-envoy-auth-headers-to-remove')
  if (list === null) return []
  return list.split(',').flatMap((each) => {
    const name = each.trim().toLowerCase()
    return isEditable(name) ? [name] : []
  })
}

function linesOf(headers: HeaderBlock, name: string): string[] {
  const lines: string[] = []
  for (let line = headers.get(name); line !== null; line = headers.nth(name, lines.length)) lines.push(line)
  return lines
}

/** Returns the request with the authorizer's response as its response, for expressions. */
function answeredWith(rx: RequestContext, { status, headers }: WholeAnswer): RequestContext {
  const own: Partial<AnsweredRequest> = { scope: null, status, responseHeaders: headers, responseBody: emptySource }
  return Object.assign(Object.create(rx) as RequestContext, own)
}

const NO_EDIT = { set: [], removed: [] }
