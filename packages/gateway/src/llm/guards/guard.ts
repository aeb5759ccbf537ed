import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { SpanParent } from '../../pipeline/spans/request-spans.ts'
import type { HeaderBlock } from '@portico/http'
import type { Passage } from './passage.ts'

export type GuardPhase = 'request' | 'response'

/** Checks the texts of a request or a response before they are forwarded. */
export interface Guard {
  /** The guard's key in the config, such as `regex`. */
  readonly name: string
  /** Whether texts pass when the guard cannot run; otherwise they are refused. */
  readonly failsOpen?: boolean
  /** Whether the guard only masks requests and never rejects one. */
  readonly masksOnly?: boolean
  check(texts: readonly string[], phase: GuardPhase, context: GuardContext): Verdict | Promise<Verdict>
  /** Creates a masker for streamed text. A guard without `createMasker` checks batches of the text. */
  createMasker?(about: TextInfo): TextMasker
}

/** The request and response whose texts are checked. */
export interface ExchangeContext {
  /** The headers that the client sent. */
  requestHeaders: HeaderBlock
  /** The headers that the provider sent; null before the response. */
  responseHeaders: HeaderBlock | null
  /** The parent of the spans of calls to guard services; without it, no spans are made. */
  span?: SpanParent | null | undefined
  /** The request, for the policies of backends that guards call. */
  rx?: RequestContext | undefined
}

export interface GuardContext extends ExchangeContext {
  /** One entry per text. */
  about: readonly TextInfo[]
}

export interface TextInfo {
  role: 'system' | 'user' | 'assistant' | 'tool'
  /** `json` for arguments of tool calls: the text must stay valid JSON after masking. */
  form: 'text' | 'json'
}

/** Verdicts name findings by kind (`Ssn`, `matches[0]`, `violence`), never by the text itself. */
export type Verdict = Pass | Mask | Rejection | Failure

interface Failure {
  kind: 'failed'
  reason: string
  /** The mask of the calls that did not fail, for a guard that fails open. */
  mask?: Mask
}

export interface Pass {
  kind: 'pass'
}

export interface Mask {
  kind: 'mask'
  /** The replacements, one per text. */
  texts: readonly string[]
  found: readonly string[]
}

export interface Rejection {
  kind: 'reject'
  status: number
  body: string
  found: readonly string[]
  reason: string
  /** Set when no guard rejected the text, but a guard could not run and fails closed. */
  isFailure?: true
}

export interface TextMasker {
  /** Returns the passages that can be released; null when a match is too long to wait for its end. */
  push(text: string): readonly Passage[] | null
  /** Returns the remaining passages at the end of the text. */
  end(): readonly Passage[]
  /** The kinds masked so far. */
  readonly found: ReadonlySet<string>
}

export const PASS: Pass = { kind: 'pass' }

/** The record of one guard in the trace. */
export interface GuardNote {
  /** The index in the list of guards. */
  index: number
  guard: string
  verdict: 'pass' | 'mask' | 'reject' | 'failed' | 'failedOpen'
  found?: readonly string[]
  reason?: string
}
