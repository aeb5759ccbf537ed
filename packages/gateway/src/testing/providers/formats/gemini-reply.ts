import { type Answer, type AnswerPart, type Failure, joinPieces } from '../answer.ts'
import type { ParsedRequest } from '../parsed-request.ts'
import { type FakeReply, json, retryHeaders, sse } from '../reply.ts'
import { dataFrame } from '../sse.ts'
import { sign } from '../signatures.ts'
import { wantsSignatures } from './gemini-request.ts'

/** A part as it is on the wire; the SDK's class has it with all of its own. */
interface WirePart {
  text?: string
  thought?: true
  thoughtSignature?: string
  functionCall?: { name: string; args: unknown }
}

export function geminiReply(answer: Answer, asked: ParsedRequest): FakeReply {
  const parts = answer.parts.map((part, at) => signed(wholePart(part), part, at, { answer, asked }))
  return json(chunkOf(answer, asked, { parts, isLast: true }))
}

export function geminiStream(answer: Answer, asked: ParsedRequest): FakeReply {
  const chunks: WirePart[][] = []
  for (const [at, part] of answer.parts.entries()) {
    const pieces =
      part.type === 'call' ? [wholePart(part)] : part.pieces.map((text) => wholePart({ ...part, pieces: [text] }))
    chunks.push(...pieces.map((piece, index) => [index === 0 ? signed(piece, part, at, { answer, asked }) : piece]))
  }
  if (!asked.reasoning?.isShown) {
    const hidden = chunks.findIndex((parts) => parts.some((part) => part.thought !== true))
    chunks.splice(0, Math.max(0, hidden))
  }
  const isBroken = answer.failure !== undefined
  const frames = chunks.map((parts, at) =>
    dataFrame(chunkOf(answer, asked, { parts, isLast: !isBroken && at === chunks.length - 1 })),
  )
  if (answer.failure !== undefined) frames.push(dataFrame(googleError(answer.failure).body))
  return sse(frames)
}

function googleError(failure: Failure): { status: number; body: object } {
  const [code, status] = ERRORS[failure.kind]
  const details =
    failure.retryAfter === undefined
      ? []
      : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${failure.retryAfter}s` }]
  return {
    status: code,
    body: { error: { code, message: failure.message, status, ...(details.length > 0 && { details }) } },
  }
}

export function googleFailure(failure: Failure): FakeReply {
  const { status, body } = googleError(failure)
  return json(body, retryHeaders(failure), status)
}

function chunkOf(
  answer: Answer,
  asked: ParsedRequest,
  { parts, isLast }: { parts: WirePart[]; isLast: boolean },
): object {
  const shown = asked.reasoning?.isShown ? parts : parts.filter((part) => part.thought !== true)
  const { usage } = answer
  return {
    candidates: Array.from({ length: asked.choices ?? 1 }, (_, index) => ({
      content: { parts: shown, role: 'model' },
      index,
      ...(isLast && { finishReason: FINISH_REASONS[hasRefusal(answer) ? 'filtered' : answer.finish] }),
    })),
    // It is in every chunk, and grows.
    usageMetadata: {
      promptTokenCount: usage.input,
      ...(isLast && { candidatesTokenCount: usage.output - usage.reasoning }),
      totalTokenCount: isLast ? usage.input + usage.output : usage.input,
      ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
      ...(isLast && usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: usage.input }],
    },
    modelVersion: asked.model,
    responseId: 'fake1',
  }
}

function wholePart(part: AnswerPart): WirePart {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { text: joinPieces(part) }
    case 'reasoning':
      return { text: joinPieces(part), thought: true }
    case 'call':
      return { functionCall: { name: part.name, args: JSON.parse(part.arguments) } }
  }
}

/** Adds the thought signature to the part after a thought; among several calls, only to the first. */
function signed(
  wire: WirePart,
  part: AnswerPart,
  at: number,
  { answer, asked }: { answer: Answer; asked: ParsedRequest },
): WirePart {
  const isFirstCall = part.type === 'call' && answer.parts.findIndex(({ type }) => type === 'call') === at
  const isAfterThinking = answer.parts[at - 1]?.type === 'reasoning'
  const isSigned = isAfterThinking || (isFirstCall && wantsSignatures(asked.model))
  return isSigned ? { ...wire, thoughtSignature: sign('google', 'thought') } : wire
}

function hasRefusal(answer: Answer): boolean {
  return answer.parts.some((part) => part.type === 'refusal')
}

const FINISH_REASONS = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  toolCalls: 'STOP',
  stopSequence: 'STOP',
  filtered: 'SAFETY',
}

const ERRORS: Record<Failure['kind'], [number, string]> = {
  invalid: [400, 'INVALID_ARGUMENT'],
  authentication: [401, 'UNAUTHENTICATED'],
  permission: [403, 'PERMISSION_DENIED'],
  notFound: [404, 'NOT_FOUND'],
  tooLarge: [413, 'INVALID_ARGUMENT'],
  rateLimit: [429, 'RESOURCE_EXHAUSTED'],
  server: [500, 'INTERNAL'],
  unavailable: [503, 'UNAVAILABLE'],
  overloaded: [503, 'UNAVAILABLE'],
}
