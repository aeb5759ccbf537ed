import type { ChatEvent, NativeTexts, UnexaminedKind, JsonObject, Reading, RequestVisitor } from '@portico/chat'
import { chainOf, type GuardChain, type Outcome, TextPipes } from './chain.ts'
import { nowOrLater } from '../../pipeline/call/follow.ts'
import { EventGuard } from './stream/event-guard.ts'
import { type GuardedAnswer, guardAnswer, guardBody, type GuardedBody } from './guard-answer.ts'
import type { ExchangeContext, Guard, GuardNote, Rejection, TextInfo } from './guard.ts'
import { RecordGuard } from './stream/record-guard.ts'
import { failedClosed } from './rejection.ts'
import type { HeaderBlock, Source } from '@portico/http'
import type { RequestContext } from '../../pipeline/context/request-context.ts'

/**
 * The guards of one `promptGuard` policy; null for a phase without guards. Backends guard texts only through these two
 * objects. A result is a promise only when a guard has to wait.
 */
export interface PromptGuards {
  readonly request: RequestGuards | null
  readonly response: ResponseGuards | null
  /** The shadow guards, which only report; null without any. */
  readonly shadow: TriedGuards | null
}

/** Shadow guards: they judge prompts and responses, report what they would do, and do nothing else. */
export interface TriedGuards {
  /** Judges the chat messages in a request body. */
  body(rx: RequestContext, body: RequestBody, context: ExchangeContext): void
  /** Judges the user's texts in a request that is not a chat. */
  texts(rx: RequestContext, texts: readonly string[], context: ExchangeContext): void
  /** Returns the body of the response, which is passed on unchanged; a copy of it is judged at its end. */
  answer(rx: RequestContext, answer: ArrivingAnswer, context: ExchangeContext): Source
}

/** The response of a provider, whose body is still arriving. */
export interface ArrivingAnswer {
  readonly body: Source
  /** The largest response, in bytes, that is judged. */
  readonly maxBytes: number
  /** Returns the events of the whole response; null when the response cannot be read. */
  readonly decode: (bytes: Buffer) => readonly ChatEvent[] | null
}

export class RequestGuards {
  readonly #chain: GuardChain
  readonly #allowUnexamined: readonly UnexaminedKind[]

  /** `allowUnexamined` lists the kinds of content that pass although no guard can examine them. */
  constructor(guards: readonly Guard[], allowUnexamined: readonly UnexaminedKind[] = []) {
    this.#chain = chainOf(guards, 'request')
    this.#allowUnexamined = allowUnexamined
  }

