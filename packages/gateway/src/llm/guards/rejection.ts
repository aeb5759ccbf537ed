import type { Rejection } from './guard.ts'
import type { CustomResponseConfig } from './schema.ts'

/** What the config says to those whose texts are refused. */
export function rejection(
  { message, statusCode }: CustomResponseConfig,
  why: { found: readonly string[]; reason: string },
): Rejection {
  return { kind: 'reject', status: statusCode, body: message, ...why }
}
