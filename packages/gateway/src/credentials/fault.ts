import { CredentialFault } from '../pipeline/cloud-credentials.ts'

/**
 * Returns a fault that contains only the kind of a library's error. The error's message may quote responses, commands
 * or files, and those may hold secrets.
 */
export function faultOf(what: string, error: unknown): CredentialFault {
  return new CredentialFault(`${what} (${kindOf(error)})`)
}

function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  for (const source of [error, error.cause]) {
    const code = source instanceof Error && 'code' in source ? source.code : undefined
    if (typeof code === 'string' && PLAIN.test(code)) return code
  }
  if ('status' in error && typeof error.status === 'number') return `status ${error.status}`
  return PLAIN.test(error.name) && error.name !== 'Error' ? error.name : 'unknown error'
}

const PLAIN = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/