  /** Guards the body of a chat. */
  body(request: RequestBody, context: ExchangeContext): GuardedRequest | Promise<GuardedRequest> {
    return guardRequest({ chain: this.#chain, allowUnexamined: this.#allowUnexamined }, request, context)
  }

  /** Guards texts of the user that are no chat, such as the inputs of embeddings. */
  texts(texts: readonly string[], context: ExchangeContext): Outcome | Promise<Outcome> {
    const about = texts.map(() => ({ role: 'user', form: 'text' }) as const)
    return this.#chain.run(texts, { ...context, about })
  }
}

export class ResponseGuards {
  readonly #chain: GuardChain

  constructor(guards: readonly Guard[]) {
    this.#chain = chainOf(guards, 'response')
  }

  /** Guards a whole response in the middle format. */
  events(events: readonly ChatEvent[], context: ExchangeContext): GuardedAnswer | Promise<GuardedAnswer> {
    return guardAnswer(this.#chain, events, context)
  }

  /** Guards a whole response in its original format. */
  body(body: { json: string; texts: NativeTexts }, context: ExchangeContext): GuardedBody | Promise<GuardedBody> {
    return guardBody(this.#chain, body, context)
  }

  /** Guards a stream in the middle format. */
  eventStream(context: ExchangeContext): EventGuard {
    return new EventGuard(new TextPipes(this.#chain, context))
  }

  /** Guards a stream in its original format. */
  recordStream(texts: NativeTexts, context: ExchangeContext): RecordGuard {
    return new RecordGuard(this.#chain, context, texts)
  }
}

interface GuardedRequest {
  /** The same body object when nothing was masked. */
  outcome: { kind: 'body'; body: JsonObject } | Rejection
  notes: readonly GuardNote[]
  /** Parts of the request that no guard could examine. */
  unexamined: readonly UnexaminedPart[]
}

interface UnexaminedPart {
  kind: UnexaminedKind
  /** Path in the client's body. */
  path: string
}

/** A client's body, and the reading that finds the texts of its format. */
export interface RequestBody {
  body: JsonObject
  reading: Reading
}

/**
 * Guards every text of a request that a model would read. Parts that no guard can examine are refused unless
 * `allowUnexamined` lists their kind, or no guard can reject a request.
 */
function guardRequest(
  { chain, allowUnexamined }: { chain: GuardChain; allowUnexamined: readonly UnexaminedKind[] },
  { body, reading }: RequestBody,
  context: ExchangeContext,
): GuardedRequest | Promise<GuardedRequest> {
  const texts: string[] = []
  const about: TextInfo[] = []
  const unexamined: UnexaminedPart[] = []
  readBody(body, reading, {
    text(text, info) {
      texts.push(text)
      about.push(info)
      return text
    },
    unexamined: (kind, path) => unexamined.push({ kind, path }),
    broken() {},
  })
  const refused = unexamined.find(({ kind }) => !allowUnexamined.includes(kind) && canRefuse(chain, kind))
  if (refused !== undefined) return refuseUnexamined(chain, refused, unexamined)
  return nowOrLater(chain.run(texts, { ...context, about }), ({ verdict, notes }): GuardedRequest => {
    if (verdict.kind === 'reject') return { outcome: verdict, notes, unexamined }
    if (verdict.kind === 'pass') return { outcome: { kind: 'body', body }, notes, unexamined }
    return { outcome: masked(body, reading, verdict.texts), notes, unexamined }
  })
}

/** Writes the masked texts into the body. The order of texts depends on the body alone, so it is the same as before. */
function masked(body: JsonObject, reading: Reading, texts: readonly string[]): GuardedRequest['outcome'] {
  const replacements = texts.values()
  let broken: Rejection | null = null
  const after = readBody(body, reading, {
    text: () => replacements.next().value ?? '',
    unexamined() {},
    broken: (path) => (broken = failedClosed(`masking would make the JSON of ${path} invalid`)),
  })
  return broken ?? { kind: 'body', body: after }
}

function readBody(body: JsonObject, reading: Reading, visitor: RequestVisitor): JsonObject {
  return reading(body, { path: '', role: 'user', visitor }) as JsonObject
}

/** A block of an unknown type may contain anything: even masks may be in the wrong location, so any guard refuses it. */
function canRefuse({ guards }: GuardChain, kind: UnexaminedKind): boolean {
  return kind === 'Unknown' || guards.some(({ masksOnly }) => masksOnly !== true)
}

function refuseUnexamined(
  chain: GuardChain,
  { kind, path }: UnexaminedPart,
  all: readonly UnexaminedPart[],
): GuardedRequest {
  const index = Math.max(
    chain.guards.findIndex(({ masksOnly }) => masksOnly !== true),
    0,
  )
  const reason = `${path} cannot be examined (${kind})`
  const note = { index, guard: chain.guards[index]?.name ?? '', verdict: 'reject', found: [kind], reason } as const
  const body = `The request was rejected: prompt guards cannot examine ${path} (${kind}).`
  return { outcome: { kind: 'reject', status: 403, body, found: [kind], reason }, notes: [note], unexamined: all }
}

/** The headers and the span that the guards of a call get. */
export function guardContext(
  rx: RequestContext,
  requestHeaders: HeaderBlock,
  responseHeaders: HeaderBlock | null,
): ExchangeContext {
  return { requestHeaders, responseHeaders, span: rx.spans?.parentFor('guardrail') ?? null, rx }
}

/** Notes the verdicts of guards in the trace, and a rejection or failure for its explanation. */
export function noteVerdicts(
  rx: RequestContext,
  { phase, model }: { phase: 'request' | 'response'; model: string | null },
  notes: readonly GuardNote[],
): void {
  for (const note of notes) {
    if (note.verdict === 'reject' || note.verdict === 'failed') {
      rx.notes = { code: `guard_${note.verdict}`, phase, model, ...note }
    }
    rx.trace?.emit({ type: 'promptGuard', phase, ...note }, severityOf(note))
  }
}

function severityOf({ verdict }: GuardNote): 'info' | 'warn' | 'error' {
  return verdict === 'pass' ? 'info' : verdict === 'mask' ? 'warn' : 'error'
}

/** Notes in the trace that configured guards did not run. */
export function noteUnguarded({ trace }: RequestContext, guards: Pick<PromptGuards, 'request' | 'response'>): void {
  if (trace === null) return
  const reason = 'guards are not applied to requests of this type'
  for (const phase of ['request', 'response'] as const) {
    if (guards[phase] !== null) trace.emit({ type: 'promptGuard', phase, verdict: 'notRun', reason }, 'warn')
  }
}

/** Names in the trace the parts of a request that no guard could examine. */
export function noteUnexamined({ trace }: RequestContext, unexamined: readonly UnexaminedPart[]): void {
  if (trace === null || unexamined.length === 0) return
  const found = [...new Set(unexamined.map(({ kind }) => kind))]
  const paths = unexamined.slice(0, MAX_PATHS).map(({ path }) => path)
  const more = unexamined.length > MAX_PATHS ? ` and ${unexamined.length - MAX_PATHS} more` : ''
  const reason = `cannot be examined: ${paths.join(', ')}${more}`
  trace.emit({ type: 'promptGuard', phase: 'request', verdict: 'unexamined', found, reason }, 'warn')
}

const MAX_PATHS = 10
