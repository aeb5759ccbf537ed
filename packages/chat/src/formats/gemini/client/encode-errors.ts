import type { ChatError, JsonObject } from '../../../middle.ts'

export function encodeError(error: ChatError): { status: number; body: JsonObject } {
  return { status: error.status, body: errorBody(error) }
}

/** Google's form of an error. Codes of other vendors and of the gateway, and names of fields, stand in `details`. */
export function errorBody({ status, kind, message, code, param }: ChatError): JsonObject {
  const isOwn = code !== undefined && OWN_STATUSES.has(code)
  const details: JsonObject[] = []
  if (code !== undefined && !isOwn) details.push({ '@type': `${TYPES}ErrorInfo`, reason: code, domain: 'portico' })
  if (param !== undefined) {
    details.push({ '@type': `${TYPES}BadRequest`, fieldViolations: [{ field: param, description: message }] })
  }
  return {
    error: { code: status, message, status: isOwn ? code : STATUSES[kind], ...(details.length > 0 && { details }) },
  }
}

const TYPES = 'type.googleapis.com/google.rpc.'

const STATUSES: Readonly<Record<ChatError['kind'], string>> = {
  invalid: 'INVALID_ARGUMENT',
  authentication: 'UNAUTHENTICATED',
  permission: 'PERMISSION_DENIED',
  notFound: 'NOT_FOUND',
  tooLarge: 'INVALID_ARGUMENT',
  rateLimit: 'RESOURCE_EXHAUSTED',
  overloaded: 'UNAVAILABLE',
  timeout: 'DEADLINE_EXCEEDED',
  api: 'INTERNAL',
}

/** Every status of Google's APIs that is an error. */
const OWN_STATUSES: ReadonlySet<string> = new Set([
  ...['CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['PERMISSION_DENIED', 'UNAUTHENTICATED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE'],
  ...['UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS'],
])
