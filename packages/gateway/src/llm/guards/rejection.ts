import { kindOfStatus } from '../chat-error.ts'
import type { ChatError } from '../middle.ts'
import type { Rejection } from './guard.ts'

/** The answer to those whose texts are refused, as the config has it. */
export interface CustomResponseConfig {
  message: string
  statusCode: number
}

/** What the config says to those whose texts are refused. */
export function rejection(
  { message, statusCode }: CustomResponseConfig,
  why: { found: readonly string[]; reason: string },
): Rejection {
  return { kind: 'reject', status: statusCode, body: message, ...why }
}

/** How a stream says it. */
export function errorOf({ status, body, isFailure }: Rejection): ChatError {
  if (isFailure === true) return { status, kind: 'api', message: body, code: 'guardrail_failed' }
  return { status, kind: kindOfStatus(status), message: body, code: 'guardrail_intervention' }
}

/** Names that a vendor gives to what it found, fit for the trace: each once, and nothing that could be a text. */
export function readableKinds(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => /^[A-Za-z0-9_/.-]{1,64}$/.test(name)).slice(0, MAX_KINDS)
}

const MAX_KINDS = 16
