import type { SpanPlace } from '../../pipeline/spans/request-spans.ts'
import type { HeaderBlock } from '../../net/header-block.ts'
import type { Passage } from './passage.ts'

export type GuardPhase = 'request' | 'response'

/** Looks at the texts of a request, or of a response, before they go on. */
export interface Guard {
  /** Its key in the config, such as `regex`. */
  readonly name: string
  /** Whether texts go on when it cannot run; else they are refused. */
  readonly failsOpen?: boolean
  /** Whether it masks requests and never refuses one. */
  readonly masksOnly?: boolean
  check(texts: readonly string[], phase: GuardPhase, context: GuardContext): Verdict | Promise<Verdict>
  /** Masks a text that is still coming. A guard without it is asked about batches of the text. */
  createMasker?(about: TextInfo): TextMasker
}

export interface GuardContext {
  /** One for each text. */
  about: readonly TextInfo[]
  /** As the client sent them. */
  requestHeaders: HeaderBlock
  /** As the provider sent them; null as long as it has not answered. */
  responseHeaders: HeaderBlock | null
  /** Where the spans of questions to others hang; left out, they have none. */
  span?: SpanPlace | null | undefined
}

export interface TextInfo {
  role: 'system' | 'user' | 'assistant' | 'tool'
  /** JSON is what tools are called with: a mask must leave it JSON. */
  form: 'text' | 'json'
}

/** What was found is named by its kind (`Ssn`, `matches[0]`, `violence`), never by the text itself. */
export type Verdict = Pass | Mask | Rejection | { kind: 'failed'; reason: string }

export interface Pass {
  kind: 'pass'
}

export interface Mask {
  kind: 'mask'
  /** In place of the texts, one for one. */
  texts: readonly string[]
  found: readonly string[]
}

export interface Rejection {
  kind: 'reject'
  status: number
  body: string
  found: readonly string[]
  reason: string
  /** No guard has refused the text: one could not run, and fails closed. */
  isFailure?: true
}

export interface TextMasker {
  /** What can go on; null when a match is too long to be waited for. */
  push(text: string): readonly Passage[] | null
  /** The rest, once the text is over. */
  end(): readonly Passage[] | null
  /** Kinds that were masked so far. */
  readonly found: ReadonlySet<string>
}

export const PASS: Pass = { kind: 'pass' }

/** For the trace. */
export interface GuardNote {
  /** Place in the list of guards. */
  index: number
  guard: string
  verdict: 'pass' | 'mask' | 'reject' | 'failed' | 'failedOpen'
  found?: readonly string[]
  reason?: string
}
