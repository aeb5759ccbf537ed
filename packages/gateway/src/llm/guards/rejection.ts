import { type ChatError, kindOfStatus } from '@portico/chat'
import type { Rejection } from './guard.ts'

/** The configured response for rejected texts. */
export interface CustomResponseConfig {
  message: string
  statusCode: number
}

/** The rejection with the configured response. */
export function rejection(
  { message, statusCode }: CustomResponseConfig,
  why: { found: readonly string[]; reason: string },
): Rejection {
  return { kind: 'reject', status: statusCode, body: message, ...why }
}

/** The rejection for clients when a guard could not run. */
export function failedClosed(reason: string): Rejection {
  return { kind: 'reject', status: 503, body: 'prompt guard failed', found: [], reason, isFailure: true }
}

/** The rejection as an error inside a stream. */
export function errorOf({ status, body, isFailure }: Rejection): ChatError {
  if (isFailure === true) return { status, kind: 'api', message: body, code: 'guardrail_failed' }
  return { status, kind: kindOfStatus(status), message: body, code: 'guardrail_intervention' }
}

/** A vendor's names of findings for the trace: without duplicates, and without names that could be text of a prompt. */
export function readableKinds(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => /^[A-Za-z0-9_/.-]{1,64}$/.test(name)).slice(0, MAX_KINDS)
}

const MAX_KINDS = 16
