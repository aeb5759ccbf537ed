/** What a fake provider says, in no vendor's words: each format renders it, streamed or whole. */

export interface Answer {
  parts: AnswerPart[]
  finish: Finish
  /** The text that ended the answer, with `finish: 'stopSequence'`. */
  stopSequence?: string
  usage: AnswerUsage
  /** A stream breaks with this after its parts; a whole answer is this instead. */
  failure?: Failure
}

export type AnswerPart =
  | { type: 'text'; pieces: string[] }
  | { type: 'refusal'; pieces: string[] }
  | { type: 'reasoning'; pieces: string[] }
  | CallPart

export interface CallPart {
  type: 'call'
  /** What makes the id: each vendor puts its own prefix before it, or gives none. */
  id: string
  name: string
  /** JSON text, as a model writes it. */
  arguments: string
}

export type Finish = 'stop' | 'length' | 'toolCalls' | 'stopSequence' | 'filtered'

/** `input` is everything that was read, cached or not; `reasoning` is part of `output`. */
export interface AnswerUsage {
  input: number
  cacheRead: number
  cacheWrite: number
  output: number
  reasoning: number
}

export type FailureKind =
  | 'invalid'
  | 'authentication'
  | 'permission'
  | 'notFound'
  | 'tooLarge'
  | 'rateLimit'
  | 'server'
  | 'unavailable'
  | 'overloaded'

export interface Failure {
  kind: FailureKind
  message: string
  retryAfter?: number
}

/** A request that the vendor would refuse; `param` is the field as the vendor names it. */
export class Refused extends Error {
  readonly failure: Failure
  readonly param: string | null

  constructor(failure: Failure, param: string | null = null) {
    super(failure.message)
    this.failure = failure
    this.param = param
  }
}

export function invalid(message: string, param: string | null = null): Refused {
  return new Refused({ kind: 'invalid', message }, param)
}

export function textOf(part: { pieces: string[] }): string {
  return part.pieces.join('')
}

/** Arguments as models stream them: a few pieces, cut anywhere. */
export function argumentPieces(call: CallPart): string[] {
  const size = Math.max(1, Math.ceil(call.arguments.length / 3))
  const pieces: string[] = []
  for (let at = 0; at < call.arguments.length; at += size) pieces.push(call.arguments.slice(at, at + size))
  return pieces
}

/** The whole text of the answer that a client shows. */
export function answerText(answer: Answer): string {
  return answer.parts.map((part) => (part.type === 'text' ? textOf(part) : '')).join('')
}
